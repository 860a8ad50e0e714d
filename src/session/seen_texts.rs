//! Texts that models have seen, by content, so that "it changed" can be said with what changed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::ContentHash;

/// How many bytes of text one registry remembers; what was seen longest ago goes first.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The longest text that is remembered.
const MAX_TEXT_BYTES: usize = 256 * 1024;

/// The texts all sessions of a registry have seen. Forgetting one costs a diff, never an answer.
#[derive(Debug, Default)]
pub struct SeenTexts(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    texts: HashMap<ContentHash, (Arc<str>, u64)>,
    bytes: usize,
    clock: u64,
}

impl SeenTexts {
    /// Remembers a text under the hash of the bytes it was decoded from.
    pub fn remember(&self, hash: ContentHash, text: &str) {
        if text.len() > MAX_TEXT_BYTES {
            return;
        }
        let text: Arc<str> = text.into();
        let mut kept = self.lock();
        kept.clock += 1;
        let now = kept.clock;
        kept.bytes += text.len();
        if let Some((replaced, _)) = kept.texts.insert(hash, (text, now)) {
            kept.bytes -= replaced.len();
        }
        if kept.bytes > MAX_BYTES {
            kept.forget_the_older_half();
        }
    }

    /// The text with that hash, if it is still remembered.
    pub fn get(&self, hash: &ContentHash) -> Option<Arc<str>> {
        self.lock().texts.get(hash).map(|(text, _)| Arc::clone(text))
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Half at a time: finding the oldest means looking at all, which is too much for every read.
    fn forget_the_older_half(&mut self) {
        let mut ages: Vec<u64> = self.texts.values().map(|(_, seen)| *seen).collect();
        let middle = ages.len() / 2;
        let (_, median, _) = ages.select_nth_unstable(middle);
        let median = *median;
        self.texts.retain(|_, (_, seen)| *seen > median);
        self.bytes = self.texts.values().map(|(text, _)| text.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_longest_ago_is_forgotten_when_there_is_too_much() {
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
        let kept = texts.lock();
        assert_eq!(kept.bytes, kept.texts.len() * MAX_TEXT_BYTES);
        assert!(kept.bytes <= MAX_BYTES);
    }
}
