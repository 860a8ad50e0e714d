//! Targets of links, as absolute URLs.

use url::Url;

/// The longest URL that is written. Longer ones are usually data.
const MAX_ADDRESS_BYTES: usize = 2_000;

/// Resolves the targets of links.
#[derive(Debug)]
pub(super) struct LinkResolver {
    base: Url,
    has_own_base: bool,
}

impl LinkResolver {
    pub(super) fn new(address: &Url) -> Self {
        let mut base = address.clone();
        // Credentials must not appear in links.
        let _ = base.set_username("");
        let _ = base.set_password(None);
        Self { base, has_own_base: false }
    }

    /// Sets the base from `<base href>`. Only the first one counts.
    pub(super) fn set_base(&mut self, href: &str) {
        if self.has_own_base {
            return;
        }
        if let Ok(base) = self.base.join(href)
            && matches!(base.scheme(), "http" | "https")
            && base.as_str().len() <= MAX_ADDRESS_BYTES
        {
            self.base = base;
            self.has_own_base = true;
        }
    }

    /// The target of a link; `None` for links within the page and for unsupported or invalid URLs.
    pub(super) fn resolve(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') || href.len() > MAX_ADDRESS_BYTES {
            return None;
        }
        let address = self.base.join(href).ok()?;
        if !matches!(address.scheme(), "http" | "https" | "mailto" | "ftp" | "tel") {
            return None;
        }
        let address = String::from(address);
        if address.len() > MAX_ADDRESS_BYTES {
            return None;
        }
        // Parentheses would end the link in Markdown.
        let has_bracket = address.contains(['(', ')']);
        Some(if has_bracket { address.replace('(', "%28").replace(')', "%29") } else { address })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn links_are_absolute() {
        let page = Url::parse("https://me:pw@docs.rs/a/b?c#d").unwrap();
        let mut links = LinkResolver::new(&page);
        for (href, wanted) in [
            ("x", Some("https://docs.rs/a/x")),
            (" /x y\n", Some("https://docs.rs/x%20y")),
            ("//other.org", Some("https://other.org/")),
            ("../../..", Some("https://docs.rs/")),
            ("?q=(1)", Some("https://docs.rs/a/b?q=%281%29")),
            ("mailto:a@b.c", Some("mailto:a@b.c")),
            ("#top", None),
            ("", None),
            ("javascript:alert(1)", None),
            ("data:text/plain,x", None),
            ("http://[::1", None),
        ] {
            assert_eq!(links.resolve(href).as_deref(), wanted, "{href}");
        }
        links.set_base("javascript:x");
        links.set_base("/z/");
        links.set_base("/w/");
        assert_eq!(links.resolve("x").unwrap(), "https://docs.rs/z/x");
    }
}
