//! Concurrent, cached and cancelled fetches, and closing the client.

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::{Barrier, Notify, mpsc},
};
use tokio_util::sync::CancellationToken;
use toolwright_web::{
    CacheUse, FetchError, FetchOutcome, FetchRequest, NameLookup, TimedPhase, WebClient,
    WebSettings, parse_web_url,
};

use super::server::{
    WebServer, answer, fetch, fetch_page, fetch_text, local_client, local_client_with, path_of,
    read_head, text_page,
};

#[tokio::test]
async fn a_page_is_fetched_once_for_each_accepted_type() {
    let server = WebServer::sending(text_page("page")).await;
    let client = local_client();
    assert!(!fetch_page(&client, &server.url("/a#x")).await.from_cache);
    let again = fetch_page(&client, &server.url("/a#y")).await;
    assert_eq!((again.from_cache, again.text().0.as_str(), server.accepted()), (true, "page", 1));
    let url = parse_web_url(&server.url("/a")).unwrap();
    let get = |accept: &str| FetchRequest::get(url.clone(), accept);
    let never = CancellationToken::new();
    client.fetch(get("text/markdown"), &never).await.unwrap();
    let bypassed = FetchRequest { cache: CacheUse::Bypassed, ..get("*/*") };
    client.fetch(bypassed, &never).await.unwrap();
    client.fetch(get("*/*").header("X-Key", "k"), &never).await.unwrap();
    assert_eq!(server.accepted(), 4);
    // The cache is not shared between clients.
    fetch_page(&local_client(), &server.url("/a")).await;
    assert_eq!(server.accepted(), 5);
}

#[tokio::test]
async fn errors_redirects_and_uncacheable_answers_are_fetched_again() {
    let server = WebServer::answering(|head| match path_of(head) {
        "/error" => answer("500 Oops", "", "x"),
        "/elsewhere" => answer("302 Found", "Location: https://elsewhere.example/\r\n", ""),
        "/no-store" => answer("200 OK", "Cache-Control: max-age=9, No-Store\r\n", "x"),
        "/vary" => answer("200 OK", "Vary: *\r\n", "x"),
        _ => answer("200 OK", "Cache-Control: no-cache, max-age=0\r\n", "x"),
    })
    .await;
    let client = local_client();
    for (path, asked) in
        [("/error", 2), ("/elsewhere", 2), ("/no-store", 2), ("/vary", 2), ("/no-cache", 1)]
    {
        let before = server.accepted();
        for _ in 0..2 {
            let _ = fetch(&client, &server.url(path)).await;
        }
        assert_eq!(server.accepted() - before, asked, "{path}");
    }
}

#[tokio::test]
async fn many_fetches_run_concurrently_within_the_limit_per_host() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let barrier = Arc::new(Barrier::new(4));
    let server = WebServer::raw({
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        move |mut stream| {
            let (now, most, barrier) = (Arc::clone(&now), Arc::clone(&most), Arc::clone(&barrier));
            async move {
                let head = read_head(&mut stream).await?;
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // Answers only after four requests have arrived.
                barrier.wait().await;
                now.fetch_sub(1, Ordering::SeqCst);
                stream.write_all(&text_page(path_of(&head))).await
            }
        }
    })
    .await;
    let client = local_client_with(|limits| limits.max_at_once_per_host = 4);
    let mut fetches = tokio::task::JoinSet::new();
    for index in 0..64 {
        let (client, path) = (client.clone(), format!("/{index}"));
        let url = server.url(&path);
        fetches.spawn(async move { (fetch_text(&client, &url).await, path) });
    }
    while let Some(fetched) = fetches.join_next().await {
        let (text, path) = fetched.unwrap();
        assert_eq!(text, path);
    }
    assert_eq!((server.accepted(), most.load(Ordering::SeqCst)), (64, 4));
}

/// A server that reports when a request arrives and when the client disconnects.
async fn watching(begin: &'static str) -> (WebServer, mpsc::UnboundedReceiver<&'static str>) {
    let (sender, reports) = mpsc::unbounded_channel();
    let server = WebServer::raw(move |mut stream| {
        let sender = sender.clone();
        async move {
            read_head(&mut stream).await?;
            stream.write_all(begin.as_bytes()).await?;
            let _ = sender.send("asked");
            let ended = stream.read(&mut [0; 1]).await;
            assert!(matches!(ended, Ok(0) | Err(_)));
            let _ = sender.send("disconnected");
            Ok(())
        }
    })
    .await;
    (server, reports)
}

