//! Splits lists into pages.

use toolwright_base::{SHOWN_NAME, shortened};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rmcp::{ErrorData, model::PaginatedRequestParams};

/// The number of entries of a page.
const PAGE: usize = 100;

/// One page of a list, and the cursor of the next one.
pub(super) struct ListPage<T> {
    pub(super) items: Vec<T>,
    pub(super) next: Option<String>,
}

impl<T> ListPage<T> {
    /// The requested page of a list. The cursor contains the unique name of the last entry, so entries that are
    /// added or removed between two requests do not shift the others.
    pub(super) fn of(
        mut items: Vec<T>,
        name: impl Fn(&T) -> &str,
        request: Option<&PaginatedRequestParams>,
    ) -> Result<Self, ErrorData> {
        let cursor = request.and_then(|it| it.cursor.as_deref());
        let from = cursor.map_or(Ok(0), |cursor| {
            let (before, last) = read_cursor(cursor).ok_or_else(|| unknown_cursor(cursor))?;
            let is_last = |it: &T| name(it) == last;
            // If the entry was removed, the entry after it has moved to its position.
            Ok(items.iter().position(is_last).map_or(before.saturating_sub(1), |it| it + 1))
        })?;
        let mut items = items.split_off(from.min(items.len()));
        let has_more = items.len() > PAGE;
        items.truncate(PAGE);
        let next = items.last().filter(|_| has_more);
        let next = next.map(|it| cursor_behind(from + items.len(), name(it)));
        Ok(Self { items, next })
    }
}

/// The cursor after an entry, with the number of entries up to it.
fn cursor_behind(entries: usize, last: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{entries}:{last}"))
}

fn read_cursor(cursor: &str) -> Option<(usize, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (entries, last) = text.split_once(':')?;
    Some((entries.parse().ok()?, last.to_owned()))
}

fn unknown_cursor(cursor: &str) -> ErrorData {
    let shown = shortened(cursor, SHOWN_NAME);
    let message =
        format!("`{shown}` is not a cursor of this list; use `nextCursor` as it was sent");
    ErrorData::invalid_params(message, None)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|it| format!("tool_{it:04}")).collect()
    }

    fn asked(cursor: Option<String>) -> PaginatedRequestParams {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        params
    }

    #[test]
    fn the_pages_contain_every_entry_once() {
        for count in [0, 1, 100, 101, 250] {
            let (mut all, mut cursor) = (Vec::new(), None);
            loop {
                let page = ListPage::of(names(count), |it| it, Some(&asked(cursor))).unwrap();
                assert!(page.items.len() <= PAGE);
                all.extend(page.items);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(all, names(count));
        }
    }

    #[test]
    fn added_and_removed_entries_do_not_shift_the_next_page() {
        let first = ListPage::of(names(250), |it| it, None).unwrap();
        let mut changed = names(250);
        changed.insert(0, "a_new_one".to_owned());
        let second = ListPage::of(changed, |it| it, Some(&asked(first.next.clone()))).unwrap();
        assert_eq!(second.items.first().unwrap(), "tool_0100");
        let mut changed = names(250);
        changed.remove(99);
        let second = ListPage::of(changed, |it| it, Some(&asked(first.next))).unwrap();
        assert_eq!(second.items.first().unwrap(), "tool_0100");
    }

    #[test]
    fn a_cursor_that_was_never_sent_is_refused() {
        for cursor in ["", "x", "💥", "MTAw", &"A".repeat(10_000)] {
            let page = ListPage::of(names(250), |it| it, Some(&asked(Some(cursor.to_owned()))));
            assert_eq!(page.err().unwrap().code.0, -32602, "{cursor}");
        }
    }
}
