//! Answers to the web client: valid, unusual, broken and hostile.

use std::{io::Write as _, time::Duration};

use flate2::{
    Compression,
    write::{GzEncoder, ZlibEncoder},
};
use pretty_assertions::assert_eq;
use tokio::io::AsyncWriteExt as _;
use toolwright_web::{FetchError, FetchedPage, TimedPhase, parse_web_url};

use super::server::{
    WebServer, answer, fetch, fetch_page, fetch_text, local_client, local_client_with, path_of,
    read_head, text_page,
};

#[tokio::test]
async fn a_page_is_returned_as_it_was_sent() {
    let server = WebServer::answering(|head| {
        assert!(head.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{head}");
        let head = head.to_ascii_lowercase();
        assert!(head.contains("accept: */*\r\n") && head.contains("user-agent: toolwright/"));
        answer("200 OK", "Content-Type: text/html; charset=utf-8\r\n", "<p>é</p>")
    })
    .await;
    let page = fetch_page(&local_client(), &server.url("/a?b=c#d")).await;
    let wanted = FetchedPage {
        url: parse_web_url(&server.url("/a?b=c#d")).unwrap(),
        status: 200,
        content_type: Some("text/html; charset=utf-8".to_owned()),
        body: "<p>é</p>".into(),
        was_cut: false,
        from_cache: false,
        hops: 0,
    };
    assert_eq!(page, wanted);
    assert_eq!(page.media_type(), "text/html");
}

#[tokio::test]
async fn an_error_status_is_an_error_with_an_excerpt_of_the_answer() {
    for (sent, message) in [
        ("404 Gone fishing", "HTTP 404 Not Found from `URL`"),
        ("503 Busy\r\nRetry-After: 7", "HTTP 503 Service Unavailable from `URL`; try again in 7 s"),
        ("304 Same", "HTTP 304 Not Modified from `URL`"),
        ("300 Many", "HTTP 300 Multiple Choices from `URL`"),
        ("799 Odd", "HTTP 799 from `URL`"),
    ] {
        let server = WebServer::sending(answer(sent, "", r#"{"why":"because"}"#)).await;
        let error = fetch(&local_client(), &server.url("/")).await.unwrap_err();
        assert_eq!(error.to_string(), message.replace("URL", &server.url("/")));
        let FetchError::Http { excerpt, status, .. } = error else { unreachable!("{error:?}") };
        // An answer with status 304 has no body.
        assert_eq!(excerpt.is_empty(), status == 304);
    }
}

#[tokio::test]
async fn answers_that_break_the_protocol_are_errors() {
    let whole = |body: &str| format!("HTTP/1.1 200 OK\r\n{body}").into_bytes();
    let many = "X-Many: y\r\n".repeat(300);
    for (what, bytes) in [
        ("nothing", Vec::new()),
        ("no HTTP", b"hello, I am a mail server\r\n\r\n".to_vec()),
        ("half a head", b"HTTP/1.1 200 OK\r\nContent-".to_vec()),
        ("fewer bytes than announced", whole("Content-Length: 100\r\n\r\nshort")),
        ("two lengths", whole("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")),
        ("a negative length", whole("Content-Length: -5\r\n\r\nhello")),
        ("a length that overflows", whole("Content-Length: 99999999999999999999999\r\n\r\nhello")),
        (
            "a chunk without a size",
            whole("Transfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "a chunk whose size overflows",
            whole("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
        ),
        ("chunks without an end", whole("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")),
        (
            "a chunk that is too short",
            whole("Transfer-Encoding: chunked\r\n\r\n9\r\nhello\r\n0\r\n\r\n"),
        ),
        ("too many headers", whole(&format!("{many}\r\nbody"))),
        ("a header without a name", whole(": x\r\n\r\nbody")),
        ("a NUL in a header", whole("X: a\0b\r\n\r\nbody")),
        ("an unknown version", b"HTTP/9.9 200 OK\r\n\r\nbody".to_vec()),
    ] {
        let server = WebServer::sending(bytes).await;
        let fetched = fetch(&local_client(), &server.url("/")).await;
        assert!(matches!(fetched, Err(FetchError::Protocol { .. })), "{what}: {fetched:?}");
    }
}

#[tokio::test]
async fn unusual_but_valid_answers_are_pages() {
    for (what, bytes, body) in [
        (
            "more bytes than announced",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody and more",
            "body",
        ),
        ("an end by hanging up", "HTTP/1.1 200 OK\r\n\r\nbody", "body"),
        ("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nbody", "body"),
        ("no reason", "HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nbody", "body"),
        ("another reason", "HTTP/1.1 200 Whatever\r\nContent-Length: 4\r\n\r\nbody", "body"),
        (
            "interim answers",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
            "body",
        ),
        (
            "chunks",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nbo\r\n2\r\ndy\r\n0\r\nTrailer: x\r\n\r\n",
            "body",
        ),
        ("no content", "HTTP/1.1 204 No Content\r\n\r\n", ""),
        (
            "an empty packed body",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
            "",
        ),
    ] {
        let server = WebServer::sending(bytes).await;
        assert_eq!(fetch_text(&local_client(), &server.url("/")).await, body, "{what}");
    }
}

/// A server that sends a beginning and then the same bytes forever.
async fn endless(begin: &'static str, piece: &'static [u8]) -> WebServer {
    WebServer::raw(move |mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(begin.as_bytes()).await?;
        loop {
            stream.write_all(piece).await?;
        }
    })
    .await
}

#[tokio::test]
async fn an_endless_body_is_cut_and_the_connection_closed() {
    let client = local_client_with(|limits| limits.max_body_bytes = 100_000);
    for begin in
        ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n"]
    {
        let server = endless(begin, &[b'x'; 4_096]).await;
        let page = fetch_page(&client, &server.url("/")).await;
        assert_eq!((page.body.len(), page.was_cut), (100_000, true));
    }
}

#[tokio::test]
async fn endless_headers_are_an_error() {
    for (begin, piece) in [
        ("HTTP/1.1 200 OK\r\n", b"X-Flood: yyyyyyyyyyyyyyyy\r\n".as_slice()),
        ("HTTP/1.1 200 OK\r\nX-Long: ", &[b'y'; 4_096]),
        ("HTTP/1.1 200 ", &[b'O'; 4_096]),
    ] {
        let server = endless(begin, piece).await;
        let fetched = fetch(&local_client(), &server.url("/")).await;
        assert!(matches!(fetched, Err(FetchError::Protocol { .. })), "{begin}: {fetched:?}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// 64 MiB of zeros, compressed with brotli by Node.js, in hexadecimal.
const BROTLI_BOMB: &str = "cbffff3f002400e2b14072effff8ffff078004401c1680eefd1fffffff00900088c302d0bdffe3ff \
    ff1f001200715800baf77ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f \
    000980382c00ddfbbffcffff032001108705a07bff07";

fn brotli_bomb() -> Vec<u8> {
    let digits: Vec<char> = BROTLI_BOMB.chars().filter(char::is_ascii_hexdigit).collect();
    let bytes = digits.chunks(2).map(String::from_iter);
    bytes.map(|it| u8::from_str_radix(&it, 16).unwrap()).collect()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn decompression_bombs_are_cut_at_the_limit() {
    let zeros = vec![0; 50_000_000];
    let client = local_client_with(|limits| limits.max_body_bytes = 1_000_000);
    for (encoding, packed) in
        [("gzip", gzip(&zeros)), ("deflate", zlib(&zeros)), ("br", brotli_bomb())]
    {
        assert!(packed.len() < 60_000);
        let header = format!("Content-Encoding: {encoding}\r\n");
        let server = WebServer::sending(answer("200 OK", &header, packed)).await;
        let page = fetch_page(&client, &server.url("/")).await;
        assert_eq!((page.body.len(), page.was_cut), (1_000_000, true), "{encoding}");
    }
}

#[tokio::test]
async fn servers_that_stall_in_a_compressed_body_do_not_block_other_decompressions() {
    let stopped = WebServer::raw(|mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n").await?;
        stream.write_all(brotli_bomb().get(..20).unwrap()).await?;
        std::future::pending().await
    })
    .await;
    let client = local_client_with(|limits| limits.max_body_bytes = 1_000_000);
    let waiting = (0..8).map(|at| {
        let (client, url) = (client.clone(), stopped.url(&format!("/{at}")));
        tokio::spawn(async move { fetch(&client, &url).await })
    });
    let waiting: Vec<_> = waiting.collect();
    while stopped.accepted() < 8 {
        tokio::task::yield_now().await;
    }
    let header = "Content-Encoding: br\r\n";
    let server = WebServer::sending(answer("200 OK", header, brotli_bomb())).await;
    // Another client, because the stalled fetches use all connections to this host.
    let page = fetch_page(&local_client(), &server.url("/")).await;
    assert!(page.was_cut);
    client.close();
    for fetch in waiting {
        assert!(fetch.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn a_compressed_body_that_never_yields_data_is_refused() {
    // The header of a gzip file, then empty blocks forever.
    let server = WebServer::raw(|mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n").await?;
        stream.write_all(b"\x1f\x8b\x08\0\0\0\0\0\0\xff").await?;
        let empty_block = [0, 0, 0, 0xff, 0xff].repeat(1_000);
        loop {
            stream.write_all(&empty_block).await?;
        }
    })
    .await;
    let client = local_client_with(|limits| limits.max_body_bytes = 1_000_000);
    let fetched = fetch(&client, &server.url("/")).await;
    assert!(matches!(fetched, Err(FetchError::TooLarge { .. })), "{fetched:?}");
}

#[tokio::test]
async fn a_body_with_a_wrong_content_encoding_is_an_error() {
    let packed = gzip(&b"some text ".repeat(100));
    let cut = packed.get(..packed.len() - 12).unwrap().to_vec();
    for (encoding, body) in [
        ("gzip", b"<html>not packed</html>".to_vec()),
        ("gzip", cut),
        ("br", b"<html>not packed</html>".to_vec()),
        ("deflate", b"<html>not packed</html>".to_vec()),
        ("zstd", b"unasked".to_vec()),
        ("gzip, gzip", packed),
    ] {
        let header = format!("Content-Encoding: {encoding}\r\n");
        let server = WebServer::sending(answer("200 OK", &header, body)).await;
        let fetched = fetch(&local_client(), &server.url("/")).await;
        assert!(matches!(fetched, Err(FetchError::Decompress { .. })), "{encoding}: {fetched:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_too_slow_times_out_at_every_stage() {
    let begin_of_head = "HTTP/1.1 200 OK\r\nX-Slow: ";
    let begin_of_body = "HTTP/1.1 200 OK\r\n\r\n";
    for (begin, drips, phase) in [
        ("", false, TimedPhase::Headers),
        (begin_of_head, true, TimedPhase::Headers),
        (begin_of_body, false, TimedPhase::Body),
        (begin_of_body, true, TimedPhase::Body),
        ("HTTP/1.1 100 Continue\r\n\r\n", false, TimedPhase::Headers),
    ] {
        let server = WebServer::raw(move |mut stream| async move {
            read_head(&mut stream).await?;
            stream.write_all(begin.as_bytes()).await?;
            loop {
                // Not a wait for a condition: the server has to be slow.
                tokio::time::sleep(Duration::from_millis(20)).await;
                if drips {
                    stream.write_all(b"x").await?;
                }
            }
        })
        .await;
        let client = local_client_with(|limits| limits.total = Duration::from_secs(2));
        let error = fetch(&client, &server.url("/")).await.unwrap_err();
        let FetchError::Timeout { phase: seen, limit, .. } = error else {
            unreachable!("{error:?}")
        };
        assert_eq!((seen, limit), (phase, Duration::from_secs(2)), "{begin:?}");
    }
}

#[tokio::test]
async fn a_pause_in_a_body_has_a_separate_limit() {
    let server = WebServer::raw(|mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nbegin").await?;
        std::future::pending().await
    })
    .await;
    let client = local_client_with(|limits| limits.idle = Duration::from_secs(1));
    let error = fetch(&client, &server.url("/")).await.unwrap_err();
    let wanted = FetchError::Timeout {
        host: server.address.to_string(),
        phase: TimedPhase::Body,
        limit: Duration::from_secs(1),
    };
    assert_eq!(error, wanted);
}

#[tokio::test]
async fn a_closed_port_is_reported_as_a_refused_connection() {
    let server = WebServer::sending(text_page("x")).await;
    let url = server.url("/");
    drop(server);
    // Aborting the task closes the listener a moment later.
    let error = loop {
        match fetch(&local_client(), &url).await {
            Err(error @ FetchError::Connect { .. }) => break error,
            _ => tokio::task::yield_now().await,
        }
    };
    let words = error.to_string();
    assert!(
        words.starts_with("no connection to `127.0.0.1:") && words.contains("refused"),
        "{words}"
    );
}

#[tokio::test]
async fn text_is_decoded_by_its_content_and_not_only_by_its_declared_charset() {
    let server = WebServer::answering(|head| {
        let (header, body): (&str, &[u8]) = match path_of(head) {
            "/header" => ("text/html; charset=windows-1251", b"\xcf\xf0\xe8\xe2\xe5\xf2"),
            "/quoted" => ("text/html; Charset=\"Shift_JIS\"", b"\x93\xfa\x96\x7b"),
            "/meta" => ("text/html", b"<meta charset='koi8-r'>\xf0\xd2\xc9\xd7\xc5\xd4"),
            "/wrong" => ("text/html; charset=iso-8859-1", "Привет".as_bytes()),
            "/wrong-utf8" => ("text/html; charset=utf-8", b"caf\xe9 cr\xe8me, d\xe9j\xe0 vu"),
            "/bom" => ("text/html; charset=koi8-r", b"\xff\xfea\0\x11\x04"),
            "/unknown" => ("text/html; charset=nonsense", "é".as_bytes()),
            _ => ("text/plain", b"\xff\xff\xff\x80"),
        };
        answer("200 OK", &format!("Content-Type: {header}\r\n"), body)
    })
    .await;
    for (path, text, encoding) in [
        ("/header", "Привет", "windows-1251"),
        ("/quoted", "日本", "Shift_JIS"),
        ("/meta", "<meta charset='koi8-r'>Привет", "KOI8-R"),
        ("/wrong", "Привет", "UTF-8"),
        ("/wrong-utf8", "café crème, déjà vu", "windows-1252"),
        ("/bom", "aБ", "UTF-16LE"),
        ("/unknown", "é", "UTF-8"),
    ] {
        let page = fetch_page(&local_client(), &server.url(path)).await;
        assert_eq!(page.text(), (text.to_owned(), encoding), "{path}");
    }
    // Any bytes can be decoded to a text.
    assert!(!fetch_text(&local_client(), &server.url("/junk")).await.is_empty());
}
