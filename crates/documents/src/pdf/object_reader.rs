//! Loads objects by number: `object_scan` has found where they are; they are parsed and decrypted when
//! they are asked for.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use super::PdfError;
use super::budget::Budget;
use super::decrypt::Cipher;
use super::font::Font;
use super::lexer::PdfLexer;
use super::object::{Dictionary, Object, ObjectId, PdfStream};
use super::object_scan::{ObjectLocation, stream_data_start};

const MAX_OBJECTS: usize = 500_000;
const MAX_CACHED_CONTAINERS: usize = 24 * 1024 * 1024;
const MAX_REFERENCE_CHAIN: usize = 16;
/// How deep `/Encrypt` is nested: the dictionary itself, its `/CF`, and a filter in that.
const MAX_ENCRYPT_DEPTH: usize = 2;

/// Finds objects without the cross-reference table, which may point many entries at one large object.
/// Of several definitions of an object the last one counts, because files are updated by appending.
pub(super) struct ObjectReader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) budget: Budget<'a>,
    pub(super) locations: HashMap<u32, ObjectLocation>,
    pub(super) containers: Vec<(ObjectId, usize)>,
    pub(super) trailers: VecDeque<Dictionary>,
    unpacked: HashMap<ObjectId, Rc<Vec<u8>>>,
    unpacked_bytes: usize,
    cipher: Option<Cipher>,
    pub(super) fonts: HashMap<ObjectId, Rc<Font>>,
}

impl<'a> ObjectReader<'a> {
    pub(super) fn open(bytes: &'a [u8], cancelled: &'a dyn Fn() -> bool) -> Result<Self, PdfError> {
        let mut reader = Self {
            bytes,
            budget: Budget::new(bytes.len(), cancelled),
            locations: HashMap::new(),
            containers: Vec::new(),
            trailers: VecDeque::new(),
            unpacked: HashMap::new(),
            unpacked_bytes: 0,
            cipher: None,
            fonts: HashMap::new(),
        };
        reader.scan()?;
        reader.unlock()?;
        reader.index_containers()?;
        Ok(reader)
    }

    pub(super) fn parse(
        &mut self,
        data: &[u8],
        at: usize,
    ) -> Result<(Option<Object>, usize), PdfError> {
        let mut lexer = PdfLexer::new(data, at);
        let object = lexer.object();
        self.budget.charge_parsing(lexer.at.saturating_sub(at).saturating_add(1))?;
        if lexer.overflowed {
            return Err(PdfError::TooComplex("an object is nested too deeply or too large"));
        }
        Ok((object, lexer.at))
    }

    pub(super) fn add(&mut self, number: u32, place: ObjectLocation) -> Result<(), PdfError> {
        if self.locations.get(&number).is_some_and(|known| known.position() > place.position()) {
            return Ok(());
        }
        self.locations.insert(number, place);
        if self.locations.len() > MAX_OBJECTS {
            return Err(PdfError::TooComplex("it holds more than 500,000 objects"));
        }
        Ok(())
    }

    /// Prepares decryption with the empty password, which is that of files that only restrict their use.
    fn unlock(&mut self) -> Result<(), PdfError> {
        let Some(trailer) =
            self.trailers.iter().rev().find(|trailer| trailer.has(b"Encrypt")).cloned()
        else {
            return Ok(());
        };
        let mut encrypt = self.get_dictionary(&trailer, b"Encrypt")?.ok_or(PdfError::Encrypted)?;
        self.put_values_in_place(&mut encrypt, 0)?;
        let file_id = match self.get(&trailer, b"ID")? {
            Some(Object::Array(parts)) => parts.into_iter().next(),
            _ => None,
        };
        let file_id = match file_id {
            Some(Object::String(id)) => id,
            _ => Vec::new(),
        };
        let cipher = Cipher::with_empty_password(&encrypt, &file_id);
        self.cipher = Some(cipher.ok_or(PdfError::Encrypted)?);
        Ok(())
    }

    /// Replaces references in a dictionary by what they refer to, down to the filters in `/CF`.
    fn put_values_in_place(
        &mut self,
        dictionary: &mut Dictionary,
        depth: usize,
    ) -> Result<(), PdfError> {
        for value in dictionary.values_mut() {
            if let Some(found) = self.resolve(value)? {
                *value = found;
            }
            if let Object::Dictionary(inner) = value
                && depth < MAX_ENCRYPT_DEPTH
            {
                self.put_values_in_place(inner, depth + 1)?;
            }
        }
        Ok(())
    }

    fn index_containers(&mut self) -> Result<(), PdfError> {
        for (id, position) in std::mem::take(&mut self.containers) {
            let Some(Object::Stream(stream)) = self.load(id)? else {
                continue;
            };
            let first = stream.dictionary.integer(b"First").unwrap_or(0);
            let first = usize::try_from(first).unwrap_or(usize::MAX);
            let Some(data) = self.container(id)? else {
                continue;
            };
            let table = String::from_utf8_lossy(data.get(..first).unwrap_or_default()).into_owned();
            self.budget.charge_parsing(table.len())?;
            let mut numbers = table.split_ascii_whitespace().map(str::parse::<u32>);
            while let (Some(Ok(number)), Some(Ok(offset))) = (numbers.next(), numbers.next()) {
                let offset = first.saturating_add(usize::try_from(offset).unwrap_or(usize::MAX));
                self.add(number, ObjectLocation::Packed { container: id, position, offset })?;
            }
        }
        Ok(())
    }