#[tokio::test]
async fn a_cancelled_fetch_ends_and_disconnects_at_every_stage() {
    for begin in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\nsome"] {
        let (server, mut reports) = watching(begin).await;
        let cancel = CancellationToken::new();
        let request = FetchRequest::get(parse_web_url(&server.url("/")).unwrap(), "*/*");
        let client = local_client();
        let fetching = tokio::spawn({
            let (client, cancel) = (client.clone(), cancel.clone());
            async move { client.fetch(request, &cancel).await }
        });
        assert_eq!(reports.recv().await, Some("asked"));
        cancel.cancel();
        assert_eq!(fetching.await.unwrap(), Err(FetchError::Cancelled));
        assert_eq!(reports.recv().await, Some("disconnected"));
    }
}

#[tokio::test]
async fn a_fetch_that_was_cancelled_before_its_start_makes_no_connection() {
    let server = WebServer::sending(text_page("x")).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let request = FetchRequest::get(parse_web_url(&server.url("/")).unwrap(), "*/*");
    assert_eq!(local_client().fetch(request, &cancel).await, Err(FetchError::Cancelled));
    assert_eq!(server.accepted(), 0);
}

/// A resolver that reports each lookup and never answers.
#[derive(Debug)]
struct SilentLookup(mpsc::UnboundedSender<String>);

#[async_trait]
impl NameLookup for SilentLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.0.send(name.to_owned()).unwrap();
        std::future::pending().await
    }
}

#[tokio::test]
async fn an_endless_lookup_can_be_cancelled_and_times_out() {
    let (sender, mut reports) = mpsc::unbounded_channel();
    let mut settings = WebSettings::default();
    settings.limits.connect = Duration::from_secs(1);
    let client = WebClient::with_lookup(settings, Arc::new(SilentLookup(sender)));
    let cancel = CancellationToken::new();
    let request = FetchRequest::get(parse_web_url("http://slow.test/").unwrap(), "*/*");
    let (fetched, asked) = tokio::join!(client.fetch(request, &cancel), async {
        let asked = reports.recv().await;
        cancel.cancel();
        asked
    });
    assert_eq!((fetched, asked), (Err(FetchError::Cancelled), Some("slow.test".to_owned())));
    let wanted = FetchError::Timeout {
        host: "slow.test".to_owned(),
        phase: TimedPhase::Connect,
        limit: Duration::from_secs(1),
    };
    assert_eq!(fetch(&client, "http://slow.test/").await, Err(wanted));
}

#[tokio::test]
async fn a_queued_fetch_can_be_cancelled_and_times_out() {
    let (server, mut reports) = watching("").await;
    let client = local_client_with(|limits| {
        limits.max_at_once_per_host = 1;
        limits.total = Duration::from_secs(2);
    });
    let url = server.url("/");
    let first = tokio::spawn({
        let (client, url) = (client.clone(), url.clone());
        async move { fetch(&client, &url).await }
    });
    assert_eq!(reports.recv().await, Some("asked"));
    let cancel = CancellationToken::new();
    let request = FetchRequest::get(parse_web_url(&url).unwrap(), "*/*");
    let (second, ()) = tokio::join!(client.fetch(request, &cancel), async { cancel.cancel() });
    assert_eq!(second, Err(FetchError::Cancelled));
    assert!(matches!(first.await.unwrap(), Err(FetchError::Timeout { .. })));
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn connections_are_reused_and_closed_with_the_client() {
    let closed = Arc::new(Notify::new());
    let server = WebServer::raw({
        let closed = Arc::clone(&closed);
        move |mut stream| {
            let closed = Arc::clone(&closed);
            async move {
                while let Ok(head) = read_head(&mut stream).await {
                    let body = path_of(&head);
                    let length = body.len();
                    let sent = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
                    stream.write_all(sent.as_bytes()).await?;
                }
                closed.notify_one();
                Ok(())
            }
        }
    })
    .await;
    let client = local_client();
    for path in ["/a", "/b", "/c"] {
        assert_eq!(fetch_text(&client, &server.url(path)).await, path);
    }
    assert_eq!(server.accepted(), 1);
    client.close();
    closed.notified().await;
    assert_eq!(fetch(&client, &server.url("/a")).await, Err(FetchError::Closed));
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn closing_ends_running_fetches() {
    let (server, mut reports) = watching("HTTP/1.1 200 OK\r\n\r\nsome").await;
    let client = local_client();
    let fetching = tokio::spawn({
        let (client, url) = (client.clone(), server.url("/"));
        async move { fetch(&client, &url).await }
    });
    assert_eq!(reports.recv().await, Some("asked"));
    client.close();
    assert_eq!(fetching.await.unwrap(), Err(FetchError::Closed));
    assert_eq!(reports.recv().await, Some("disconnected"));
}

#[tokio::test]
async fn dropping_a_client_closes_its_connections() {
    let (server, mut reports) = watching("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let client: WebClient = local_client();
    let fetched = fetch(&client, &server.url("/")).await;
    assert!(matches!(fetched, Ok(FetchOutcome::Page(_))), "{fetched:?}");
    assert_eq!(reports.recv().await, Some("asked"));
    drop(client);
    assert_eq!(reports.recv().await, Some("disconnected"));
}
