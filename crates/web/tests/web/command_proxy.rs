//! The proxy of a command forwards what is allowed, and connects to nothing else.

use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use toolwright_web::{ProxyTimes, WebClient, WebSettings};

use super::{
    command_proxy_client::{ProxyBed, rest_of, socks_name},
    guard::{DISGUISES, TableLookup},
    server::{WebServer, answer, read_head, settings_allowing, text_page},
};

/// A server that returns its input in capitals, once the client stops sending.
async fn shouting() -> WebServer {
    WebServer::raw(|mut stream| async move {
        let mut received = String::new();
        stream.read_to_string(&mut received).await?;
        stream.write_all(received.to_uppercase().as_bytes()).await?;
        stream.shutdown().await
    })
    .await
}

#[tokio::test]
async fn a_request_is_forwarded_without_the_headers_for_the_proxy() {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&requests);
    let server = WebServer::answering(move |head| {
        kept.lock().unwrap().push(head.to_owned());
        answer("200 Fine", "X-Hop: 1\r\nConnection: x-hop\r\nX-End: 2\r\n", "page")
    })
    .await;
    let bed = ProxyBed::local(&["127.0.0.1"]);
    let address = server.address;
    let got = bed
        .ask(format!(
            "GET http://{address}/a?b=c HTTP/1.1\r\nHost: other.example\r\nX-Kept: ä\r\nX-Mine: 1\r\n\
             Connection: close, X-Mine\r\nProxy-Connection: keep-alive\r\n\
             Proxy-Authorization: Basic eDp5\r\nTE: trailers\r\n\r\n"
        ))
        .await;
    assert_eq!(
        requests.lock().unwrap().as_slice(),
        [format!(
            "GET /a?b=c HTTP/1.1\r\nHost: {address}\r\nX-Kept: ä\r\nConnection: close\r\n\r\n"
        )]
    );
    let (head, body) = got.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 Fine\r\n"), "{head}");
    assert!(head.contains("\r\nX-End: 2") && !head.to_lowercase().contains("x-hop: 1"), "{head}");
    assert_eq!(body, "page");
}

