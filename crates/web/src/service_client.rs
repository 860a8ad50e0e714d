//! A client for a service that the host configures, such as an MCP server. The service may be anywhere, even
//! on this machine, so no address is refused. Trusted certificates and proxies are the same as for pages.

use std::time::Duration;

use reqwest::{Client, Proxy, redirect};
use url::Url;

use super::{WebSettings, proxy::proxy_url, tls};

/// The maximum number of redirects, which must stay on the same host.
const MAX_REDIRECTS: usize = 5;
/// How often an idle connection is probed, so that a vanished server is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Creates a client for the service at a URL. Reads certificates.
pub async fn service_client(settings: &WebSettings, url: &Url) -> Result<Client, String> {
    let extra = settings.extra_authorities.clone();
    let set_up = tokio::task::spawn_blocking(move || tls::set_up(&extra)).await;
    let tls = set_up.map_err(|err| err.to_string())??;
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls.config)
        .redirect(same_host())
        .referer(false)
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .user_agent(&settings.user_agent)
        .connect_timeout(settings.limits.connect)
        .tcp_keepalive(KEEP_ALIVE);
    if let Some(proxy) = settings.proxies.for_url(url) {
        let parsed =
            proxy_url(proxy).map_err(|cause| format!("the proxy cannot be used: {cause}"))?;
        // The library's message would contain the password.
        let unusable = |_| "the address of the proxy cannot be used".to_owned();
        builder = builder.proxy(Proxy::all(parsed).map_err(unusable)?);
    }
    builder.build().map_err(|err| causes_in_words(&err))
}

/// Follows redirects only on the same origin, because request headers may contain credentials for it.
fn same_host() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let is_same = attempt.previous().iter().all(|it| it.origin() == attempt.url().origin());
        if !is_same || attempt.previous().len() > MAX_REDIRECTS {
            attempt.stop()
        } else {
            attempt.follow()
        }
    })
}

/// An error with all its causes. The library's text names only the first.
pub fn causes_in_words(error: &reqwest::Error) -> String {
    let mut words = vec![error.to_string()];
    let mut cause = std::error::Error::source(error);
    while let Some(it) = cause {
        let text = it.to_string();
        if !words.iter().any(|known| known.contains(&text)) {
            words.push(text);
        }
        cause = it.source();
    }
    words.join(": ")
}
