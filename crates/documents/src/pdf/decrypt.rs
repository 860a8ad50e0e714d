//! Decrypts files that have an empty user password: those that only restrict printing or copying.
//!
//! Follows ISO 32000-2, section 7.6, and uses its names. Revisions 2 to 4 derive the key with MD5,
//! revisions 5 and 6 with SHA-2.

use aes::cipher::{BlockCipherDecrypt as _, BlockCipherEncrypt as _, KeyInit as _};
use aes::{Aes128, Aes256};
use md5::{Digest as _, Md5};
use sha2::{Sha256, Sha384, Sha512};

use super::object::{Dictionary, Object, ObjectId};

type CipherBlock = [u8; 16];

/// What an empty password is padded to in revisions 2 to 4.
const PADDING: [u8; 32] = *b"\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08\
    \x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    None,
    Rc4,
    Aes128,
    Aes256,
}

pub(super) struct Cipher {
    streams: Method,
    strings: Method,
    /// `None` if the password is not empty but the streams of the file are not encrypted.
    key: Option<Vec<u8>>,
    encrypts_metadata: bool,
}

impl Cipher {
    /// The cipher that `/Encrypt` describes, all of whose references must have been resolved. `None` if
    /// the file needs a password or uses an unknown method.
    pub(super) fn with_empty_password(encrypt: &Dictionary, file_id: &[u8]) -> Option<Self> {
        if encrypt.name(b"Filter") != Some(b"Standard") {
            return None;
        }
        let version = encrypt.integer(b"V")?;
        let revision = encrypt.integer(b"R")?;
        let encrypts_metadata = encrypt.get(b"EncryptMetadata") != Some(&Object::Boolean(false));
        let key = match revision {
            2..=4 => md5_key(encrypt, version, revision, file_id, encrypts_metadata),
            5 | 6 => sha_key(encrypt, revision),
            _ => return None,
        };
        let (streams, strings) = match version {
            1 | 2 => (Method::Rc4, Method::Rc4),
            4 | 5 => (method(encrypt, b"StmF")?, method(encrypt, b"StrF")?),
            _ => return None,
        };
        if key.is_none() && streams != Method::None {
            return None;
        }
        Some(Self { streams, strings, key, encrypts_metadata })
    }

    /// Decrypts the content of a stream. Content that is not encrypted is returned as it is.
    pub(super) fn stream(&self, id: ObjectId, stream: &Dictionary, content: Vec<u8>) -> Vec<u8> {
        let kind = stream.name(b"Type");
        let is_plain = kind == Some(b"XRef")
            || (kind == Some(b"Metadata") && !self.encrypts_metadata)
            || has_own_filter(stream);
        if is_plain { content } else { self.decrypted(self.streams, id, content) }
    }

    /// Decrypts every string in an object. A string that cannot be decrypted becomes empty.
    pub(super) fn strings_in(&self, id: ObjectId, object: &mut Object) {
        if self.strings == Method::None {
            return;
        }
        match object {
            Object::String(text) => {
                *text = self.decrypted(self.strings, id, std::mem::take(text));
            }
            Object::Array(items) => items.iter_mut().for_each(|it| self.strings_in(id, it)),
            Object::Dictionary(dictionary) => {
                dictionary.values_mut().for_each(|it| self.strings_in(id, it));
            }
            _ => {}
        }
    }

    fn decrypted(&self, method: Method, id: ObjectId, content: Vec<u8>) -> Vec<u8> {
        let Some(key) = &self.key else {
            return if method == Method::None { content } else { Vec::new() };
        };
        match method {
            Method::None => content,
            Method::Rc4 => rc4(&object_key(key, id, b""), &content),
            Method::Aes128 => without_padding(&object_key(key, id, b"sAlT"), &content),
            Method::Aes256 => without_padding(key, &content),
        }
    }
}

/// Derives the key of one object from the key of the file.
fn object_key(key: &[u8], (number, generation): ObjectId, salt: &[u8]) -> Vec<u8> {
    let mut hash = Md5::new();
    hash.update(key);
    hash.update(number.to_le_bytes().get(..3).unwrap_or_default());
    hash.update(generation.to_le_bytes());
    hash.update(salt);
    hash.finalize().into_iter().take(key.len() + 5).collect()
}

