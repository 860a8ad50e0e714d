//! Tests of edits in files of many encodings.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]

use encoding_rs::{EUC_JP, EUC_KR, GB18030, GBK, KOI8_R, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::line_ending::LineEndings;

fn marked_utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(to_bytes).collect()
}

fn edit(file: &TextFile, old: &str, new: &str) -> Vec<u8> {
    let start = file.text().find(old).unwrap();
    file.splice(&[(start..start + old.len(), new)]).unwrap()
}

#[test]
fn utf8_is_changed_in_place_and_keeps_its_mark_and_missing_final_newline() {
    let file = TextFile::from_bytes(b"\xef\xbb\xbfone\r\ntwo\nthree".to_vec()).unwrap();
    assert_eq!(file.text(), "one\r\ntwo\nthree");
    assert_eq!(file.encoding().label(), "UTF-8 with BOM");
    let endings = LineEndings { newline: 1, return_newline: 1, lone_return: 0 };
    assert_eq!(LineEndings::count(file.text()), endings);
    assert_eq!(edit(&file, "two", "zwölf"), "\u{feff}one\r\nzwölf\nthree".as_bytes());
}

#[test]
fn a_file_that_would_become_too_large_is_refused_before_it_is_made() {
    let file = TextFile::from_bytes(vec![b'a'; 100_000]).unwrap();
    let new_text = "b".repeat(100_000);
    let edits: Vec<_> = (0..100_000).map(|it| (it..it + 1, new_text.as_str())).collect();
    assert_eq!(file.splice(&edits), Err(TextFileError::TooLarge));
}

#[test]
fn utf16_of_both_byte_orders_is_changed_in_place() {
    for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let file = TextFile::from_bytes(marked_utf16("a😀b\r\nü", to_bytes)).unwrap();
        assert_eq!(file.text(), "a😀b\r\nü");
        assert_eq!(edit(&file, "b", "𝄞"), marked_utf16("a😀𝄞\r\nü", to_bytes));
    }
}

#[test]
fn a_damaged_utf16_file_keeps_its_damage() {
    // A lone high surrogate, then text, then half a character.
    let file = TextFile::from_bytes(b"\xff\xfe\x00\xd8a\x00b\x00c".to_vec()).unwrap();
    assert_eq!(file.text(), "\u{fffd}ab\u{fffd}");
    assert_eq!(file.encoding().label(), "UTF-16LE with BOM with invalid bytes");
    assert_eq!(edit(&file, "b", "xy"), b"\xff\xfe\x00\xd8a\x00x\x00y\x00c");
}

#[test]
fn legacy_encodings_are_guessed_and_changed_in_place() {
    let samples = [
        (
            SHIFT_JIS,
            "設定ファイルを読み込みます。これは日本語のテキストです。\r\n",
            "テキスト",
            "文章",
        ),
        (GBK, "这是一个中文的配置文件，用来测试编码的识别。\n第二行也是中文。\n", "第二行", "最后"),
        (EUC_KR, "이것은 한국어 설정 파일입니다. 인코딩을 시험합니다.\n", "설정", "새 문서"),
        (WINDOWS_1252, "Größe und Straße, déjà vu: naïve Füße\n", "déjà", "„Öl“"),
        (WINDOWS_1251, "Это русский текст для проверки кодировки\n", "русский", "новый"),
    ];
    for (encoding, text, old, new) in samples {
        let bytes = encoding.encode(text).0.into_owned();
        let file = TextFile::from_bytes(bytes).unwrap();
        assert_eq!((file.encoding().label(), file.text()), (encoding.name().to_owned(), text));
        let spliced = edit(&file, old, new);
        assert_eq!(spliced, encoding.encode(&text.replace(old, new)).0.into_owned());
        assert!(file.keeps_its_encoding(&spliced));
    }
}

#[test]
fn a_character_that_the_encoding_lacks_is_named() {
    let file = TextFile::decode(Cow::Borrowed(b"caf\xe9"), WINDOWS_1252, Mark::Absent);
    let refused = file.splice(&[(0..1, "a→b")]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the file is windows-1252, which has no `→` (U+2192); use other characters or convert the file to UTF-8 first"
    );
    // Shift_JIS would silently turn the yen sign into a backslash.
    let file = TextFile::decode(Cow::Borrowed(b"\x83\x65"), SHIFT_JIS, Mark::Absent);
    let refused = TextFileError::Unmappable { character: '¥', encoding: "Shift_JIS" };
    assert_eq!(file.encode_whole("テ¥"), Err(refused));
}

