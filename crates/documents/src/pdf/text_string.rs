//! Decodes text that is not drawn by a page: comments and the values of form fields.

/// The characters of the default encoding (`PDFDocEncoding`) from 0x18 on.
const FROM_18: &str = "˘ˇˆ˙˝˛˚˜";
/// The characters of the default encoding from 0x80 on.
const FROM_80: &str = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\u{fffd}€";

/// The text, decoded by its byte order mark or in the default encoding, with `\n` as line break.
pub(super) fn text_of_string(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        other => other.iter().map(|byte| character_of(*byte)).collect(),
    };
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks().0.iter().copied().map(unit);
    char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn character_of(byte: u8) -> char {
    let from = |table: &str, first: u8| table.chars().nth(usize::from(byte - first));
    match byte {
        0x18..=0x1f => from(FROM_18, 0x18),
        0x80..=0xa0 => from(FROM_80, 0x80),
        _ => None,
    }
    .unwrap_or(char::from(byte))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn reads_every_way_to_write_text() {
        for (bytes, expected) in [
            (b"plain\rtext\r\n!".as_slice(), "plain\ntext\n!"),
            (b"\xfe\xff\x00\xe9\xd8\x3d\xde\x00", "é\u{1f600}"),
            (b"\xff\xfe\xe9\x00", "é"),
            (b"\xef\xbb\xbf\xc3\xa9", "é"),
            (b"\x80\x85\xa0\xe9\x18", "•–€é˘"),
            (b"", ""),
        ] {
            assert_eq!(text_of_string(bytes), expected);
        }
    }
}