/// Whether a stream names its own encryption. In practice that is always `Identity`, which means none.
fn has_own_filter(stream: &Dictionary) -> bool {
    let first = match stream.get(b"Filter") {
        Some(Object::Array(filters)) => filters.first(),
        single => single,
    };
    first == Some(&Object::Name(b"Crypt".to_vec()))
}

/// The method that `/CF` gives for streams or for strings.
fn method(encrypt: &Dictionary, key: &[u8]) -> Option<Method> {
    let name = encrypt.name(key).unwrap_or(b"Identity");
    if name == b"Identity" {
        return Some(Method::None);
    }
    match encrypt.dictionary(b"CF")?.dictionary(name)?.name(b"CFM") {
        None | Some(b"None") => Some(Method::None),
        Some(b"V2") => Some(Method::Rc4),
        Some(b"AESV2") => Some(Method::Aes128),
        Some(b"AESV3") => Some(Method::Aes256),
        Some(_) => None,
    }
}

/// The key by algorithm 2, if algorithm 6 confirms that the password is empty.
fn md5_key(
    encrypt: &Dictionary,
    version: i64,
    revision: i64,
    file_id: &[u8],
    encrypts_metadata: bool,
) -> Option<Vec<u8>> {
    let length = match version {
        1 => 5,
        4 => 16,
        _ => usize::try_from(encrypt.integer(b"Length").unwrap_or(40) / 8).ok()?,
    };
    if !(5..=16).contains(&length) {
        return None;
    }
    let mut hash = Md5::new();
    hash.update(PADDING);
    hash.update(encrypt.string(b"O")?.get(..32)?);
    // The flags are a signed 32-bit number, which some files write as unsigned.
    hash.update(encrypt.integer(b"P")?.to_le_bytes().get(..4)?);
    hash.update(file_id);
    if revision == 4 && !encrypts_metadata {
        hash.update([0xff; 4]);
    }
    let mut key = hash.finalize();
    if revision >= 3 {
        for _ in 0..50 {
            key = Md5::digest(key.get(..length)?);
        }
    }
    let key = key.get(..length)?.to_vec();

    let stated = encrypt.string(b"U")?;
    let fits = if revision == 2 {
        stated.get(..32)? == rc4(&key, &PADDING)
    } else {
        let mut expected = Md5::new_with_prefix(PADDING).chain_update(file_id).finalize().to_vec();
        for round in 0..20 {
            let key: Vec<u8> = key.iter().map(|byte| byte ^ round).collect();
            expected = rc4(&key, &expected);
        }
        stated.get(..16)? == expected
    };
    fits.then_some(key)
}

/// The key by algorithm 2.A, if the password is empty.
fn sha_key(encrypt: &Dictionary, revision: i64) -> Option<Vec<u8>> {
    let user = encrypt.string(b"U")?;
    let hash = if revision == 5 { |salt: &[u8]| Sha256::digest(salt).to_vec() } else { hardened };
    if hash(user.get(32..40)?) != user.get(..32)? {
        return None;
    }
    let key = hash(user.get(40..48)?);
    Some(cbc_decrypted(&key, [0; 16], encrypt.string(b"UE")?.get(..32)?))
}

/// The hash by algorithm 2.B, for the empty password.
fn hardened(salt: &[u8]) -> Vec<u8> {
    let mut key = Sha256::digest(salt).to_vec();
    let mut round = 0;
    loop {
        let mixed = cbc_encrypted(&key, &key.repeat(64));
        // The remainder modulo 3 of a big-endian number is that of the sum of its bytes.
        let sum: u32 = mixed.iter().take(16).map(|&byte| u32::from(byte)).sum();
        key = match sum % 3 {
            0 => Sha256::digest(&mixed).to_vec(),
            1 => Sha384::digest(&mixed).to_vec(),
            _ => Sha512::digest(&mixed).to_vec(),
        };
        round += 1;
        let last = mixed.last().copied().map_or(0, u32::from);
        if round >= 64 && last + 32 <= round {
            key.truncate(32);
            return key;
        }
    }
}

