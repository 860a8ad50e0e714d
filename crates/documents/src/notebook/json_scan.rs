//! Scans JSON text without building values. Each value is a slice of the text, so that no file
//! takes more memory than it has bytes.

use std::{borrow::Cow, fmt, ops::ControlFlow};

use serde::{
    Deserialize, Deserializer as _,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Deserializer, value::RawValue};

use super::NotebookError;

/// How deep values may be nested. Programs that read the file later must not run out of stack.
const MAX_DEPTH: usize = 127;

/// Checks that the text is JSON and not nested too deeply. Returns its value without surrounding white
/// space.
pub(super) fn checked(text: &str) -> Result<&str, NotebookError> {
    check_depth(text)?;
    let value: &RawValue =
        serde_json::from_str(text).map_err(|err| NotebookError::Json(err.to_string()))?;
    Ok(value.get())
}

fn check_depth(text: &str) -> Result<(), NotebookError> {
    let (mut depth, mut in_string, mut at) = (0_usize, false, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            // An escaped character never ends the string.
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth > MAX_DEPTH {
            let before = text.get(..at).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
            let column = before.len() - before.rfind('\n').map_or(0, |it| it + 1);
            return Err(NotebookError::Json(format!(
                "recursion limit exceeded at line {line} column {column}"
            )));
        }
    }
    Ok(())
}

/// The range of a slice within its text.
pub(super) fn span(text: &str, part: &str) -> std::ops::Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

/// Calls `each` for the fields of an object, in order. Does nothing for other values.
pub(super) fn each_field<'a>(
    object: &'a str,
    each: &mut dyn FnMut(&str, &'a str) -> ControlFlow<()>,
) {
    if object.starts_with('{') {
        // The text was checked before, so the only possible error is that `each` stopped.
        let _stopped = Deserializer::from_str(object).deserialize_map(Fields(each));
    }
}

/// Calls `each` for the items of an array. Does nothing for other values.
pub(super) fn each_item<'a>(array: &'a str, each: &mut dyn FnMut(&'a str) -> ControlFlow<()>) {
    if array.starts_with('[') {
        let _stopped = Deserializer::from_str(array).deserialize_seq(Items(each));
    }
}

/// The field with this name; the last one if there are several.
pub(super) fn field<'a>(object: &'a str, wanted: &str) -> Option<&'a str> {
    let mut found = None;
    each_field(object, &mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
        ControlFlow::Continue(())
    });
    found
}

/// The beginning of a string: at most `limit` bytes of it, up to a whole character. `None` for other
/// values.
pub(super) fn string_beginning(value: &str, limit: usize) -> Option<Cow<'_, str>> {
    if !value.starts_with('"') {
        return None;
    }
    if value.len() <= limit {
        return decoded(value);
    }
    let mut end = 1;
    let bytes = value.as_bytes();
    while let Some(byte) = bytes.get(end).filter(|_| end < limit) {
        end += match (byte, bytes.get(end + 1)) {
            // Two such escapes are one character.
            (b'\\', Some(b'u')) if is_high_surrogate(bytes.get(end..).unwrap_or_default()) => 12,
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    let begun = value.get(..value.floor_char_boundary(end.min(value.len() - 1)))?;
    decoded(&format!("{begun}\"")).map(|it| Cow::Owned(it.into_owned()))
}

fn is_high_surrogate(escape: &[u8]) -> bool {
    let digit = |at| escape.get(at).map(u8::to_ascii_lowercase);
    digit(2) == Some(b'd') && matches!(digit(3), Some(b'8' | b'9' | b'a' | b'b'))
}

/// The text of a JSON string, without its quotes and escapes.
pub(super) fn decoded(value: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(value).ok().map(|it| it.0)
}

struct Fields<'f, 'a>(&'f mut dyn FnMut(&str, &'a str) -> ControlFlow<()>);

impl<'a> Visitor<'a> for Fields<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(Name)? {
            let value: &RawValue = map.next_value()?;
            if (self.0)(&name, value.get()).is_break() {
                break;
            }
        }
        Ok(())
    }
}

struct Items<'f, 'a>(&'f mut dyn FnMut(&'a str) -> ControlFlow<()>);

impl<'a> Visitor<'a> for Items<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(value) = items.next_element::<&RawValue>()? {
            if (self.0)(value.get()).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Reads the name of a field, without a copy if it has no escapes. A very long name with escapes is
/// cut, because no wanted name is that long.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(
            name.get(..name.floor_char_boundary(64 << 10)).unwrap_or_default().to_owned(),
        ))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn fields_and_items_are_slices_of_the_text() {
        let text = r#" {"a": [1, "x" , {}], "\u0062":null, "a" : {"c":"]"}} "#;
        let mut found = Vec::new();
        each_field(text.trim(), &mut |name, value| {
            found.push((name.to_owned(), value));
            ControlFlow::Continue(())
        });
        let wanted = [("a", r#"[1, "x" , {}]"#), ("b", "null"), ("a", r#"{"c":"]"}"#)];
        assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(field(text.trim(), "a"), Some(r#"{"c":"]"}"#));
        let mut items = Vec::new();
        each_item(r#"[1, "x" , {}]"#, &mut |item| {
            items.push(item);
            ControlFlow::Continue(())
        });
        assert_eq!(items, ["1", r#""x""#, "{}"]);
    }

    #[test]
    fn the_depth_limit_equals_that_of_serde_json() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for depth in [1, 126, 127, 128, 129] {
            let read = serde_json::from_str::<Value>(&nested(depth));
            assert_eq!(checked(&nested(depth)).is_ok(), read.is_ok(), "{depth}");
        }
        assert!(checked(&json!("[".repeat(500)).to_string()).is_ok());
        assert!(checked(r#"["\"[[", "\\", []]"#).is_ok());
    }

    proptest! {
        #[test]
        fn the_beginning_of_any_string_is_a_beginning_of_its_text(
            text in "(\\PC|[\\\\\"\n\u{1f600}]){0,40}", limit in 1_usize..80, escapes: bool,
        ) {
            let mut literal = json!(text).to_string();
            if escapes {
                literal = text.encode_utf16().fold("\"".to_owned(), |all, it| all + &format!("\\u{it:04X}")) + "\"";
            }
            let begun = string_beginning(&literal, limit).unwrap();
            prop_assert!(text.starts_with(&*begun));
            prop_assert!(literal.len() > limit || begun == text);
            prop_assert!(begun.len() <= limit.max(1) + 12);
        }
    }
}
