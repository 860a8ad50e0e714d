//! The web client of a registry.

use std::{
    collections::HashSet,
    fmt,
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

use toolwright_base::shortened;

use parking_lot::Mutex;
use reqwest::{
    Method, RequestBuilder, Response,
    header::{
        ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, RETRY_AFTER,
        VARY,
    },
};
use tokio::{runtime::Handle, sync::Semaphore};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    CacheUse, CommandProxy, FetchError, FetchMethod, FetchOutcome, FetchRequest, FetchedPage,
    NameLookup, ProxyOrder, TimedPhase, WebLimits, WebSettings,
    body::read_body,
    cache::{PageCache, PageKey},
    causes::failure_of,
    charset::decode_text,
    command_proxy::ProxyParts,
    deadline::Deadline,
    decompress::ACCEPTED_ENCODINGS,
    guard::{AddressGuard, shown_place},
    redirects::{NextHop, is_redirect, next_hop, next_method},
    resolver::SystemLookup,
    routes::{Route, Routes},
    turns::Turns,
};

/// The limits for the excerpt of an error response: bytes read, time, and length of the excerpt.
const ERROR_BYTES: usize = 16 * 1024;
const ERROR_TIME: Duration = Duration::from_secs(2);
const EXCERPT_CHARACTERS: usize = 500;

/// Fetches pages. Clones share cache, connections and limits.
#[derive(Clone)]
pub struct WebClient {
    shared: Arc<SharedClient>,
}

struct SharedClient {
    limits: WebLimits,
    guard: AddressGuard,
    routes: Routes,
    turns: Turns,
    cache: Mutex<PageCache>,
    closed: CancellationToken,
    /// The state shared with the proxies of commands.
    for_proxies: ProxyParts,
}

/// The maximum number of simultaneous proxy connections of all commands of a registry.
const MAX_PROXIED: usize = 512;

impl fmt::Debug for WebClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebClient").field("limits", &self.shared.limits).finish_non_exhaustive()
    }
}

/// The answer to one request of a fetch.
struct HopAnswer {
    response: Response,
    route: Route,
}

impl WebClient {
    /// Creates a client. It reads and connects nothing before the first fetch.
    pub fn new(settings: WebSettings) -> Self {
        Self::with_lookup(settings, Arc::new(SystemLookup::default()))
    }

    /// Creates a client with its own name lookup.
    pub fn with_lookup(settings: WebSettings, lookup: Arc<dyn NameLookup>) -> Self {
        let limits = settings.limits;
        let guard = AddressGuard::new(&settings.allow);
        let closed = CancellationToken::new();
        let for_proxies = ProxyParts {
            guard: guard.clone(),
            lookup: Arc::clone(&lookup),
            proxies: settings.proxies.clone(),
            connect_time: limits.connect,
            places: Arc::new(Semaphore::new(MAX_PROXIED)),
            closed: closed.clone(),
        };
        let shared = SharedClient {
            limits,
            guard: guard.clone(),
            routes: Routes::new(settings, guard, lookup),
            turns: Turns::new(limits.max_at_once, limits.max_at_once_per_host),
            cache: Mutex::new(PageCache::new(limits.cache_age, limits.cache_bytes)),
            closed,
            for_proxies,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Fetches a page. Ends as soon as `cancel` is cancelled or the client is closed.
    pub async fn fetch(
        &self,
        request: FetchRequest,
        cancel: &CancellationToken,
    ) -> Result<FetchOutcome, FetchError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(FetchError::Cancelled),
            () = self.shared.closed.cancelled() => Err(FetchError::Closed),
            fetched = self.shared.fetch(request) => fetched,
        }
    }

    /// Serves the proxy of a command on a listener in the command's network namespace. A target must be in
    /// the order's host list, pass its judge, and have an address that pages may be fetched from.
    pub fn serve_proxy(
        &self,
        listener: TcpListener,
        order: ProxyOrder,
        runtime: &Handle,
    ) -> CommandProxy {
        let parts = self.shared.for_proxies.clone();
        CommandProxy::serve(std::future::ready(Ok(listener)), parts, order, runtime)
    }

