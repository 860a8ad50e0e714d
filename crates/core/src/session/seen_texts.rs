//! Texts that models have seen, by the hash of their content. With them, an error about a changed file
//! can show the difference.

use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;

use super::ContentHash;

/// How many bytes of text one registry remembers. The text seen longest ago is dropped first.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The longest text that is remembered.
const MAX_TEXT_BYTES: usize = 256 * 1024;

/// The texts that the sessions of a registry have seen. If one is dropped, only a diff is lost.
#[derive(Debug, Default)]
pub struct SeenTexts(Mutex<RememberedTexts>);

#[derive(Debug)]
struct RememberedTexts {
    /// Bounded by the bytes of the texts, not by their number.
    by_hash: LruCache<ContentHash, Arc<str>>,
    bytes: usize,
}

impl Default for RememberedTexts {
    fn default() -> Self {
        Self { by_hash: LruCache::unbounded(), bytes: 0 }
    }
}

impl SeenTexts {
    /// Remembers a text under the hash of the bytes it was decoded from.
    pub fn remember(&self, hash: ContentHash, text: &str) {
        if text.len() > MAX_TEXT_BYTES {
            return;
        }
        let mut kept = self.0.lock();
        kept.bytes += text.len();
        if let Some(replaced) = kept.by_hash.put(hash, text.into()) {
            kept.bytes -= replaced.len();
        }
        while kept.bytes > MAX_BYTES
            && let Some((_, forgotten)) = kept.by_hash.pop_lru()
        {
            kept.bytes -= forgotten.len();
        }
    }

    /// The text with that hash, if it is still remembered.
    pub fn get(&self, hash: &ContentHash) -> Option<Arc<str>> {
        self.0.lock().by_hash.peek(hash).map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_seen_longest_ago_is_dropped_when_there_are_too_many_bytes() {
        let texts = SeenTexts::default();
        let hash = |number: usize| blake3::hash(&number.to_le_bytes());
        let longest = "x".repeat(MAX_TEXT_BYTES);
        let count = MAX_BYTES / MAX_TEXT_BYTES + 1;
        for number in 0..count {
            texts.remember(hash(number), &longest);
        }
        texts.remember(hash(count), &(longest.clone() + "x"));
        assert!(texts.get(&hash(0)).is_none());
        assert!(texts.get(&hash(count)).is_none());
        assert!(texts.get(&hash(count - 1)).is_some());
        let kept = texts.0.lock();
        assert_eq!(kept.bytes, kept.by_hash.len() * MAX_TEXT_BYTES);
        assert!(kept.bytes <= MAX_BYTES);
    }
}
