//! Access control of the HTTP server.

use axum::body::Body;
use http::Request;
use serde_json::json;
use toolwright_http::{AccessRules, HttpService};

use super::http_bed::{HttpBed, TOKEN};

fn header(name: &'static str, value: impl Into<String>) -> (&'static str, String) {
    (name, value.into())
}

#[tokio::test]
async fn a_request_must_address_a_name_of_this_machine() {
    let bed = HttpBed::new().await;
    let port = bed.address().port();
    let token = header("authorization", format!("Bearer {TOKEN}"));
    for host in ["127.0.0.1", "localhost", "LocalHost", "[::1]"] {
        let headers = [header("host", format!("{host}:{port}")), token.clone()];
        assert_eq!(bed.ask("GET", "/api/tools", &headers, "").await.status, 200, "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "0.0.0.0",
        "[::]",
        "127.0.0.2",
        "localhost.",
        "user@localhost",
        "localhost@evil.example",
        "2130706433",
        "%6cocalhost",
        "",
    ] {
        for path in ["/api/tools", "/health", "/", "/page/x"] {
            let headers = [header("host", format!("{host}:{port}")), token.clone()];
            let reply = bed.ask("GET", path, &headers, "").await;
            assert_eq!(reply.refused(), (403, "ForbiddenHost".to_owned()), "{host} {path}");
        }
    }
}

#[tokio::test]
async fn a_host_that_is_missing_repeated_or_contradicted_is_refused() {
    let bed = HttpBed::new().await;
    let own = bed.address().to_string();
    let forbidden = (403, "ForbiddenHost".to_owned());
    let reply = bed.ask("GET", "/health", &[], "").await;
    assert_eq!(reply.refused(), forbidden);
    let twice = [header("host", &own), header("host", "evil.example")];
    assert_eq!(bed.ask("GET", "/health", &twice, "").await.refused(), forbidden);
    let evil = [header("host", "evil.example")];
    let target = format!("http://{own}/health");
    assert_eq!(bed.ask("GET", &target, &evil, "").await.refused(), forbidden);
    let own = [header("host", &own)];
    assert_eq!(bed.ask("GET", "http://evil.example/health", &own, "").await.refused(), forbidden);
    assert_eq!(bed.ask("GET", &target, &own, "").await.status, 200);
}

#[tokio::test]
async fn only_a_page_of_the_server_itself_may_send_requests() {
    let bed = HttpBed::new().await;
    let port = bed.address().port();
    let with_origin = |origin: &str| {
        let mut headers = bed.usual_headers();
        headers.push(header("origin", origin));
        headers
    };
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(bed.ask("GET", "/api/tools", &with_origin(&own), "").await.status, 200);
    let forbidden = (403, "ForbiddenOrigin".to_owned());
    for origin in [
        "null",
        "",
        "http://0.0.0.0",
        "http://127.0.0.1",
        "http://evil.example",
        "file://",
        "*",
        "chrome-extension://abcdef",
        "//127.0.0.1",
    ] {
        let reply = bed.ask("GET", "/api/tools", &with_origin(origin), "").await;
        assert_eq!(reply.refused(), forbidden, "{origin}");
    }
    for origin in [
        format!("http://0.0.0.0:{port}"),
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("http://evil.example:{port}"),
        format!("http://127.0.0.1:{port}/"),
        format!("http://x@127.0.0.1:{port}"),
        format!("ftp://127.0.0.1:{port}"),
    ] {
        let reply = bed.ask("GET", "/health", &with_origin(&origin), "").await;
        assert_eq!(reply.refused(), forbidden, "{origin}");
    }
    let mut twice = with_origin(&own);
    twice.push(header("origin", "http://evil.example"));
    assert_eq!(bed.ask("GET", "/api/tools", &twice, "").await.refused(), forbidden);
}

#[tokio::test]
async fn every_route_that_reveals_the_registry_needs_the_token() {
    let bed = HttpBed::new().await;
    let host = header("host", bed.address().to_string());
    assert_eq!(bed.ask("GET", "/health", std::slice::from_ref(&host), "").await.status, 200);
    for path in [
        "/api/tools",
        "/api/tools/Read",
        "/openapi.json",
        "/nothing",
        "//health",
        "/health/",
        "/health/../api/tools",
        "/page/../api/tools/",
        "/%68ealth",
        "/mcp",
    ] {
        let reply = bed.ask("GET", path, std::slice::from_ref(&host), "").await;
        // Paths that need no token must not serve anything that needs one.
        let is_page = path.starts_with("/page/");
        let expected = if is_page { (404, "NotFound") } else { (401, "Unauthorized") };
        assert_eq!(reply.refused(), (expected.0, expected.1.to_owned()), "{path}");
        assert_eq!(reply.head.contains("www-authenticate: bearer"), !is_page, "{path}");
    }
    let json = header("content-type", "application/json");
    let reply = bed.ask("POST", "/api/tools/reload", &[host.clone(), json], "{}").await;
    assert_eq!(reply.status, 401);
    for wrong in [
        format!("Bearer {TOKEN}x"),
        format!("Bearer x{TOKEN}"),
        format!("Bearer {}", &TOKEN[1..]),
        format!("Bearer {}", TOKEN.to_uppercase()),
        format!("Basic {TOKEN}"),
        format!("Bearer{TOKEN}"),
        TOKEN.to_owned(),
        "Bearer ".to_owned(),
        "Bearer".to_owned(),
        String::new(),
    ] {
        let headers = [host.clone(), header("authorization", &wrong)];
        assert_eq!(bed.ask("GET", "/api/tools", &headers, "").await.status, 401, "{wrong}");
    }
    let right = header("authorization", format!("Bearer {TOKEN}"));
    let twice = [host.clone(), right.clone(), header("authorization", "Bearer x")];
    assert_eq!(bed.ask("GET", "/api/tools", &twice, "").await.status, 401);
    assert_eq!(bed.ask("GET", "/api/tools", &[host, right], "").await.status, 200);
}

#[tokio::test]
async fn only_json_is_accepted() {
    let bed = HttpBed::new().await;
    let body = json!({ "input": { "text": "a" } }).to_string();
    let path = "/api/tools/diagnostic_echo/call";
    let typed = |types: &[&str]| {
        let mut headers = bed.usual_headers();
        headers.extend(types.iter().map(|it| header("content-type", *it)));
        headers
    };
    for types in [
        &["text/plain"][..],
        &["application/x-www-form-urlencoded"],
        &["multipart/form-data; boundary=application/json"],
        &["text/plain; application/json"],
        &["application/jsonp"],
        &["application/json", "text/plain"],
        &[],
    ] {
        let reply = bed.ask("POST", path, &typed(types), &body).await;
        assert_eq!(reply.refused(), (415, "UnsupportedMediaType".to_owned()), "{types:?}");
    }
    for media_type in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(bed.ask("POST", path, &typed(&[media_type]), &body).await.status, 200);
    }
    let mut packed = typed(&["application/json"]);
    packed.push(header("content-encoding", "gzip"));
    assert_eq!(bed.ask("POST", path, &packed, &body).await.status, 415);
}

#[tokio::test]
async fn the_host_of_a_handed_over_request_is_in_its_url_and_names_can_be_added() {
    let bed = HttpBed::new().await;
    let hosts = vec!["tools.example".to_owned(), "other.example:8443".to_owned()];
    let rules = AccessRules { token: None, hosts };
    let service = HttpService::new(bed.registry.clone(), rules);
    for (url, origin, status) in [
        ("http://localhost/api/tools", None, 200),
        ("https://tools.example/api/tools", None, 200),
        ("https://tools.example:1/api/tools", None, 200),
        ("https://other.example:8443/api/tools", None, 200),
        ("https://other.example/api/tools", None, 403),
        ("https://evil.example/api/tools", None, 403),
        ("https://tools.example/api/tools", Some("https://tools.example"), 200),
        ("https://tools.example/api/tools", Some("https://tools.example:443"), 200),
        ("https://tools.example/api/tools", Some("http://tools.example"), 403),
        ("https://tools.example/api/tools", Some("https://evil.example"), 403),
        ("/api/tools", None, 403),
    ] {
        let mut request = Request::get(url);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let response = service.answer(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status().as_u16(), status, "{url} {origin:?}");
    }
}
