//! Redirects in the web client: which are followed, which are returned to the caller, and which are errors.

use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;
use toolwright_web::{CrossHostRedirect, FetchError, FetchOutcome, FetchRequest, parse_web_url};

use super::server::{
    WebServer, answer, fetch, fetch_page, local_client, local_client_with, path_of, text_page,
};

/// A server whose path `/a/start` redirects, and whose other paths answer with the request line.
async fn redirecting(status: u16, location: &'static str) -> WebServer {
    WebServer::answering(move |head| {
        if path_of(head) == "/a/start" {
            return answer(&format!("{status} Moved"), &format!("Location: {location}\r\n"), "old");
        }
        text_page(head.lines().next().unwrap())
    })
    .await
}

#[tokio::test]
async fn redirects_on_the_same_host_are_followed_for_every_status_and_form() {
    for status in [301, 302, 303, 307, 308] {
        for (location, wanted) in [
            ("/there", "/there"),
            ("there?q=1", "/a/there?q=1"),
            ("../up", "/up"),
            ("./", "/a/"),
            ("?q=2", "/a/start?q=2"),
            (" /blank ", "/blank"),
            ("/caf\u{e9}", "/caf%C3%A9"),
            ("/a b", "/a%20b"),
            ("/x/%2e%2e/y", "/y"),
        ] {
            let server = redirecting(status, location).await;
            let page = fetch_page(&local_client(), &server.url("/a/start")).await;
            assert_eq!(page.text().0, format!("GET {wanted} HTTP/1.1"), "{status} {location}");
            assert_eq!((page.url.as_str(), page.hops), (server.url(wanted).as_str(), 1));
            assert_eq!(server.accepted(), 2);
        }
    }
}

#[tokio::test]
async fn absolute_and_protocol_relative_urls_of_the_same_host_are_followed_to_any_port() {
    let other = WebServer::sending(text_page("other port")).await;
    let target = other.address;
    for form in
        [format!("http://{target}/x"), format!("//{target}/x"), format!("HTTP:\\\\{target}\\x")]
    {
        let server = WebServer::answering(move |_| {
            answer("302 Found", &format!("Location: {form}\r\n"), "")
        })
        .await;
        let page = fetch_page(&local_client(), &server.url("/")).await;
        assert_eq!(page.text().0, "other port");
    }
}

#[tokio::test]
async fn a_redirect_to_another_host_is_returned_and_not_followed() {
    for location in [
        "https://elsewhere.example/x?y#z",
        "//elsewhere.example/x?y#z",
        "http://user@elsewhere.example/",
        "ftp://elsewhere.example/",
    ] {
        let server = redirecting(301, location).await;
        let url = server.url("/a/start#mine");
        let fetched = fetch(&local_client(), &url).await;
        let scheme = if location.starts_with("//") { "http" } else { "https" };
        match location {
            it if it.contains("/x?y#z") => {
                let redirect = CrossHostRedirect {
                    from: parse_web_url(&url).unwrap(),
                    to: parse_web_url(&format!("{scheme}://elsewhere.example/x?y#z")).unwrap(),
                    status: 301,
                };
                assert_eq!(fetched, Ok(FetchOutcome::CrossHostRedirect(redirect)));
            }
            it if it.contains('@') => {
                let is_refused = matches!(fetched, Err(FetchError::RefusedRedirect { .. }));
                assert!(is_refused, "{fetched:?}");
            }
            _ => assert!(matches!(fetched, Err(FetchError::BadRedirect { .. })), "{fetched:?}"),
        }
    }
}

#[tokio::test]
async fn a_fragment_is_kept_across_redirects_unless_the_target_has_one() {
    for (location, wanted) in [("/there", "/there#mine"), ("/there#its", "/there#its")] {
        let server = redirecting(302, location).await;
        let page = fetch_page(&local_client(), &server.url("/a/start#mine")).await;
        assert_eq!(page.url.as_str(), server.url(wanted));
    }
}