fn rc4(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut state: [u8; 256] = std::array::from_fn(|index| u8::try_from(index).unwrap_or(0));
    let at = |state: &[u8; 256], index: u8| state.get(usize::from(index)).copied().unwrap_or(0);
    let mut mixed = 0_u8;
    for (index, key) in (0..=255).zip(key.iter().cycle()) {
        mixed = mixed.wrapping_add(at(&state, index)).wrapping_add(*key);
        state.swap(usize::from(index), usize::from(mixed));
    }
    let mut index = 0_u8;
    mixed = 0;
    let next = |byte: &u8| {
        index = index.wrapping_add(1);
        mixed = mixed.wrapping_add(at(&state, index));
        state.swap(usize::from(index), usize::from(mixed));
        byte ^ at(&state, at(&state, index).wrapping_add(at(&state, mixed)))
    };
    data.iter().map(next).collect()
}

/// Decrypts data that begins with its initialisation vector, and removes the padding, whose bytes
/// give its length.
fn without_padding(key: &[u8], data: &[u8]) -> Vec<u8> {
    let Some((vector, data)) = data.split_first_chunk() else {
        return Vec::new();
    };
    let mut plain = cbc_decrypted(key, *vector, data);
    let padding = plain.last().copied().map_or(0, usize::from);
    if (1..=16).contains(&padding) {
        plain.truncate(plain.len().saturating_sub(padding));
    }
    plain
}

fn cbc_decrypted(key: &[u8], vector: CipherBlock, data: &[u8]) -> Vec<u8> {
    let decrypt: Box<dyn Fn(&mut CipherBlock)> = if let Ok(cipher) = Aes256::new_from_slice(key) {
        Box::new(move |block| cipher.decrypt_block(block.into()))
    } else if let Ok(cipher) = Aes128::new_from_slice(key) {
        Box::new(move |block| cipher.decrypt_block(block.into()))
    } else {
        return Vec::new();
    };
    let mut before = vector;
    let mut plain = Vec::with_capacity(data.len());
    for encrypted in data.as_chunks::<16>().0 {
        let mut block = *encrypted;
        decrypt(&mut block);
        plain.extend(block.iter().zip(before).map(|(byte, mask)| byte ^ mask));
        before = *encrypted;
    }
    plain
}

