//! The cache of recently fetched pages.

use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use lru::LruCache;
use url::Url;

use super::FetchedPage;

/// The maximum number of cached pages.
const MAX_PAGES: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();
/// The estimated memory of a page in addition to its body, in bytes.
const PAGE_COST: usize = 1_024;

/// The key of a cached page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PageKey {
    url: String,
    accept: String,
}

impl PageKey {
    /// The key for a URL. Its fragment is ignored, because it is not sent to the server.
    pub(super) fn new(url: &Url, accept: &str) -> Self {
        let mut url = url.clone();
        url.set_fragment(None);
        Self { url: url.into(), accept: accept.to_owned() }
    }

    fn cost(&self, page: &FetchedPage) -> usize {
        PAGE_COST + self.url.len() + self.accept.len() + page.body.len()
    }
}

struct KeptPage {
    page: FetchedPage,
    since: Instant,
}

/// Pages by request. The least recently used page is removed first.
pub(super) struct PageCache {
    pages: LruCache<PageKey, KeptPage>,
    age: Duration,
    max_bytes: usize,
    bytes: usize,
}

impl PageCache {
    pub(super) fn new(age: Duration, max_bytes: usize) -> Self {
        Self { pages: LruCache::new(MAX_PAGES), age, max_bytes, bytes: 0 }
    }

    /// A page that is not too old and contains at least the first `max_bytes` of its body, or the whole body.
    pub(super) fn get(
        &mut self,
        key: &PageKey,
        max_bytes: usize,
        now: Instant,
    ) -> Option<FetchedPage> {
        let kept = self.pages.get(key)?;
        if now.saturating_duration_since(kept.since) >= self.age {
            self.remove(key);
            return None;
        }
        let mut page = kept.page.clone();
        if page.was_cut && page.body.len() < max_bytes {
            return None;
        }
        page.was_cut |= page.body.len() > max_bytes;
        page.body.truncate(max_bytes);
        page.from_cache = true;
        Some(page)
    }

    /// Stores a page, unless it is larger than a quarter of the cache.
    pub(super) fn put(&mut self, key: PageKey, page: FetchedPage, now: Instant) {
        self.remove(&key);
        let cost = key.cost(&page);
        if cost > self.max_bytes / 4 || self.age.is_zero() {
            return;
        }
        while self.bytes + cost > self.max_bytes {
            let Some((oldest, kept)) = self.pages.pop_lru() else { break };
            self.bytes -= oldest.cost(&kept.page);
        }
        self.bytes += cost;
        if let Some((oldest, kept)) = self.pages.push(key, KeptPage { page, since: now }) {
            self.bytes -= oldest.cost(&kept.page);
        }
    }

    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.bytes = 0;
    }

    fn remove(&mut self, key: &PageKey) {
        if let Some(kept) = self.pages.pop(key) {
            self.bytes -= key.cost(&kept.page);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use bytes::Bytes;
    use pretty_assertions::assert_eq;

    use super::*;

    fn page(length: usize) -> FetchedPage {
        FetchedPage {
            url: Url::parse("http://x/").unwrap(),
            status: 200,
            content_type: None,
            body: Bytes::from(vec![b'x'; length]),
            was_cut: false,
            from_cache: false,
            hops: 0,
        }
    }

    fn key(path: &str) -> PageKey {
        PageKey::new(&Url::parse("http://x/").unwrap().join(path).unwrap(), "*/*")
    }

    #[test]
    fn a_page_expires_after_its_maximum_age() {
        let moment = Duration::from_millis(1);
        let almost = Duration::from_mins(15);
        let age = almost + moment;
        let mut cache = PageCache::new(age, 1 << 20);
        let start = Instant::now();
        cache.put(key("a"), page(9), start);
        let kept = cache.get(&key("a#part"), 100, start + almost).unwrap();
        assert_eq!(kept, FetchedPage { from_cache: true, ..page(9) });
        assert_eq!(cache.get(&PageKey::new(&page(0).url, "text/html"), 100, start), None);
        assert_eq!(cache.get(&key("a"), 100, start + age), None);
        assert_eq!(cache.bytes, 0);
    }

    #[test]
    fn a_cut_page_serves_only_requests_for_at_most_its_length() {
        let mut cache = PageCache::new(Duration::from_mins(15), 1 << 20);
        let now = Instant::now();
        cache.put(key("a"), FetchedPage { was_cut: true, ..page(50) }, now);
        assert_eq!(cache.get(&key("a"), 51, now), None);
        assert!(cache.get(&key("a"), 50, now).unwrap().was_cut);
        cache.put(key("b"), page(50), now);
        assert!(!cache.get(&key("b"), 50, now).unwrap().was_cut);
        let less = cache.get(&key("b"), 20, now).unwrap();
        assert_eq!((less.body.len(), less.was_cut), (20, true));
    }

    #[test]
    fn size_and_count_are_bounded_and_the_least_recently_used_page_is_removed() {
        let mut cache = PageCache::new(Duration::from_mins(15), 100_000);
        let now = Instant::now();
        for index in 0..5 {
            cache.put(key(&index.to_string()), page(20_000), now);
            cache.get(&key("0"), 1, now);
        }
        assert!(cache.bytes <= 100_000);
        assert!(cache.get(&key("0"), 1, now).is_some() && cache.get(&key("1"), 1, now).is_none());
        cache.put(key("huge"), page(30_000), now);
        assert_eq!(cache.get(&key("huge"), 1, now), None);
        let mut many = PageCache::new(Duration::from_mins(15), usize::MAX);
        for index in 0..2_000 {
            many.put(key(&index.to_string()), page(1), now);
        }
        let counted: usize = many.pages.iter().map(|(key, kept)| key.cost(&kept.page)).sum();
        assert_eq!((many.pages.len(), many.bytes), (1_000, counted));
        many.clear();
        assert_eq!((many.pages.len(), many.bytes), (0, 0));
    }
}