    /// The same with a listener that is received over a socket.
    #[cfg(unix)]
    pub fn serve_proxy_behind(
        &self,
        link: std::os::unix::net::UnixStream,
        order: ProxyOrder,
        runtime: &Handle,
    ) -> CommandProxy {
        let parts = self.shared.for_proxies.clone();
        CommandProxy::serve(super::command_proxy::receive_listener(link), parts, order, runtime)
    }

    /// Ends all fetches, closes all connections and clears the cache.
    pub fn close(&self) {
        self.shared.closed.cancel();
        self.shared.routes.close();
        self.shared.cache.lock().clear();
    }
}

impl SharedClient {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchOutcome, FetchError> {
        self.guard.check_url(&request.url)?;
        let own_limit = self.limits.max_body_bytes;
        let max_bytes = request.max_bytes.map_or(own_limit, |it| it.min(own_limit));
        let key = cache_key(&request);
        if let Some(page) = key.as_ref().and_then(|it| self.cached(it, max_bytes)) {
            return Ok(FetchOutcome::Page(page));
        }
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let deadline = Deadline::new(self.limits.total, &shown_place(&request.url));
        let _turn = deadline.before_end(TimedPhase::Turn, self.turns.take(&host)).await?;
        // Another fetch may have cached it meanwhile.
        if let Some(page) = key.as_ref().and_then(|it| self.cached(it, max_bytes)) {
            return Ok(FetchOutcome::Page(page));
        }
        self.follow(request, key, max_bytes, &deadline).await
    }

    /// Follows redirects until there is a final response.
    async fn follow(
        &self,
        request: FetchRequest,
        key: Option<PageKey>,
        max_bytes: usize,
        deadline: &Deadline,
    ) -> Result<FetchOutcome, FetchError> {
        let mut url = request.url.clone();
        let mut method = request.method.clone();
        let mut seen = HashSet::new();
        loop {
            let hops = seen.len();
            seen.insert(PageKey::new(&url, ""));
            let HopAnswer { response, route } =
                self.send(&url, &method, &request, deadline).await?;
            let status = response.status();
            if is_redirect(status) {
                let target = match next_hop(&url, status, response.headers())? {
                    NextHop::Follow(target) => target,
                    NextHop::GiveBack(redirect) => {
                        self.check_target(&url, &redirect.to)?;
                        return Ok(FetchOutcome::CrossHostRedirect(redirect));
                    }
                };
                self.check_target(&url, &target)?;
                let limit = self.limits.max_redirects;
                if hops >= limit {
                    let error = FetchError::TooManyRedirects {
                        url: request.url.into(),
                        last: target.into(),
                        limit,
                    };
                    return Err(error);
                }
                method = next_method(method, status);
                let is_circle =
                    method == FetchMethod::Get && seen.contains(&PageKey::new(&target, ""));
                if is_circle {
                    return Err(FetchError::RedirectLoop {
                        url: request.url.into(),
                        back_to: target.into(),
                    });
                }
                url = target;
                continue;
            }
            if !status.is_success() {
                return Err(self.http_error(url, response, &route, deadline).await);
            }
            let content_type = header_text(response.headers(), &CONTENT_TYPE);
            let may_keep = may_be_kept(response.headers());
            let body = read_body(response, max_bytes, &route, &self.limits, deadline).await?;
            let page = FetchedPage {
                url,
                status: status.as_u16(),
                content_type,
                body: body.bytes,
                was_cut: body.was_cut,
                from_cache: false,
                hops,
            };
            if let Some(key) = key.filter(|_| may_keep) {
                self.cache.lock().put(key, page.clone(), Instant::now());
            }
            return Ok(FetchOutcome::Page(page));
        }
    }

    fn check_target(&self, from: &Url, target: &Url) -> Result<(), FetchError> {
        self.guard.check_url(target).map_err(|refusal| FetchError::RefusedRedirect {
            from: from.to_string(),
            refusal: Box::new(refusal),
        })
    }