/// Encrypts with the first half of `key` as AES key and the second half as initialisation vector.
fn cbc_encrypted(key: &[u8], data: &[u8]) -> Vec<u8> {
    let (Some((key, rest)), blocks) = (key.split_first_chunk::<16>(), data.as_chunks::<16>().0)
    else {
        return Vec::new();
    };
    let cipher = Aes128::new(key.into());
    let mut before: CipherBlock = rest.first_chunk().copied().unwrap_or_default();
    let mut encrypted = Vec::with_capacity(data.len());
    for plain in blocks {
        before.iter_mut().zip(plain).for_each(|(mask, byte)| *mask ^= byte);
        cipher.encrypt_block((&mut before).into());
        encrypted.extend_from_slice(&before);
    }
    encrypted
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::{collections::BTreeMap, sync::Arc};

    use lopdf::{
        Document, EncryptionState, EncryptionVersion, Object, Permissions,
        encryption::crypt_filters::{Aes128CryptFilter, Aes256CryptFilter, CryptFilter},
    };
    use pretty_assertions::assert_eq;

    use crate::pdf::{
        PdfError,
        test_pdf::{FONT, file, pages, read_all, stream, text_of},
    };

    /// Two pages, encrypted with each supported method.
    fn encrypted(user_password: &str) -> Vec<Vec<u8>> {
        encrypted_file(&pages(2), user_password, |_| {})
    }

    /// A file that is encrypted with each supported method and then changed.
    fn encrypted_file(
        plain: &[u8],
        user_password: &str,
        change: impl Fn(&mut Document),
    ) -> Vec<Vec<u8>> {
        let mut document = Document::load_mem(plain).unwrap();
        let id = Object::string_literal("0123456789abcdef");
        document.trailer.set("ID", vec![id.clone(), id]);
        let owner_password = "owner";
        let permissions = Permissions::all();
        let filters = |filter: Arc<dyn CryptFilter>| BTreeMap::from([(b"StdCF".to_vec(), filter)]);
        let filter = || b"StdCF".to_vec();
        #[expect(deprecated, reason = "files of revision 5 are still around")]
        let versions = [
            EncryptionVersion::V1 {
                document: &document,
                owner_password,
                user_password,
                permissions,
            },
            EncryptionVersion::V2 {
                document: &document,
                owner_password,
                user_password,
                key_length: 128,
                permissions,
            },
            EncryptionVersion::V4 {
                document: &document,
                encrypt_metadata: false,
                crypt_filters: filters(Arc::new(Aes128CryptFilter)),
                stream_filter: filter(),
                string_filter: filter(),
                owner_password,
                user_password,
                permissions,
            },
            EncryptionVersion::R5 {
                encrypt_metadata: true,
                crypt_filters: filters(Arc::new(Aes256CryptFilter)),
                file_encryption_key: &[7; 32],
                stream_filter: filter(),
                string_filter: filter(),
                owner_password,
                user_password,
                permissions,
            },
            EncryptionVersion::V5 {
                encrypt_metadata: true,
                crypt_filters: filters(Arc::new(Aes256CryptFilter)),
                file_encryption_key: &[8; 32],
                stream_filter: filter(),
                string_filter: filter(),
                owner_password,
                user_password,
                permissions,
            },
        ];
        let states = versions.map(|version| EncryptionState::try_from(version).unwrap());
        let save = |state| {
            let mut copy = document.clone();
            copy.encrypt(&state).unwrap();
            change(&mut copy);
            let mut bytes = Vec::new();
            copy.save_to(&mut bytes).unwrap();
            bytes
        };
        states.map(save).to_vec()
    }

    #[test]
    fn asks_for_a_password_only_where_one_is_needed() {
        for bytes in encrypted("") {
            assert_eq!(text_of(&bytes), "Page 1|Page 2");
        }
        for bytes in encrypted("secret") {
            assert_eq!(read_all(&bytes), Err(PdfError::Encrypted));
        }
    }

    #[test]
    fn finds_the_parts_of_the_encryption_wherever_they_are() {
        let move_filters = |document: &mut Document| {
            let id = document.trailer.get(b"Encrypt").unwrap().as_reference().unwrap();
            let Ok(filters) = document.get_dictionary(id).unwrap().get(b"CF").cloned() else {
                return;
            };
            let mut filters = filters.as_dict().unwrap().clone();
            let own = document.add_object(filters.get(b"StdCF").unwrap().clone());
            filters.set("StdCF", own);
            let filters = document.add_object(filters);
            let encrypt = document.get_object_mut(id).unwrap().as_dict_mut().unwrap();
            encrypt.set("CF", filters);
        };
        for bytes in encrypted_file(&pages(2), "", move_filters) {
            assert_eq!(text_of(&bytes), "Page 1|Page 2");
        }
    }

    #[test]
    fn reads_streams_that_are_not_encrypted_whatever_the_password() {
        let encrypt = "<< /Filter /Standard /V 4 /R 4 /StmF /Identity /StrF /StdCF /P -1 \
            /CF << /StdCF << /CFM /AESV2 >> >> /O (01234567890123456789012345678901) \
            /U (01234567890123456789012345678901) >>";
        let text = String::from_utf8(pages(1)).unwrap();
        let bytes = text.replace("trailer\n<<", &format!("trailer\n<< /Encrypt {encrypt}"));
        assert_eq!(text_of(bytes.as_bytes()), "Page 1");
        let streams_too = bytes.replace("/StmF /Identity", "/StmF /StdCF");
        assert_eq!(read_all(streams_too.as_bytes()), Err(PdfError::Encrypted));
    }

    #[test]
    fn decrypts_the_strings_of_annotations() {
        let page = "<< /Type /Page /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> \
            /Annots [<< /Subtype /Widget /V (typed) >>] >>";
        let bytes = file(&[
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_vec(),
            FONT.as_bytes().to_vec(),
            page.as_bytes().to_vec(),
            stream("", b"BT /F1 9 Tf (drawn) Tj ET"),
        ]);
        for bytes in encrypted_file(&bytes, "", |_| {}) {
            assert_eq!(text_of(&bytes), "drawn\ntyped");
        }
    }
}
