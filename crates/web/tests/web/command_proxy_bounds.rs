//! The proxy of a command has limits on connections, bytes and time, and ends with the command.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pretty_assertions::assert_eq;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Semaphore,
};
use toolwright_web::{ProxyTimes, WebClient};

use super::{
    command_proxy_client::{ProxyBed, rest_of},
    server::{WebServer, answer, read_head, settings_allowing, text_page},
};

/// Timeouts that are longer than any test.
fn long() -> ProxyTimes {
    let hour = Duration::from_hours(1);
    ProxyTimes { head: hour, idle: hour, half_open: hour }
}

fn bed_with(times: ProxyTimes) -> ProxyBed {
    let client = WebClient::new(settings_allowing(&["127.0.0.0/8"]));
    ProxyBed::of(&["127.0.0.1"], client, Arc::new(|_, _| Ok(())), times)
}

/// A server that sends nothing until its client closes the connection.
async fn silent() -> WebServer {
    WebServer::raw(|mut stream| async move {
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await?;
        std::future::pending().await
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_are_served_at_most_128_at_once() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, highest) = (Arc::clone(&now), Arc::clone(&most));
    let server = WebServer::raw(move |mut stream| {
        let (running, highest) = (Arc::clone(&running), Arc::clone(&highest));
        async move {
            highest.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let head = read_head(&mut stream).await;
            tokio::task::yield_now().await;
            running.fetch_sub(1, Ordering::SeqCst);
            stream.write_all(&text_page(head?.split(' ').nth(1).unwrap())).await?;
            stream.shutdown().await
        }
    })
    .await;
    let bed = Arc::new(ProxyBed::local(&["127.0.0.1"]));
    let address = server.address;
    // Keeps the test itself from running out of descriptors.
    let open = Arc::new(Semaphore::new(300));
    let mut asked = tokio::task::JoinSet::new();
    for number in 0..1_000 {
        let (bed, open) = (Arc::clone(&bed), Arc::clone(&open));
        asked.spawn(async move {
            let _open = open.acquire().await;
            let url = format!("http://{address}/{number}");
            let request = format!("GET {url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            let got = if number % 2 == 0 {
                bed.ask(request).await
            } else {
                let mut tunnel = bed.tunnel(&address.to_string()).await.unwrap();
                let request = format!("GET /{number} HTTP/1.1\r\n\r\n");
                tunnel.write_all(request.as_bytes()).await.unwrap();
                rest_of(tunnel).await
            };
            assert!(got.ends_with(&format!("\r\n\r\n/{number}")), "{number}: {got}");
        });
    }
    while let Some(one) = asked.join_next().await {
        one.unwrap();
    }
    assert_eq!(server.accepted(), 1_000);
    assert!(most.load(Ordering::SeqCst) <= 128, "{most:?}");
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_until_another_ends() {
    let server = silent().await;
    let bed = ProxyBed::local(&["127.0.0.1"]);
    let target = server.address.to_string();
    let mut tunnels = Vec::new();
    for _ in 0..128 {
        tunnels.push(bed.tunnel(&target).await.unwrap());
    }
    let mut late = bed.connect().await;
    late.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut first = [0];
    // It is in the kernel's queue: the proxy has not read its request.
    assert!(late.try_read(&mut first).is_err());
    assert_eq!(server.accepted(), 128);
    tunnels.pop();
    drop(tunnels);
    drop(server);
    assert!(rest_of(late).await.starts_with("HTTP/1.1 400"));
}

#[tokio::test]
async fn a_client_that_sends_no_full_request_is_disconnected() {
    let bed = bed_with(ProxyTimes { head: Duration::from_millis(20), ..long() });
    for begun in ["", "G", "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n", "\x05", "\x05\x01\0"] {
        let got = bed.ask(begun).await;
        // The SOCKS greeting is answered before the request is read.
        let wanted = if begun == "\x05\x01\0" { "\x05\0" } else { "" };
        assert!(got == wanted || got.starts_with("HTTP/1.1 408"), "{begun:?}: {got:?}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = WebServer::sending(text_page("reached")).await;
    let bed = bed_with(long());
    let address = server.address;
    let long = format!("X-Long: {}\r\n", "x".repeat(70_000));
    let many = "X: y\r\n".repeat(201);
    for headers in [long, many] {
        let got =
            bed.ask(format!("GET http://{address}/ HTTP/1.1\r\nHost: a\r\n{headers}\r\n")).await;
        assert!(got.starts_with("HTTP/1.1 431 "), "{got}");
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn an_answer_with_a_head_that_is_too_large_becomes_an_error() {
    let header = format!("X-Long: {}\r\n", "x".repeat(200_000));
    let server = WebServer::sending(answer("200 OK", &header, "reached")).await;
    let bed = bed_with(long());
    let got = bed
        .ask(format!(
            "GET http://{}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            server.address
        ))
        .await;
    assert!(got.starts_with("HTTP/1.1 502 "), "{got}");
    assert!(got.contains("gave no answer that can be read"), "{got}");
}

#[tokio::test]
async fn a_silent_tunnel_ends() {
    let server = silent().await;
    let bed = bed_with(ProxyTimes { idle: Duration::from_millis(20), ..long() });
    let tunnel = bed.tunnel(&server.address.to_string()).await.unwrap();
    assert_eq!(rest_of(tunnel).await, "");
}

#[tokio::test]
async fn a_half_closed_tunnel_ends_after_its_timeout() {
    let server = silent().await;
    let bed = bed_with(ProxyTimes { half_open: Duration::from_millis(20), ..long() });
    let mut tunnel = bed.tunnel(&server.address.to_string()).await.unwrap();
    tunnel.shutdown().await.unwrap();
    assert_eq!(rest_of(tunnel).await, "");
}

async fn open_connections(bed: &ProxyBed, server: &WebServer) -> Vec<TcpStream> {
    let target = server.address.to_string();
    let mut waiting = bed.connect().await;
    let request = format!("GET http://{target}/ HTTP/1.1\r\nHost: a\r\n\r\n");
    waiting.write_all(request.as_bytes()).await.unwrap();
    let mut open = vec![bed.connect().await, waiting];
    for _ in 0..10 {
        open.push(bed.tunnel(&target).await.unwrap());
    }
    open
}

#[tokio::test]
async fn every_connection_ends_with_the_proxy() {
    let server = silent().await;
    let bed = bed_with(long());
    let open = open_connections(&bed, &server).await;
    let address = bed.address;
    drop(bed);
    for stream in open {
        assert_eq!(rest_of(stream).await, "");
    }
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn every_connection_ends_with_the_web_client() {
    let server = silent().await;
    let bed = bed_with(long());
    let open = open_connections(&bed, &server).await;
    bed.client.close();
    for stream in open {
        assert_eq!(rest_of(stream).await, "");
    }
    assert!(TcpStream::connect(bed.address).await.is_err());
}