#[tokio::test]
async fn every_request_of_a_connection_is_checked_and_has_its_own_body() {
    let server = WebServer::raw(|mut stream| async move {
        let head = read_head(&mut stream).await?;
        let mut body = Vec::new();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            while !body.ends_with(b"0\r\n\r\n") {
                body.push(stream.read_u8().await?);
            }
        }
        let text = format!("{} {}", head.split(' ').next().unwrap(), body.len());
        let chunks = format!("{:x}\r\n{text}\r\n0\r\n\r\n", text.len());
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(format!("{head}{chunks}").as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    let bed = ProxyBed::local(&["127.0.0.1"]);
    let address = server.address;
    let got = bed
        .ask(format!(
            "POST http://{address}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
             5\r\nhello\r\n0\r\n\r\n\
             GET http://127.0.0.2:{port}/ HTTP/1.1\r\nHost: {address}\r\n\r\n\
             DELETE http://{address}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            port = address.port()
        ))
        .await;
    let statuses: Vec<&str> = got.lines().filter(|it| it.starts_with("HTTP/1.1")).collect();
    let refused = format!(
        "`127.0.0.2:{}` is not among the hosts that this command may reach",
        address.port()
    );
    let refused_line = format!("HTTP/1.1 403 {refused}");
    assert_eq!(statuses, ["HTTP/1.1 200 OK", &refused_line, "HTTP/1.1 200 OK"]);
    assert!(got.contains("POST 15") && got.contains("DELETE 0"), "{got}");
    assert!(got.contains(&format!("toolwright: {refused}\n")), "{got}");
    assert_eq!(server.accepted(), 2);
    assert_eq!(bed.proxy.refused(), [(format!("127.0.0.2:{}", address.port()), refused)]);
}

#[tokio::test]
async fn a_tunnel_forwards_bytes_and_the_end_in_both_directions() {
    let server = shouting().await;
    let names = TableLookup::default().with("server.test", &[&["127.0.0.1"]]);
    let bed =
        ProxyBed::with(&["127.0.0.1", "server.test"], settings_allowing(&["127.0.0.1"]), names);
    let port = server.address.port();
    let big = "ab".repeat(1_000_000);
    for target in [format!("127.0.0.1:{port}"), format!("Server.TEST.:{port}")] {
        let mut tunnel = bed.tunnel(&target).await.unwrap();
        let (mut reading, mut writing) = tunnel.split();
        let mut got = String::new();
        let send = async {
            writing.write_all(big.as_bytes()).await.unwrap();
            writing.shutdown().await.unwrap();
        };
        let ((), read) = tokio::join!(send, reading.read_to_string(&mut got));
        read.unwrap();
        assert!(got == big.to_uppercase(), "{} bytes", got.len());
    }
    for address in [vec![1, 127, 0, 0, 1], socks_name("server.test"), socks_name("127.0.0.1")] {
        let (code, mut tunnel) = bed.socks(&address, port).await;
        assert_eq!(code, 0);
        tunnel.write_all(b"by socks").await.unwrap();
        tunnel.shutdown().await.unwrap();
        assert_eq!(rest_of(tunnel).await, "BY SOCKS");
    }
}

#[tokio::test]
async fn a_request_that_is_not_for_a_proxy_gets_a_helpful_error() {
    let bed = ProxyBed::local(&["127.0.0.1"]);
    for (request, expected) in [
        (
            "GET / HTTP/1.1\r\nHost: a\r\n",
            "400 this is a proxy: ask for a whole URL, or use CONNECT",
        ),
        (
            "GET https://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n",
            "400 only `http` URLs are passed on; use CONNECT for everything else",
        ),
        ("GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n", "400 only `http` URLs are passed on"),
        ("CONNECT 127.0.0.1 HTTP/1.1\r\nHost: a\r\n", "400 CONNECT needs a host and a port"),
        ("CONNECT 127.0.0.1:0 HTTP/1.1\r\nHost: a\r\n", "400 CONNECT needs a host and a port"),
        ("nonsense\r\n", "400 Bad Request"),
    ] {
        let got = bed.ask(format!("{request}Connection: close\r\n\r\n")).await;
        assert!(got.starts_with(&format!("HTTP/1.1 {expected}")), "{request}: {got}");
    }
    // SOCKS4, TLS and nonsense.
    for bytes in [b"\x04\x01\0\x50\x7f\0\0\x01\0".as_slice(), b"\x16\x03\x01\0\x05hello", b"\0\0\0"]
    {
        assert_eq!(bed.ask(bytes).await, "", "{bytes:?}");
    }
}

#[tokio::test]
async fn socks_requests_other_than_connect_are_refused() {
    let bed = ProxyBed::local(&["127.0.0.1"]);
    let greeting = [5, 1, 0].as_slice();
    let connect = [5, 1, 0, 1, 127, 0, 0, 1, 0, 0].as_slice();
    for (asked, answered) in [
        // Only authentication with a password.
        ([5, 1, 2].as_slice(), vec![5, 0xff]),
        // BIND, UDP, an unknown kind of address, port 0.
        (&[greeting, &[5, 2, 0, 1, 127, 0, 0, 1, 0, 80]].concat(), vec![5, 7]),
        (&[greeting, &[5, 3, 0, 1, 127, 0, 0, 1, 0, 80]].concat(), vec![5, 7]),
        (&[greeting, &[5, 1, 0, 9]].concat(), vec![5, 8]),
        (&[greeting, connect].concat(), vec![5, 8]),
    ] {
        let mut stream = bed.connect().await;
        stream.write_all(asked).await.unwrap();
        let mut got = Vec::new();
        stream.read_to_end(&mut got).await.unwrap();
        let begun = if got.len() > 2 { got.split_off(2) } else { got };
        assert_eq!(begun.get(..2), Some(answered.as_slice()), "{asked:?}");
    }
}

#[tokio::test]
async fn targets_refused_by_the_list_the_judge_or_the_guard_are_not_connected() {
    let server = WebServer::sending(text_page("reached")).await;
    let port = server.address.port();
    let names = TableLookup::default()
        .with("listed.test", &[&["127.0.0.1"]])
        .with("denied.listed.test", &[&["127.0.0.1"]])
        .with("private.test", &[&["10.0.0.1"]])
        .with("metadata.test", &[&["169.254.169.254"]])
        .with("empty.test", &[&[]]);
    let client = WebClient::with_lookup(settings_allowing(&["127.0.0.1"]), Arc::new(names));
    let judged = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&judged);
    let judge = Arc::new(move |host: &str, port: u16| {
        seen.lock().unwrap().push(format!("{host}:{port}"));
        if host.starts_with("denied") { Err(format!("`{host}` is denied")) } else { Ok(()) }
    });
    let hosts = ["*.test", "127.0.0.2", "::1", "localhost"];
    let bed = ProxyBed::of(&hosts, client, judge, ProxyTimes::default());
    for (host, at, status, expected, code) in [
        ("other.example", port, "403", "is not among the hosts that this command may reach", 2),
        ("127.0.0.1", port, "403", "is not among the hosts that this command may reach", 2),
        ("denied.listed.test", port, "403", "`denied.listed.test` is denied", 2),
        (
            "private.test",
            port,
            "403",
            "`private.test` leads to a private address, which commands cannot reach",
            2,
        ),
        ("metadata.test", port, "403", "leads to an address of a cloud's metadata service", 2),
        ("127.0.0.2", port, "403", "`127.0.0.2` leads to a loopback address", 2),
        ("localhost", port, "403", "`localhost` leads to a loopback address", 2),
        ("listed.test", 25, "403", "port 25 of `listed.test` is not a web server's", 2),
        ("unknown.test", port, "502", "`unknown.test` could not be found", 4),
        ("empty.test", port, "502", "`empty.test` could not be found: it has no address", 4),
    ] {
        let (got, text) = bed.tunnel(&format!("{host}:{at}")).await.unwrap_err();
        assert!(got.starts_with(status) && got.contains(expected), "{host}: {got}");
        assert!(text.starts_with("toolwright: ") && text.contains(expected), "{host}: {text}");
        assert_eq!(bed.socks(&socks_name(host), at).await.0, code, "{host}");
        let get =
            format!("GET http://{host}:{at}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let got = bed.ask(get).await;
        assert!(
            got.starts_with(&format!("HTTP/1.1 {status}")) && got.contains(expected),
            "{host}: {got}"
        );
    }
    assert_eq!(server.accepted(), 0);
    let judged = judged.lock().unwrap().join(" ");
    // A host that is not on the list is not passed to the judge.
    assert!(
        judged.contains("denied.listed.test:") && !judged.contains("other.example"),
        "{judged}"
    );
    assert!(bed.tunnel(&format!("listed.test:{port}")).await.is_ok());
}

#[tokio::test]
async fn no_spelling_of_a_local_address_gets_through() {
    let server = WebServer::sending(text_page("reached")).await;
    let client = WebClient::new(WebSettings::default());
    let bed = ProxyBed::of(&["*"], client, Arc::new(|_, _| Ok(())), ProxyTimes::default());
    let port = server.address.port();
    let mut tried = 0;
    for disguise in DISGUISES {
        let Some(host) = disguise.strip_prefix("http://").and_then(|it| it.strip_suffix(":PORT/"))
        else {
            continue;
        };
        tried += 1;
        let (code, _) = bed.socks(&socks_name(host.trim_matches(['[', ']'])), port).await;
        assert!(code == 2 || code == 8, "{host}: {code}");
        // Some of these are not valid in a request at all.
        let got = bed
            .ask(format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
            .await;
        let is_refused = got.starts_with("HTTP/1.1 403") || got.starts_with("HTTP/1.1 400");
        assert!(is_refused, "{host}: {got}");
    }
    assert!(tried > 25, "{tried}");
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn only_allowed_addresses_of_a_name_are_connected() {
    let server = WebServer::sending(text_page("reached")).await;
    let names = TableLookup::default()
        .with("mixed.test", &[&["10.0.0.1", "127.0.0.1", "127.0.0.2"]])
        .with("second.test", &[&["127.0.0.3", "127.0.0.1"]]);
    let bed = ProxyBed::with(&["*"], settings_allowing(&["127.0.0.1", "127.0.0.3"]), names);
    for host in ["mixed.test", "second.test"] {
        let url = format!("http://{host}:{}/", server.address.port());
        let got =
            bed.ask(format!("GET {url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).await;
        assert!(got.ends_with("reached"), "{host}: {got}");
    }
    assert_eq!(server.accepted(), 2);
    assert_eq!(bed.proxy.refused(), []);
}

#[tokio::test]
async fn a_non_web_port_is_open_if_the_list_names_it() {
    let bed = ProxyBed::local(&["127.0.0.1:22"]);
    // Whether or not a process listens there, the proxy must have tried to connect.
    match bed.tunnel("127.0.0.1:22").await {
        Ok(_) => {}
        Err((status, _)) => assert!(status.starts_with("502"), "{status}"),
    }
    let (status, _) = bed.tunnel("127.0.0.1:23").await.unwrap_err();
    assert!(status.starts_with("403"), "{status}");
}

#[tokio::test]
async fn the_proxy_of_this_machine_is_used_if_there_is_one() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&heads);
    let upstream = WebServer::answering(move |head| {
        received.lock().unwrap().push(head.to_owned());
        let status = if head.starts_with("CONNECT closed.example") { "407 No" } else { "200 Yes" };
        format!("HTTP/1.1 {status}\r\n\r\nfrom the target").into_bytes()
    })
    .await;
    let proxy = format!("http://me:p%40w@{}", upstream.address);
    let settings = WebSettings::from_environment(&|name| {
        (name == "HTTPS_PROXY" || name == "HTTP_PROXY").then(|| proxy.clone())
    });
    let bed = ProxyBed::with(&["*.example"], settings, TableLookup::default());
    let tunnel = bed.tunnel("open.example:443").await.unwrap();
    assert_eq!(rest_of(tunnel).await, "from the target");
    let (status, text) = bed.tunnel("closed.example:443").await.unwrap_err();
    assert!(status.starts_with("502"), "{status}");
    assert!(text.contains("it answers with status `407`") && !text.contains("p@w"), "{text}");
    let (status, _) = bed.tunnel("localhost:443").await.unwrap_err();
    assert!(status.starts_with("403"), "{status}");
    assert_eq!(
        heads.lock().unwrap().first().unwrap(),
        "CONNECT open.example:443 HTTP/1.1\r\nHost: open.example:443\r\n\
         Proxy-Authorization: Basic bWU6cEB3\r\n\r\n"
    );
}
