//! Servers on loopback with arbitrary answers, for tests of the web client.

use std::{
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use toolwright_web::{
    FetchError, FetchOutcome, FetchRequest, FetchedPage, WebClient, WebLimits, WebSettings,
    parse_web_url,
};

/// A server that counts its connections. It ends when this is dropped.
pub(crate) struct WebServer {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl WebServer {
    /// A server on a free port of `127.0.0.1`. `handle` gets the stream of each connection.
    pub(crate) async fn raw<F, Served>(handle: F) -> Self
    where
        F: Fn(TcpStream) -> Served + Send + 'static,
        Served: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self::raw_at("127.0.0.1:0".parse().unwrap(), handle).await.unwrap()
    }

    pub(crate) async fn raw_at<F, Served>(at: SocketAddr, handle: F) -> io::Result<Self>
    where
        F: Fn(TcpStream) -> Served + Send + 'static,
        Served: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind(at).await?;
        let address = listener.local_addr()?;
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        let serving = tokio::spawn(async move {
            let mut served = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                // Errors are ignored, because in many tests the client disconnects.
                served.spawn(handle(stream));
                while served.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, accepted, serving })
    }

    /// A server that reads the head of each request, sends the result of `answer` and closes the connection.
    pub(crate) async fn answering(
        answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        Self::raw(move |mut stream| {
            let answer = Arc::clone(&answer);
            async move {
                let head = read_head(&mut stream).await?;
                stream.write_all(&answer(&head)).await?;
                stream.shutdown().await
            }
        })
        .await
    }

    /// A server that answers every request with the same bytes.
    pub(crate) async fn sending(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::answering(move |_| bytes.clone()).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The number of accepted connections.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// Reads a request up to the empty line.
pub(crate) async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8(head).unwrap())
}

/// The path in the first line of a request.
pub(crate) fn path_of(head: &str) -> &str {
    head.split(' ').nth(1).unwrap()
}

/// A complete answer with a `Content-Length`.
pub(crate) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

pub(crate) fn text_page(body: &str) -> Vec<u8> {
    answer("200 OK", "Content-Type: text/plain\r\n", body)
}

/// A client that may connect to this machine.
pub(crate) fn local_client() -> WebClient {
    local_client_with(|_| {})
}

pub(crate) fn local_client_with(change: impl FnOnce(&mut WebLimits)) -> WebClient {
    let mut settings = settings_allowing(&["127.0.0.0/8"]);
    change(&mut settings.limits);
    WebClient::new(settings)
}

pub(crate) fn settings_allowing(allow: &[&str]) -> WebSettings {
    let mut settings = WebSettings::default();
    settings.allow = allow.iter().map(|it| it.parse().unwrap()).collect();
    settings
}

pub(crate) async fn fetch(client: &WebClient, url: &str) -> Result<FetchOutcome, FetchError> {
    let request = FetchRequest::get(parse_web_url(url)?, "*/*");
    client.fetch(request, &CancellationToken::new()).await
}

pub(crate) async fn fetch_page(client: &WebClient, url: &str) -> FetchedPage {
    match fetch(client, url).await.unwrap() {
        FetchOutcome::Page(page) => page,
        other @ FetchOutcome::CrossHostRedirect(_) => unreachable!("{other:?}"),
    }
}

pub(crate) async fn fetch_text(client: &WebClient, url: &str) -> String {
    fetch_page(client, url).await.text().0
}

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}