    /// Sends one request and waits for the response headers.
    async fn send(
        &self,
        url: &Url,
        method: &FetchMethod,
        request: &FetchRequest,
        deadline: &Deadline,
    ) -> Result<HopAnswer, FetchError> {
        let phase = TimedPhase::Connect;
        let route = deadline.before_end(phase, self.routes.to(url)).await??;
        let built = build_request(&route, url, method, request)?;
        // The library enforces the connect timeout itself; the server's time to respond comes on top.
        let limit = self.limits.connect + self.limits.headers;
        let sent = deadline.within(TimedPhase::Headers, limit, built.send()).await?;
        let place = shown_place(url);
        let response = sent.map_err(|err| failure_of(&err, &place, &route, &self.limits))?;
        Ok(HopAnswer { response, route })
    }

    async fn http_error(
        &self,
        url: Url,
        response: Response,
        route: &Route,
        deadline: &Deadline,
    ) -> FetchError {
        let status = response.status();
        let content_type = header_text(response.headers(), &CONTENT_TYPE);
        let retry_after = header_text(response.headers(), &RETRY_AFTER);
        let reading = read_body(response, ERROR_BYTES, route, &self.limits, deadline);
        let body = deadline.within(TimedPhase::Body, ERROR_TIME, reading).await;
        // The status is reported even if the body cannot be read.
        let excerpt = match body {
            Ok(Ok(body)) => decode_text(&body.bytes, content_type.as_deref()).0,
            Ok(Err(_)) | Err(_) => String::new(),
        };
        FetchError::Http {
            url: url.into(),
            status: status.as_u16(),
            reason: status.canonical_reason().unwrap_or_default().to_owned(),
            retry_after: retry_after.filter(|it| it.len() <= 100),
            excerpt: shortened(&excerpt, EXCERPT_CHARACTERS).into_owned(),
        }
    }

    fn cached(&self, key: &PageKey, max_bytes: usize) -> Option<FetchedPage> {
        self.cache.lock().get(key, max_bytes, Instant::now())
    }
}

/// The cache key of a request; `None` if its response must not be shared.
fn cache_key(request: &FetchRequest) -> Option<PageKey> {
    let is_common = request.cache == CacheUse::Allowed
        && request.method == FetchMethod::Get
        && request.headers.is_empty();
    is_common.then(|| PageKey::new(&request.url, &request.accept))
}

fn build_request(
    route: &Route,
    url: &Url,
    method: &FetchMethod,
    request: &FetchRequest,
) -> Result<RequestBuilder, FetchError> {
    let mut sent_to = url.clone();
    sent_to.set_fragment(None);
    let mut headers = HeaderMap::new();
    let mut add = |name: &str, value: &str| {
        let bad = |cause: String| FetchError::BadUrl { url: url.to_string(), cause };
        let unusable = || bad(format!("the header `{name}` cannot be sent"));
        let name: HeaderName = name.parse().map_err(|_| unusable())?;
        headers.append(name, value.parse().map_err(|_| unusable())?);
        Ok::<(), FetchError>(())
    };
    add(ACCEPT.as_str(), &request.accept)?;
    add(ACCEPT_ENCODING.as_str(), ACCEPTED_ENCODINGS)?;
    // A redirect may lead to another port. Credentials for one origin must not be sent to another.
    if url.origin() == request.url.origin() {
        for (name, value) in &request.headers {
            add(name, value)?;
        }
    }
    Ok(match method {
        FetchMethod::Get => route.client.request(Method::GET, sent_to).headers(headers),
        FetchMethod::Post(json) => {
            add(CONTENT_TYPE.as_str(), "application/json")?;
            route.client.request(Method::POST, sent_to).headers(headers).body(json.clone())
        }
        FetchMethod::Put(json) => {
            add(CONTENT_TYPE.as_str(), "application/json")?;
            route.client.request(Method::PUT, sent_to).headers(headers).body(json.clone())
        }
    })
}

/// Whether a response may be cached. Responses that must be revalidated are cached as well, because a model
/// asks for the same page several times within minutes.
fn may_be_kept(headers: &HeaderMap) -> bool {
    let has = |name: &HeaderName, word: &str| {
        let mut values = headers.get_all(name).iter();
        values.any(|it| {
            let text = String::from_utf8_lossy(it.as_bytes()).to_ascii_lowercase();
            text.split(',').any(|part| part.trim() == word)
        })
    };
    !has(&CACHE_CONTROL, "no-store") && !has(&VARY, "*")
}

fn header_text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}