#[test]
fn damaged_utf8_keeps_its_raw_bytes() {
    let bytes = "größer als äöü ÄÖÜ €".bytes().chain(*b"\xff\xc3 end\n").collect::<Vec<u8>>();
    let file = TextFile::from_bytes(bytes).unwrap();
    assert_eq!(file.text(), "größer als äöü ÄÖÜ €\u{fffd}\u{fffd} end\n");
    assert_eq!(file.encoding().label(), "UTF-8 with invalid bytes");
    let expected: Vec<u8> = "größer als äöü ÄÖÜ €".bytes().chain(*b"\xff\xc3 END\n").collect();
    assert_eq!(edit(&file, "end", "END"), expected);
}

#[test]
fn an_edit_that_would_join_broken_bytes_into_a_character_is_refused() {
    let file = TextFile::decode(Cow::Borrowed(b"\xe2x\x82\xac"), UTF_8, Mark::Absent);
    assert_eq!(file.text(), "\u{fffd}x\u{fffd}\u{fffd}");
    assert_eq!(file.splice(&[(3..4, "")]), Err(TextFileError::MergesWithDamage));
    assert_eq!(file.splice(&[(3..4, "y")]).unwrap(), b"\xe2y\x82\xac");
}

#[test]
fn unchanged_text_in_an_edit_keeps_its_bytes() {
    // The second of two codes of a character, which an encoder would not choose.
    let file =
        TextFile::decode(Cow::Borrowed(b"x \xed\x40 = 1; \x83\x65\n"), SHIFT_JIS, Mark::Absent);
    assert_eq!(file.text(), "x 纊 = 1; テ\n");
    assert_eq!(edit(&file, "x 纊 = 1;", "x 纊 = 2;"), b"x \xed\x40 = 2; \x83\x65\n");
    let file = TextFile::decode(Cow::Borrowed(b"a \xff b c"), UTF_8, Mark::Absent);
    assert_eq!(edit(&file, "a \u{fffd} b", "a \u{fffd} d"), b"a \xff d c");
    let refused = file.splice(&[(0..7, "d \u{fffd} e")]);
    assert_eq!(refused, Err(TextFileError::WritesDamage));
}

#[test]
fn binary_content_is_refused_unless_a_mark_explains_the_nul() {
    assert_eq!(TextFile::from_bytes(b"a\0b".to_vec()).unwrap_err(), TextFileError::Binary);
    assert!(TextFile::from_bytes(b"\xff\xfea\0".to_vec()).is_ok());
}

#[test]
fn ranges_that_overlap_or_split_a_character_are_refused() {
    let file = TextFile::from_bytes("aébc".as_bytes()).unwrap();
    assert_eq!(file.splice(&[(0..4, "x"), (3..5, "y")]), Err(TextFileError::Overlap { at: 3 }));
    assert_eq!(file.splice(&[(2..4, "x")]), Err(TextFileError::NoSuchRange { start: 2, end: 4 }));
    assert!(file.splice(&[(0..9, "x")]).is_err());
    assert_eq!(file.splice(&[(5..5, "2"), (0..1, "1"), (5..5, "3")]).unwrap(), "1ébc23".as_bytes());
    // Two characters that have one code in Big5.
    let file = TextFile::decode(Cow::Borrowed(b"\x88\x62"), BIG5, Mark::Absent);
    assert_eq!(file.text(), "Ê\u{304}");
    assert!(file.splice(&[(2..4, "x")]).is_err());
    assert_eq!(file.splice(&[(0..4, "x")]).unwrap(), b"x");
}

#[test]
fn a_whole_new_text_keeps_encoding_and_mark_but_not_line_endings() {
    let file = TextFile::from_bytes(marked_utf16("a\r\n", u16::to_le_bytes)).unwrap();
    assert_eq!(file.encode_whole("b\n").unwrap(), marked_utf16("b\n", u16::to_le_bytes));
    assert_eq!(file.encode_whole("\u{feff}b").unwrap(), marked_utf16("b", u16::to_le_bytes));
    assert_eq!(encode_new_file("ä\n"), "ä\n".as_bytes());
}

#[test]
fn an_edit_that_changes_the_guessed_encoding_is_detected() {
    let file = TextFile::from_bytes(b"caf\xe9 na\xefve\n".to_vec()).unwrap();
    let spliced =
        edit(&file, "é na", "Ã© na").into_iter().filter(|it| *it != 0xef).collect::<Vec<_>>();
    assert!(!file.keeps_its_encoding(&spliced));
}

const ENCODINGS: [&Encoding; 12] = [
    UTF_8,
    UTF_16LE,
    UTF_16BE,
    SHIFT_JIS,
    GBK,
    GB18030,
    EUC_KR,
    EUC_JP,
    BIG5,
    WINDOWS_1252,
    WINDOWS_1251,
    KOI8_R,
];

