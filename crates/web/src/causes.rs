//! Determines why the HTTP library failed. The library wraps errors several times, and only the innermost
//! names the cause.

use std::{error::Error, io};

use rustls::CertificateError;

use super::{FetchError, TimedPhase, WebLimits, routes::Route};

/// The error of a request without a response, or of a body that broke off.
pub(super) fn failure_of(
    error: &reqwest::Error,
    host: &str,
    route: &Route,
    limits: &WebLimits,
) -> FetchError {
    let host = host.to_owned();
    if let Some(ours) = find::<FetchError>(error) {
        return ours.clone();
    }
    if let Some(cause) = find::<rustls::Error>(error) {
        let (cause, advice) = tls_words(cause, &route.problems);
        return FetchError::Tls { host, cause, advice };
    }
    if error.is_timeout() && error.is_connect() {
        return FetchError::Timeout { host, phase: TimedPhase::Connect, limit: limits.connect };
    }
    let cause = innermost(error);
    match &route.proxy {
        Some(proxy) if error.is_connect() => {
            FetchError::Proxy { host, cause, proxy: proxy.clone() }
        }
        None if error.is_connect() => FetchError::Connect { host, cause },
        _ => FetchError::Protocol { host, cause },
    }
}

/// The cause of a TLS error, and advice for a person.
fn tls_words(error: &rustls::Error, problems: &[String]) -> (String, String) {
    let (cause, mut advice) = match error {
        rustls::Error::InvalidCertificate(cause) => match cause {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                ("its certificate has expired".to_owned(), "")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                ("its certificate is not valid yet".to_owned(), "check the clock of this machine")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                ("its certificate is for another name".to_owned(), "")
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => (
                "its certificate is not signed by an authority that is trusted here".to_owned(),
                "name a PEM file with the authority's certificate in `NODE_EXTRA_CA_CERTS`",
            ),
            CertificateError::Revoked => ("its certificate was revoked".to_owned(), ""),
            // A self-signed certificate that is its own authority.
            CertificateError::Other(_) => (
                format!("its certificate is not valid: {cause}"),
                "name a PEM file with the authority's certificate in `NODE_EXTRA_CA_CERTS`",
            ),
            other => (format!("its certificate is not valid: {other}"), ""),
        },
        rustls::Error::InvalidMessage(_) => {
            ("the server does not speak TLS on this port".to_owned(), "")
        }
        other => (other.to_string(), ""),
    };
    let problems = problems.join("; ");
    if advice.is_empty() && !problems.is_empty() {
        advice = "check the files of certificates";
    }
    let advice =
        if problems.is_empty() { advice.to_owned() } else { format!("{advice} ({problems})") };
    (cause, advice)
}

/// The first error of a type in the chain of causes.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|it| it.downcast_ref::<E>())
}

/// The text of the last cause, which is the most precise.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let has_ended = |it: &io::Error| it.kind() == io::ErrorKind::UnexpectedEof;
    if find::<io::Error>(error).is_some_and(has_ended) {
        return "the connection was closed too early".to_owned();
    }
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// An error and its causes. `io::Error::source` skips the error that it wraps, so `get_ref` is used.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |it| {
        let it: &'a (dyn Error + 'static) = *it;
        let carried = it.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match carried {
            Some(carried) => Some(carried as &(dyn Error + 'static)),
            None => it.source(),
        }
    })
}
