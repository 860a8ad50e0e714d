//! The HTTP/1.1 proxy protocol: CONNECT, and requests for absolute `http://` URLs.
//!
//! hyper parses and rewrites the requests, one at a time, and each is checked. Every request gets its own
//! connection to its server, so data after a request cannot reach a server that was not checked for it.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri, Version,
    header::{CONNECTION, CONTENT_TYPE, EXPECT, HOST},
};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    body::{Body, Frame, Incoming, SizeHint},
    client::conn::http1 as client_http,
    ext::ReasonPhrase,
    server::conn::http1 as server_http,
    service::service_fn,
    upgrade::OnUpgrade,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::{io::copy_bidirectional, task::JoinHandle};

use super::{
    activity::{ProxyActivity, ProxyStream},
    connecting::ProxyRules,
    refusal::ProxyRefusal,
    target::ProxyTarget,
};

/// The maximum size of the head of a request or response, and the maximum number of headers.
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 200;

/// Headers that apply to one hop only.
const HOP_HEADERS: [&str; 9] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

type PassedAnswer = BoxBody<Bytes, hyper::Error>;

/// A tunnel that starts once the response to CONNECT was sent.
struct PromisedTunnel {
    client: OnUpgrade,
    server: ProxyStream,
}

/// Answers the requests of a client until it disconnects or opens a tunnel, then serves the tunnel.
pub(super) async fn serve_requests(
    client: ProxyStream,
    rules: &ProxyRules,
    activity: &Arc<ProxyActivity>,
    head_time: Duration,
) {
    let promised = Mutex::new(None);
    let answer = |request: Request<Incoming>| {
        let promised = &promised;
        async move {
            let answered = if request.method() == Method::CONNECT {
                open_tunnel(request, rules, activity).await.map(|tunnel| {
                    *promised.lock() = Some(tunnel);
                    Response::new(empty())
                })
            } else {
                pass_on(request, rules, activity).await
            };
            Ok::<_, Infallible>(answered.unwrap_or_else(|refusal| refused(&refusal)))
        }
    };
    let mut http = server_http::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_time);
    http.max_header_size(MAX_HEAD_BYTES).max_buf_size(2 * MAX_HEAD_BYTES).max_headers(MAX_HEADERS);
    http.preserve_header_case(true);
    let serving = http.serve_connection(TokioIo::new(client), service_fn(answer)).with_upgrades();
    // hyper has already answered an invalid request if that was possible.
    let _ = serving.await;
    let tunnel = promised.lock().take();
    let Some(PromisedTunnel { client, mut server }) = tunnel else { return };
    if let Ok(client) = client.await {
        // Either side may disconnect.
        let _ = copy_bidirectional(&mut TokioIo::new(client), &mut server).await;
    }
}

async fn open_tunnel(
    mut request: Request<Incoming>,
    rules: &ProxyRules,
    activity: &Arc<ProxyActivity>,
) -> Result<PromisedTunnel, ProxyRefusal> {
    let authority = request.uri().authority().map_or("", |it| it.as_str());
    let target = ProxyTarget::parse(authority)
        .ok_or_else(|| bad_request("CONNECT needs a host and a port, such as `example.com:443`"))?;
    let server = rules.connect(&target, "https").await?;
    let server = ProxyStream::new(server, activity);
    Ok(PromisedTunnel { client: hyper::upgrade::on(&mut request), server })
}

/// Forwards a request, and returns its response.
async fn pass_on(
    request: Request<Incoming>,
    rules: &ProxyRules,
    activity: &Arc<ProxyActivity>,
) -> Result<Response<PassedAnswer>, ProxyRefusal> {
    let (target, request) = outgoing(request)?;
    let server = rules.connect(&target, "http").await?;
    let server = TokioIo::new(ProxyStream::new(server, activity));
    let failed = |err: hyper::Error| {
        let words = format!("`{target}` gave no answer that can be read: {err}");
        ProxyRefusal::Unreachable(words, std::io::ErrorKind::InvalidData)
    };
    let mut http = client_http::Builder::new();
    http.preserve_header_case(true).max_buf_size(2 * MAX_HEAD_BYTES).max_headers(MAX_HEADERS);
    let (mut sender, connection) = http.handshake::<_, Incoming>(server).await.map_err(failed)?;
    let driver = ExchangeDriver(tokio::spawn(async move {
        // Errors are reported through the pending response.
        let _ = connection.await;
    }));
    let answer = sender.send_request(request).await.map_err(failed)?;
    let (mut parts, body) = answer.into_parts();
    remove_hop_headers(&mut parts.headers);
    // The HTTP version belongs to each connection separately.
    parts.version = Version::HTTP_11;
    Ok(Response::from_parts(parts, PassedBody { body, _driver: driver }.boxed()))
}

/// Rewrites the request for its server.
fn outgoing(request: Request<Incoming>) -> Result<(ProxyTarget, Request<Incoming>), ProxyRefusal> {
    let uri = request.uri();
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(bad_request("this is a proxy: ask for a whole URL, or use CONNECT"));
    };
    if !scheme.eq_ignore_ascii_case("http") {
        return Err(bad_request("only `http` URLs are passed on; use CONNECT for everything else"));
    }
    let port = authority.port_u16().unwrap_or(80);
    let target = ProxyTarget::new(authority.host(), port)
        .ok_or_else(|| bad_request("the URL has no host that can be reached"))?;
    let path = uri.path_and_query().map_or("/", |it| it.as_str());
    let path = if path.is_empty() { "/" } else { path };
    let path: Uri = path.parse().map_err(|_| bad_request("the path cannot be read"))?;
    let host = if port == 80 { target.host_text() } else { target.to_string() };
    let host = HeaderValue::from_str(&host).map_err(|_| bad_request("the host cannot be read"))?;
    let (mut parts, body) = request.into_parts();
    remove_hop_headers(&mut parts.headers);
    // hyper has already answered it.
    parts.headers.remove(EXPECT);
    // Always the checked host, whatever the client sent.
    parts.headers.insert(HOST, host);
    parts.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    parts.uri = path;
    parts.version = Version::HTTP_11;
    Ok((target, Request::from_parts(parts, body)))
}

fn remove_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .filter_map(|it| it.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_HEADERS {
        headers.remove(name);
    }
}

fn bad_request(words: &str) -> ProxyRefusal {
    ProxyRefusal::BadRequest(words.to_owned())
}

fn empty() -> PassedAnswer {
    Full::default().map_err(|never: Infallible| match never {}).boxed()
}

/// The response that explains a refusal.
fn refused(refusal: &ProxyRefusal) -> Response<PassedAnswer> {
    let text = format!("toolwright: {}\n", refusal.words());
    let body = Full::from(text).map_err(|never: Infallible| match never {}).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = refusal.status();
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    // Few programs show the body of a response to CONNECT, but many show its status line.
    if let Ok(reason) = ReasonPhrase::try_from(refusal.words().as_bytes()) {
        answer.extensions_mut().insert(reason);
    }
    answer
}

/// The task that transfers the data of a connection to a server. It ends with the response.
struct ExchangeDriver(JoinHandle<()>);

impl Drop for ExchangeDriver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of a server's response.
struct PassedBody {
    body: Incoming,
    _driver: ExchangeDriver,
}

impl Body for PassedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
