//! Determines the target of a redirect, and whether it is followed.

use reqwest::{
    StatusCode,
    header::{HeaderMap, LOCATION},
};
use url::Url;

use super::{CrossHostRedirect, FetchError, FetchMethod, guard::comparable_name};

/// What to do with a redirect.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextHop {
    /// Follow it.
    Follow(Url),
    /// Return it to the caller.
    GiveBack(CrossHostRedirect),
}

/// Whether a status redirects to the URL in `Location`. 300 and 304 do not.
pub(super) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// The target of a redirect from `current`. It is not checked yet.
pub(super) fn next_hop(
    current: &Url,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<NextHop, FetchError> {
    let bad = |cause: String| FetchError::BadRedirect {
        url: current.to_string(),
        status: status.as_u16(),
        cause,
    };
    let mut locations = headers.get_all(LOCATION).iter().map(|it| it.as_bytes().trim_ascii());
    let location = locations.next().unwrap_or_default();
    if location.is_empty() {
        return Err(bad("does not say where to".to_owned()));
    }
    if locations.any(|it| it != location) {
        return Err(bad("names several targets".to_owned()));
    }
    // Headers are bytes. Unescaped URLs in them are UTF-8 nowadays.
    let location = String::from_utf8_lossy(location);
    let mut target = current
        .join(&location)
        .map_err(|err| bad(format!("its target `{location}` cannot be read: {err}")))?;
    if target.fragment().is_none() {
        target.set_fragment(current.fragment());
    }
    if !matches!(target.scheme(), "http" | "https") {
        return Err(bad(format!("its target `{location}` is not on the web")));
    }
    let name = |url: &Url| comparable_name(url.host_str().unwrap_or_default());
    let is_same_host = name(current) == name(&target);
    let is_downgrade = current.scheme() == "https" && target.scheme() == "http";
    if is_same_host && !is_downgrade {
        return Ok(NextHop::Follow(target));
    }
    Ok(NextHop::GiveBack(CrossHostRedirect {
        from: current.clone(),
        to: target,
        status: status.as_u16(),
    }))
}

/// The method of the request to a redirect's target. 307 and 308 repeat the method, and so do 301 and 302 for
/// a PUT; otherwise it becomes GET, as in browsers.
pub(super) fn next_method(method: FetchMethod, status: StatusCode) -> FetchMethod {
    match (status.as_u16(), &method) {
        (307 | 308, _) | (301 | 302, FetchMethod::Put(_)) => method,
        _ => FetchMethod::Get,
    }
}
