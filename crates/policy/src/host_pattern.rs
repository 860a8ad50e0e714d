//! Hosts of URLs, and patterns of them: `domain:docs.rs`, `domain:*.docs.rs`, `domain:*`.

/// A pattern of host names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostPattern {
    /// Every host.
    Any,
    /// Exactly this host.
    Exactly(String),
    /// Every subdomain of this host.
    Below(String),
}

impl HostPattern {
    /// Reads the text after `domain:`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let (rest, below) = match text.strip_prefix("*.") {
            Some(rest) => (rest, true),
            None => (text.as_str(), false),
        };
        if text == "*" {
            return Ok(Self::Any);
        }
        let is_host = !rest.is_empty()
            && rest.bytes().all(|it| it.is_ascii_alphanumeric() || b".-:[]".contains(&it));
        if !is_host {
            return Err(format!("`{text}` is not a host name; write `docs.rs` or `*.docs.rs`"));
        }
        Ok(if below { Self::Below(rest.to_owned()) } else { Self::Exactly(rest.to_owned()) })
    }

    /// True for hosts that the pattern names.
    pub(super) fn matches(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(name) => host == name,
            Self::Below(name) => is_below(host, name),
        }
    }

    /// Like [`Self::matches`], for a limit, which also applies to subdomains of its host.
    pub(super) fn limits(&self, host: &str) -> bool {
        match self {
            Self::Exactly(name) => host == name || is_below(host, name),
            Self::Any | Self::Below(_) => self.matches(host),
        }
    }
}

fn is_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|it| it.len() > 1 && it.ends_with('.'))
}

/// The host of an http or https URL, in lower case; `None` if it is not certain.
pub(super) fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    // Browsers treat `\` like `/`, so the host ends there.
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(bracketed) => format!("[{}]", bracketed.split_once(']')?.0),
        None => host.split(':').next().unwrap_or_default().to_owned(),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_plain = !host.is_empty()
        && host.bytes().all(|it| it.is_ascii_alphanumeric() || b".-_:[]".contains(&it));
    is_plain.then_some(host)
}