/// The text without the characters that an encoding lacks.
fn holdable(text: &str, encoding: &'static Encoding) -> String {
    let probe = TextFile::decode(Cow::default(), encoding, Mark::Absent);
    text.chars().filter(|it| probe.encode(it.encode_utf8(&mut [0; 4])).is_ok()).collect()
}

fn line() -> impl Strategy<Value = String> {
    "[a-z \t\\\\é中文字日本語かなカナ한국어Жя€😀]{0,12}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn only_the_spliced_ranges_change_and_the_result_has_the_intended_text(
        encoding in prop::sample::select(&ENCODINGS[..]),
        marked in any::<bool>(),
        lines in prop::collection::vec((line(), prop::sample::select(&["\n", "\r\n", "\r"][..])), 0..12),
        repeat in prop::sample::select(&[1_usize, 1, 1, 200][..]),
        last in line(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 4),
        new in prop::collection::vec("[a-z\r\né中か한Ж]{0,6}", 2),
    ) {
        let text: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
        let text = holdable(&(text.repeat(repeat) + &last), encoding);
        let new: Vec<String> = new.iter().map(|it| holdable(it, encoding)).collect();
        let mark = if marked && [UTF_8, UTF_16LE, UTF_16BE].contains(&encoding) { Mark::Present } else { Mark::Absent };
        let encode = TextFile::decode(Cow::default(), encoding, mark);
        let bytes = encode.encode_whole(&text).unwrap();
        let file = if mark == Mark::Present {
            TextFile::from_bytes(bytes.clone()).unwrap()
        } else {
            TextFile::decode(Cow::Borrowed(&bytes), encoding, mark)
        };
        prop_assert_eq!(file.text(), &text);
        prop_assert!(!file.encoding().damaged);

        let mut cuts: Vec<usize> = cuts.iter().map(|it| text.floor_char_boundary(it.index(text.len() + 1))).collect();
        cuts.sort_unstable();
        let edits = [(cuts[2]..cuts[3], new[1].as_str()), (cuts[0]..cuts[1], new[0].as_str())];
        // Two edits at the same position stay in the given order, which is not tested here.
        prop_assume!(cuts[0] < cuts[2]);
        let spliced = file.splice(&edits).unwrap();

        let wanted = [&text[..cuts[0]], &new[0], &text[cuts[1]..cuts[2]], &new[1], &text[cuts[3]..]].concat();
        prop_assert_eq!(&spliced, &encode.encode_whole(&wanted).unwrap());
        let prefix = encode.encode_whole(&text[..cuts[0]]).unwrap();
        let suffix = file.encode(&text[cuts[3]..]).unwrap().into_owned();
        prop_assert!(spliced.starts_with(&prefix) && bytes.starts_with(&prefix));
        prop_assert!(spliced.ends_with(&suffix) && bytes.ends_with(&suffix));
        let reread = TextFile::decode(Cow::Borrowed(&spliced[file.mark().len()..]), encoding, mark);
        prop_assert_eq!(reread.text(), wanted);
    }

    #[test]
    fn any_bytes_are_kept_outside_of_an_edit(
        encoding in prop::sample::select(&ENCODINGS[..]),
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'a'), Just(b'\n'), 0x30..0x3a_u8, 0x81..0xff_u8], 0..60),
        repeat in prop::sample::select(&[1_usize, 1, 1, 300][..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 2),
    ) {
        let bytes = bytes.repeat(repeat);
        let file = TextFile::decode(Cow::Borrowed(&bytes), encoding, Mark::Absent);
        prop_assert_eq!(file.text(), encoding.decode_without_bom_handling(&bytes).0);

        let text = file.text();
        let mut cuts: Vec<usize> = cuts.iter().map(|it| text.floor_char_boundary(it.index(text.len() + 1))).collect();
        cuts.sort_unstable();
        let wanted = [&text[..cuts[0]], "+", &text[cuts[1]..]].concat();
        match file.splice(&[(cuts[0]..cuts[1], "+")]) {
            Ok(spliced) => {
                prop_assert_eq!(encoding.decode_without_bom_handling(&spliced).0, wanted);
                let (mut start, mut end) = (Cursor { text: 0, bytes: 0 }, Cursor { text: 0, bytes: 0 });
                let start = file.advance(&mut start, cuts[0]).unwrap();
                let end = file.advance(&mut end, cuts[1]).unwrap();
                prop_assert_eq!(&spliced[..start], &bytes[..start]);
                prop_assert!(spliced.ends_with(&bytes[end..]));
                prop_assert_eq!(encoding.decode_without_bom_handling(&bytes[end..]).0.len(), text.len() - cuts[1]);
            }
            Err(err) => prop_assert!(matches!(err, TextFileError::MergesWithDamage) || encoding == BIG5, "{err}"),
        }
    }
}