#[tokio::test]
async fn invalid_redirects_are_errors_with_a_cause() {
    for (headers, cause) in [
        ("", "does not say where to"),
        ("Location:\r\n", "does not say where to"),
        (
            "Location: http://[::\r\n",
            "its target `http://[::` cannot be read: invalid IPv6 address",
        ),
        ("Location: javascript:x\r\n", "its target `javascript:x` is not on the web"),
        ("Location: file:///etc/passwd\r\n", "its target `file:///etc/passwd` is not on the web"),
        ("Location: /a\r\nLocation: /b\r\n", "names several targets"),
    ] {
        let server = WebServer::sending(answer("302 Found", headers, "")).await;
        let url = parse_web_url(&server.url("/")).unwrap();
        let error = fetch(&local_client(), url.as_str()).await.unwrap_err();
        let wanted =
            FetchError::BadRedirect { url: url.into(), status: 302, cause: cause.to_owned() };
        assert_eq!(error, wanted);
    }
}

#[tokio::test]
async fn redirect_loops_and_endless_chains_are_errors() {
    let circle = WebServer::answering(|head| {
        let next = if path_of(head) == "/a" { "/b" } else { "/a#again" };
        answer("302 Found", &format!("Location: {next}\r\n"), "")
    })
    .await;
    let error = fetch(&local_client(), &circle.url("/a")).await.unwrap_err();
    assert!(matches!(error, FetchError::RedirectLoop { .. }), "{error:?}");
    assert_eq!(circle.accepted(), 2);

    let chain = WebServer::answering(|head| {
        let next = path_of(head)[1..].parse::<usize>().unwrap() + 1;
        answer("302 Found", &format!("Location: /{next}\r\n"), "")
    })
    .await;
    let client = local_client_with(|limits| limits.max_redirects = 3);
    let error = fetch(&client, &chain.url("/0")).await.unwrap_err();
    let wanted =
        FetchError::TooManyRedirects { url: chain.url("/0"), last: chain.url("/4"), limit: 3 };
    assert_eq!((error, chain.accepted()), (wanted, 4));
}

#[tokio::test]
async fn a_redirected_post_stays_a_post_or_becomes_a_get_depending_on_the_status() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    for (status, wanted) in
        [(302, "GET /there"), (303, "GET /there"), (307, "POST /there"), (308, "POST /there")]
    {
        let server = WebServer::raw(move |mut stream| async move {
            let head = super::server::read_head(&mut stream).await?;
            let mut body = String::new();
            if head.starts_with("POST") {
                let mut bytes = [0; 7];
                stream.read_exact(&mut bytes).await?;
                body = String::from_utf8_lossy(&bytes).into_owned();
            }
            let sent = if path_of(&head) == "/" {
                answer(&format!("{status} Moved"), "Location: /there\r\n", "")
            } else {
                let line = head.lines().next().unwrap().replace(" HTTP/1.1", "");
                let has_key = head.contains("x-key: secret");
                text_page(&format!("{line} {body} {has_key}"))
            };
            stream.write_all(&sent).await
        })
        .await;
        let url = parse_web_url(&server.url("/")).unwrap();
        let request =
            FetchRequest::post_json(url, r#"{"a":1}"#.to_owned()).header("X-Key", "secret");
        let fetched = local_client().fetch(request, &CancellationToken::new()).await;
        let Ok(FetchOutcome::Page(page)) = fetched else { unreachable!("{fetched:?}") };
        let body = if wanted.starts_with("POST") { r#"{"a":1}"# } else { "" };
        assert_eq!(page.text().0, format!("{wanted} {body} true"));
    }
}

#[tokio::test]
async fn custom_headers_are_not_sent_to_another_port() {
    let other = WebServer::answering(|head| text_page(&head.to_ascii_lowercase())).await;
    let target = other.address;
    let server = WebServer::answering(move |head| {
        assert!(head.contains("x-key: secret"), "{head}");
        answer("307 Moved", &format!("Location: http://{target}/\r\n"), "")
    })
    .await;
    let request = FetchRequest::get(parse_web_url(&server.url("/")).unwrap(), "*/*")
        .header("X-Key", "secret");
    let fetched = local_client().fetch(request, &CancellationToken::new()).await;
    let Ok(FetchOutcome::Page(page)) = fetched else { unreachable!("{fetched:?}") };
    assert!(!page.text().0.contains("x-key"), "{}", page.text().0);
}
