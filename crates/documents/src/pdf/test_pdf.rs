//! PDF files for tests, built from their parts.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pretty_assertions::assert_eq;

use super::{PdfError, PdfText, read_pdf};

/// Lays out objects numbered from 1 as a file; object 1 is the catalog.
pub(super) fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.5\n".to_vec();
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        writeln!(out, "{} 0 obj", index + 1).unwrap();
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let xref = out.len();
    write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for offset in offsets {
        writeln!(out, "{offset:010} 00000 n ").unwrap();
    }
    let size = objects.len() + 1;
    write!(out, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n").unwrap();
    out
}

pub(super) fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let mut out = format!("<< {entries} /Length {} >>\nstream\n", content.len()).into_bytes();
    out.extend(content);
    out.extend(b"\nendstream");
    out
}

pub(super) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(super) const FONT: &str =
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

/// One page for each content stream; all use font `/F1`, which is object 3.
pub(super) fn document_with_font(font: &str, contents: &[Vec<u8>], more: &[Vec<u8>]) -> Vec<u8> {
    let kids: Vec<String> =
        (0..contents.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let kids = format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), contents.len());
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        kids.into_bytes(),
        font.as_bytes().to_vec(),
    ];
    for (page, content) in contents.iter().enumerate() {
        let content_id = 5 + 2 * page;
        objects.push(
            format!("<< /Type /Page /Parent 2 0 R /Contents {content_id} 0 R /Resources << /Font << /F1 3 0 R >> >> >>")
                .into_bytes(),
        );
        objects.push(content.clone());
    }
    objects.extend_from_slice(more);
    file(&objects)
}

pub(super) fn document(contents: &[Vec<u8>]) -> Vec<u8> {
    document_with_font(FONT, contents, &[])
}

pub(super) fn pages(count: usize) -> Vec<u8> {
    let content =
        |page: usize| stream("", format!("BT /F1 24 Tf 20 100 Td (Page {page}) Tj ET").as_bytes());
    document(&(1..=count).map(content).collect::<Vec<_>>())
}

pub(super) fn read_all(bytes: &[u8]) -> Result<PdfText, PdfError> {
    read_pdf(bytes, None, &|| false)
}

pub(super) fn text_of(bytes: &[u8]) -> String {
    let PdfText { pages, .. } = read_all(bytes).unwrap();
    assert_eq!(
        pages.iter().map(|page| page.note.clone()).collect::<Vec<_>>(),
        vec![None; pages.len()]
    );
    pages.into_iter().map(|page| page.text).collect::<Vec<_>>().join("|")
}

pub(super) fn refusal(bytes: &[u8]) -> &'static str {
    match read_all(bytes) {
        Err(PdfError::TooComplex(reason)) => reason,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

pub(super) fn tree(kids: &str, more: &[&str]) -> Vec<u8> {
    let mut objects = vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), kids.as_bytes().to_vec()];
    objects.extend(more.iter().map(|object| object.as_bytes().to_vec()));
    file(&objects)
}
