//! The limits of the HTTP server: endless bodies, slow connections and malformed requests.

#![expect(clippy::indexing_slicing, reason = "tests")]

use std::{io, time::Duration};

use axum::body::Body;
use futures_util::{StreamExt as _, stream};
use http::Request;
use serde_json::json;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
};
use toolwright_http::ServerBounds;

use super::http_bed::{HttpBed, Reply, SOON, TOKEN, read_to_end, read_until};

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_body_with_a_huge_declared_size_is_refused_before_it_is_sent() {
    let bed = HttpBed::new().await;
    let request = bed.call_head("diagnostic_echo", "content-length: 1073741824\r\n\r\n");
    assert_eq!(bed.send(&request).await.refused(), (413, "BodyTooLarge".to_owned()));
    assert_eq!(bed.get("/health").await.status, 200);
}

#[tokio::test]
async fn a_body_without_a_declared_size_ends_at_the_limit() {
    let bed = HttpBed::new().await;
    let mut stream = bed.connect().await;
    let request = bed.call_head("diagnostic_echo", "transfer-encoding: chunked\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..(9 * 16) {
        // The server may have stopped reading.
        if stream.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
    }
    let reply = Reply::from(read_until(&mut stream, "BodyTooLarge\"}").await);
    assert_eq!(reply.refused(), (413, "BodyTooLarge".to_owned()));
}

#[tokio::test]
async fn a_client_that_sends_a_huge_body_anyway_still_gets_the_answer() {
    let bed = HttpBed::new().await;
    let (reading, mut writing) = bed.connect().await.into_split();
    let request = bed.call_head("diagnostic_echo", "content-length: 33554432\r\n\r\n");
    let sent = tokio::spawn(async move {
        writing.write_all(request.as_bytes()).await?;
        writing.write_all(&vec![b' '; 33_554_432]).await?;
        Ok::<_, std::io::Error>(writing)
    });
    let writing = tokio::time::timeout(SOON, sent).await.unwrap().unwrap().unwrap();
    let mut stream = reading.reunite(writing).unwrap();
    let reply = Reply::from(read_to_end(&mut stream).await);
    assert_eq!(reply.refused(), (413, "BodyTooLarge".to_owned()));
}

#[tokio::test]
async fn an_incomplete_body_calls_nothing() {
    let bed = HttpBed::new().await;
    let path = bed.write("project/a.txt", "");
    std::fs::remove_file(&path).unwrap();
    let body = json!({ "input": { "file_path": path, "content": "a" } }).to_string();
    let length = body.len() + 1;
    let mut stream = bed.connect().await;
    let request = bed.call_head("Write", &format!("content-length: {length}\r\n\r\n{body}"));
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    read_to_end(&mut stream).await;
    assert!(!path.exists());
}

/// A request that calls a tool with an arbitrary body.
fn call_with(body: Body) -> Request<Body> {
    Request::post("http://localhost/api/tools/diagnostic_echo/call")
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("content-type", "application/json")
        .body(body)
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_body_that_takes_too_long_is_refused() {
    let bed = HttpBed::new().await;
    let never = stream::pending::<io::Result<Vec<u8>>>();
    let slowly = stream::repeat(()).then(async |()| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        io::Result::Ok(b" ".to_vec())
    });
    for body in [Body::from_stream(never), Body::from_stream(slowly)] {
        let response = bed.service.answer(call_with(body)).await;
        assert_eq!(response.status(), 408);
    }
    let broken = stream::iter([Ok(b"{".to_vec()), Err(io::Error::other("gone"))]);
    let response = bed.service.answer(call_with(Body::from_stream(broken))).await;
    assert_eq!(response.status(), 400);
}