    fn container(&mut self, id: ObjectId) -> Result<Option<Rc<Vec<u8>>>, PdfError> {
        if let Some(data) = self.unpacked.get(&id) {
            return Ok(Some(Rc::clone(data)));
        }
        // A container is never inside another container. Looking there might never end.
        if !matches!(self.locations.get(&id.0), Some(ObjectLocation::File { .. })) {
            return Ok(None);
        }
        let Some(Object::Stream(stream)) = self.load(id)? else {
            return Ok(None);
        };
        let data = Rc::new(self.unpack(stream)?);
        if self.unpacked_bytes.saturating_add(data.len()) > MAX_CACHED_CONTAINERS {
            self.unpacked.clear();
            self.unpacked_bytes = 0;
        }
        self.unpacked_bytes += data.len();
        self.unpacked.insert(id, Rc::clone(&data));
        Ok(Some(data))
    }

    pub(super) fn load(&mut self, id: ObjectId) -> Result<Option<Object>, PdfError> {
        let (body, generation) = match self.locations.get(&id.0) {
            None => return Ok(None),
            Some(&ObjectLocation::Packed { container, offset, .. }) => {
                let Some(data) = self.container(container)? else {
                    return Ok(None);
                };
                return Ok(self.parse(&data, offset)?.0);
            }
            Some(&ObjectLocation::File { body, generation }) => (body, generation),
        };
        let bytes = self.bytes;
        let (mut object, end) = self.parse(bytes, body)?;
        if let (Some(cipher), Some(object)) = (&self.cipher, &mut object) {
            cipher.strings_in((id.0, generation), object);
        }
        let Some(Object::Dictionary(dictionary)) = object else {
            return Ok(object);
        };
        let mut lexer = PdfLexer::new(bytes, end);
        lexer.skip_space();
        let keyword = lexer.at;
        if !lexer.eat(b"stream") {
            return Ok(Some(Object::Dictionary(dictionary)));
        }
        let start = stream_data_start(bytes, keyword);
        let end = if dictionary.name(b"Subtype") == Some(b"Image") {
            start
        } else {
            self.stream_data_end(&dictionary, start, true).unwrap_or(bytes.len())
        };
        self.budget.charge(end.saturating_sub(start))?;
        let mut content = bytes.get(start..end).unwrap_or_default().to_vec();
        if let Some(cipher) = &self.cipher {
            content = cipher.stream((id.0, generation), &dictionary, content);
        }
        Ok(Some(Object::Stream(PdfStream { dictionary, content })))
    }

    pub(super) fn resolve(&mut self, object: &Object) -> Result<Option<Object>, PdfError> {
        let mut current = object.clone();
        for _ in 0..MAX_REFERENCE_CHAIN {
            match current {
                Object::Reference(id) => match self.load(id)? {
                    Some(next) => current = next,
                    None => return Ok(None),
                },
                other => return Ok(Some(other)),
            }
        }
        Ok(None)
    }

    pub(super) fn get(
        &mut self,
        dictionary: &Dictionary,
        key: &[u8],
    ) -> Result<Option<Object>, PdfError> {
        match dictionary.get(key) {
            Some(object) => self.resolve(object),
            None => Ok(None),
        }
    }

    pub(super) fn get_dictionary(
        &mut self,
        dictionary: &Dictionary,
        key: &[u8],
    ) -> Result<Option<Dictionary>, PdfError> {
        Ok(match self.get(dictionary, key)? {
            Some(Object::Dictionary(found)) => Some(found),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::pdf::test_pdf::{FONT, deflate, stream, text_of};

    #[test]
    fn reads_objects_from_object_streams_and_takes_the_latest_version() {
        let table = "1 0 2 34 3 81 4 ";
        let first = "<< /Type /Catalog /Pages 2 0 R >> ";
        let second = "<< /Type /Pages /Kids [4 0 R] /Count 1 >>      ";
        let page = "<</Type/Page/Parent 2 0 R/Contents 9 0 R/Resources<</Font<</F1 3 0 R>>>>>>";
        let table = format!("{table}{} ", 81 + FONT.len() + 1);
        let packed = deflate(format!("{table}{first}{second}{FONT} {page}").as_bytes());
        let mut out = b"%PDF-1.5\n8 0 obj\n".to_vec();
        out.extend(stream(
            &format!("/Type /ObjStm /N 4 /First {} /Filter /FlateDecode", table.len()),
            &packed,
        ));
        out.extend(b"\nendobj\n9 0 obj\n");
        out.extend(stream("", b"BT /F1 9 Tf (old) Tj ET"));
        out.extend(b"\nendobj\n9 0 obj\n");
        out.extend(stream("", b"BT /F1 9 Tf (new) Tj ET"));
        out.extend(b"\nendobj\n10 0 obj\n");
        out.extend(stream("/Type /XRef /Root 1 0 R /W [1 2 1]", b""));
        out.extend(b"\nendobj\n");
        assert_eq!(text_of(&out), "new");
    }
}
