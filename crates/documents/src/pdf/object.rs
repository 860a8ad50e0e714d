//! The values that a PDF consists of: numbers, strings, names, arrays, dictionaries and streams.

/// An object's number and generation.
pub(super) type ObjectId = (u32, u16);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Null,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Name(Vec<u8>),
    String(Vec<u8>),
    Array(Vec<Object>),
    Dictionary(Dictionary),
    Stream(PdfStream),
    Reference(ObjectId),
}

impl Object {
    pub(super) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn as_reference(&self) -> Option<ObjectId> {
        match self {
            Self::Reference(id) => Some(*id),
            _ => None,
        }
    }

    /// The value of a number, and 0 for anything else: text at an invalid position is still read.
    pub(super) fn as_number(&self) -> f64 {
        match self {
            Self::Integer(value) => {
                let nearest = if *value < 0 { i32::MIN } else { i32::MAX };
                f64::from(i32::try_from(*value).unwrap_or(nearest))
            }
            Self::Real(value) if value.is_finite() => *value,
            _ => 0.0,
        }
    }
}

/// A dictionary as a list sorted by key. A hash map would take a kilobyte even for one entry, and a
/// hostile file can have very many small dictionaries.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Dictionary {
    entries: Vec<(Vec<u8>, Object)>,
}

impl Dictionary {
    /// Of several entries with the same key, the last one is kept.
    pub(super) fn new(mut entries: Vec<(Vec<u8>, Object)>) -> Self {
        entries.reverse();
        entries.sort_by(|(first, _), (second, _)| first.cmp(second));
        entries.dedup_by(|(second, _), (first, _)| first == second);
        entries.shrink_to_fit();
        Self { entries }
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&Object> {
        let index = self.entries.binary_search_by(|(known, _)| known.as_slice().cmp(key)).ok()?;
        self.entries.get(index).map(|(_, value)| value)
    }

    /// Every value, to be changed in place.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Object> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn integer(&self, key: &[u8]) -> Option<i64> {
        self.get(key)?.as_integer()
    }

    pub(super) fn name(&self, key: &[u8]) -> Option<&[u8]> {
        match self.get(key)? {
            Object::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn string(&self, key: &[u8]) -> Option<&[u8]> {
        match self.get(key)? {
            Object::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn dictionary(&self, key: &[u8]) -> Option<&Dictionary> {
        match self.get(key)? {
            Object::Dictionary(dictionary) => Some(dictionary),
            _ => None,
        }
    }
}

/// A stream as stored in the file, but decrypted. `unpack` applies its filters.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PdfStream {
    pub(super) dictionary: Dictionary,
    pub(super) content: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn takes_the_last_of_several_entries_with_one_key() {
        let entry = |key: &[u8], value| (key.to_vec(), Object::Integer(value));
        let dictionary = Dictionary::new(vec![
            entry(b"B", 1),
            entry(b"A", 2),
            entry(b"B", 3),
            entry(b"C", 4),
            entry(b"B", 5),
        ]);
        let values = [b"A", b"B", b"C", b"D"].map(|key| dictionary.integer(key));
        assert_eq!(values, [Some(2), Some(5), Some(4), None]);
    }
}