#[tokio::test]
async fn hundreds_of_slow_connections_do_not_block_other_clients() {
    let bed = HttpBed::within(ServerBounds { connections: 64, ..ServerBounds::default() }).await;
    let mut slow = Vec::new();
    for count in 0..300 {
        let mut stream = bed.connect().await;
        stream.write_all(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ").await.unwrap();
        slow.push(stream);
        if count % 50 == 49 {
            assert_eq!(bed.get("/api/tools").await.status, 200);
        }
    }
    // The first ones were closed to make room.
    assert_eq!(read_to_end(&mut slow[0]).await, "");
}

#[tokio::test]
async fn a_connection_that_is_being_answered_is_not_closed_to_make_room() {
    let bed = HttpBed::within(ServerBounds { connections: 1, ..ServerBounds::default() }).await;
    let waiting = bed.add_waiting_tool();
    let mut busy = bed.connect().await;
    let request = bed.call_head("wait", "content-length: 2\r\n\r\n{}");
    busy.write_all(request.as_bytes()).await.unwrap();
    waiting.begun(1).await;
    let mut other = bed.connect().await;
    assert_eq!(Reply::from(read_to_end(&mut other).await).status, 503);
    drop(busy);
    waiting.aborted(1).await;
}

#[tokio::test]
async fn a_connection_that_does_not_finish_its_headers_is_closed() {
    let bed = HttpBed::within(ServerBounds { header_time: SHORT, ..ServerBounds::default() }).await;
    for beginning in ["", "GET /health HTTP/1.1\r\n"] {
        let mut stream = bed.connect().await;
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let reply = Reply::from(read_to_end(&mut stream).await);
        assert!([0, 408].contains(&reply.status), "{reply:?}");
    }
    // A connection that stays idle after its first request is closed, too.
    let mut stream = bed.connect().await;
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").await.unwrap();
    assert_eq!(Reply::from(read_to_end(&mut stream).await).status, 200);
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answers_is_disconnected() {
    let bed = HttpBed::within(ServerBounds { unread_time: SHORT, ..ServerBounds::default() }).await;
    let mut stream = bed.connect().await;
    let request = format!(
        "GET /api/tools HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    );
    let asking = async { while stream.write_all(request.as_bytes()).await.is_ok() {} };
    tokio::time::timeout(SOON, asking).await.unwrap();
    assert_eq!(bed.get("/health").await.status, 200);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let bed = HttpBed::new().await;
    let echo = |text: &str, also: &str| {
        let body = json!({ "input": { "text": text } }).to_string();
        let length = body.len();
        bed.call_head("diagnostic_echo", &format!("{also}content-length: {length}\r\n\r\n{body}"))
    };
    let requests = [echo("first", ""), echo("second", ""), echo("third", "connection: close\r\n")];
    let reply = bed.send(&requests.concat()).await;
    let positions = ["first", "second", "third"].map(|it| reply.body.find(it).unwrap());
    assert!(positions.is_sorted(), "{reply:?}");
}

#[tokio::test]
async fn malformed_requests_are_refused_and_the_server_continues() {
    let bed = HttpBed::new().await;
    let head = "POST /api/tools/reload HTTP/1.1\r\nhost: 127.0.0.1\r\n";
    let long = "x".repeat(1_000_000);
    let many = "a: b\r\n".repeat(10_000);
    for bytes in [
        "\r\n\r\n\r\n",
        "nonsense\r\n\r\n",
        "GET\r\n\r\n",
        "GET /health\r\n\r\n",
        "GET /health HTTP/9.9\r\nhost: 127.0.0.1\r\n\r\n",
        "GET /health HTTP/1.1\r\nhost 127.0.0.1\r\n\r\n",
        "GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n a: folded\r\n\r\n",
        "GET /hea\u{0}lth HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        "GET http://[::1 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        "CONNECT evil.example:443 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}",
        &format!("{head}content-length: -1\r\n\r\n"),
        &format!("{head}content-length: 1\r\ncontent-length: 2\r\n\r\nab"),
        &format!("{head}content-length: 99999999999999999999\r\n\r\n"),
        &format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\n"),
        &format!("{head}transfer-encoding: gzip\r\n\r\n"),
        &format!("GET /{long} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"),
        &format!("GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx: {long}\r\n\r\n"),
        &format!("GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n{many}\r\n"),
    ] {
        let mut stream = bed.connect().await;
        // The server need not read all of it.
        let _ = stream.write_all(bytes.as_bytes()).await;
        let _ = stream.shutdown().await;
        let reply = Reply::from(read_to_end(&mut stream).await);
        let beginning: String = bytes.chars().take(60).collect();
        assert!(reply.status == 0 || (400..500).contains(&reply.status), "{beginning:?} {reply:?}");
        assert_eq!(bed.get("/health").await.status, 200, "{beginning:?}");
    }
}

#[tokio::test]
async fn closing_cancels_calls_that_take_too_long() {
    let bounds = ServerBounds { closing_time: SHORT, ..ServerBounds::default() };
    let bed = HttpBed::within(bounds).await;
    let waiting = bed.add_waiting_tool();
    let mut clients = Vec::new();
    for _ in 0..8 {
        let mut stream = bed.connect().await;
        let request = bed.call_head("wait", "content-length: 2\r\n\r\n{}");
        stream.write_all(request.as_bytes()).await.unwrap();
        clients.push(stream);
    }
    waiting.begun(8).await;
    tokio::time::timeout(SOON, bed.server.close()).await.unwrap();
    waiting.aborted(8).await;
    tokio::time::timeout(SOON, bed.registry.pipeline.calls_ended()).await.unwrap();
    for stream in &mut clients {
        assert_eq!(read_to_end(stream).await, "");
    }
    // The port is free again, and the registry still works without its server.
    assert!(TcpStream::connect(bed.address()).await.is_err());
    TcpListener::bind(bed.address()).await.unwrap();
    assert!(!bed.registry.pipeline.is_closed());
    tokio::time::timeout(SOON, bed.server.close()).await.unwrap();
}

#[tokio::test]
async fn closing_waits_for_running_answers() {
    let bed = HttpBed::within(ServerBounds { closing_time: SOON, ..ServerBounds::default() }).await;
    let mut idle = bed.connect().await;
    let mut busy = bed.connect().await;
    let body = json!({ "input": { "ms": 100 } }).to_string();
    let also = format!("accept: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    busy.write_all(bed.call_head("diagnostic_sleep", &also).as_bytes()).await.unwrap();
    read_until(&mut busy, r#""type":"start""#).await;
    let closing = bed.server.close();
    let answered = async {
        assert_eq!(read_to_end(&mut idle).await, "");
        read_to_end(&mut busy).await
    };
    let ((), answer) = tokio::join!(closing, answered);
    assert!(answer.contains("event: result\n") && answer.contains("waited 100 ms"), "{answer}");
}

#[tokio::test]
async fn dropping_a_server_closes_it() {
    let bed = HttpBed::new().await;
    let address = bed.address();
    let mut stream = bed.connect().await;
    drop(bed);
    assert_eq!(read_to_end(&mut stream).await, "");
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
