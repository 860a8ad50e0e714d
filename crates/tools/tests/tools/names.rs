//! File names that are not UTF-8 or not fit to be shown: every listed name refers to exactly one
//! file.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt as _, path::PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_test_bed::TestBed;

/// Names that a careless encoding would confuse.
const NAMES: [&[u8]; 9] = [
    b"caf\xe9.txt",
    b"caf\xe8.txt",
    "caf\u{fffd}.txt".as_bytes(),
    br"caf\xe9.txt",
    br"$'caf\xe9.txt'",
    br"$'$\'caf\\xe9.txt\''",
    b"two\nlines.txt",
    br"two\nlines.txt",
    b"\x1b[31mred.txt",
];

fn plant(bed: &TestBed) -> Vec<(PathBuf, String)> {
    let folder = bed.root().join(OsStr::from_bytes(b"d\xff"));
    fs::create_dir(&folder).unwrap();
    let planted = NAMES.iter().enumerate().map(|(number, name)| {
        let path = folder.join(OsStr::from_bytes(name));
        let content = format!("needle {number}\n");
        fs::write(&path, &content).unwrap();
        (path, content)
    });
    planted.collect()
}

async fn text_of(bed: &TestBed, tool: &str, input: Value) -> String {
    let output = bed.call(tool, input).await;
    assert_eq!(output.error, None);
    output.joined_text()
}

#[tokio::test]
async fn every_listed_name_can_be_read_edited_and_written() {
    let bed = TestBed::new();
    let planted = plant(&bed);
    let found = text_of(&bed, "Glob", json!({ "pattern": "**/*" })).await;
    let mut contents = Vec::new();
    let words = format!("[paths are relative to `{}`]", bed.root().display());
    let found = found.strip_suffix(&words).unwrap();
    for line in found.lines() {
        let file_path = if line.starts_with('/') {
            line.to_owned()
        } else {
            format!("{}/{line}", bed.root().display())
        };
        let read = text_of(&bed, "Read", json!({ "file_path": file_path })).await;
        let number = read.strip_prefix("1\tneedle ").unwrap().to_owned();
        let edit =
            json!({ "file_path": file_path, "old_string": "needle", "new_string": "edited" });
        text_of(&bed, "Edit", edit).await;
        let content = format!("written {number}\n");
        text_of(&bed, "Write", json!({ "file_path": file_path, "content": content })).await;
        contents.push(number);
    }
    contents.sort();
    assert_eq!(contents, (0..NAMES.len()).map(|it| it.to_string()).collect::<Vec<_>>());
    for (path, old) in planted {
        assert_eq!(fs::read_to_string(path).unwrap(), old.replace("needle", "written"));
    }
    assert_eq!(fs::read_dir(bed.root()).unwrap().count(), 1);
}

#[tokio::test]
async fn names_listed_by_grep_and_ls_can_be_read() {
    let bed = TestBed::new();
    plant(&bed);
    for input in
        [json!({ "pattern": "needle" }), json!({ "pattern": "needle", "output_mode": "count" })]
    {
        let found = text_of(&bed, "Grep", input).await;
        let mut read_back = 0;
        for line in found.lines().filter(|it| it.starts_with("$'d\\xff'/")) {
            let name = line.strip_suffix(":1").unwrap_or(line);
            let file_path = format!("{}/{name}", bed.root().display());
            let read = text_of(&bed, "Read", json!({ "file_path": file_path })).await;
            assert!(read.starts_with("1\tneedle "), "{read}");
            read_back += 1;
        }
        assert_eq!(read_back, NAMES.len(), "{found}");
    }
    let listed = text_of(&bed, "ls", json!({ "path": r"$'d\xff'" })).await;
    let mut read_back = 0;
    for line in listed.lines().filter(|it| it.contains(".txt")) {
        let path = format!(r"$'d\xff'/{}", line.trim().strip_prefix("- ").unwrap());
        let read = text_of(&bed, "read_file", json!({ "path": path })).await;
        assert!(read.starts_with("needle "), "{read}");
        read_back += 1;
    }
    assert_eq!(read_back, NAMES.len(), "{listed}");
}

#[tokio::test]
async fn an_error_names_the_file_in_a_form_that_tools_accept() {
    let bed = TestBed::new();
    let missing = format!(r"{}/$'caf\xe9.txt'", bed.root().display());
    let refused = bed.call("Read", json!({ "file_path": missing })).await.error.unwrap();
    assert_eq!(refused.message, format!("no file at `{missing}`"));
}

#[tokio::test]
async fn temporary_files_of_a_killed_writer_are_not_listed() {
    let bed = TestBed::new();
    bed.write("kept.txt", "needle\n");
    let names = [
        ".toolwright-c41f9b2e-0.tmp",
        ".toolwright-c41f9b2e-4095.tmp",
        ".toolwright-c41f9b2e-r0123456789abcdef.tmp",
    ];
    for name in names {
        bed.write(name, "needle\n");
    }
    for (tool, input, finds_the_other) in [
        ("Glob", json!({ "pattern": "**/*" }), true),
        ("Glob", json!({ "pattern": "**/.*" }), false),
        ("Grep", json!({ "pattern": "needle" }), true),
        ("Grep", json!({ "pattern": "needle", "glob": ".toolwright-*" }), false),
        ("glob", json!({ "pattern": "**", "includeHidden": true }), true),
        ("ls", json!({ "path": ".", "includeHidden": true }), true),
    ] {
        let output = bed.call(tool, input.clone()).await;
        let text = format!("{} {:?}", output.joined_text(), output.structured);
        assert!(!text.contains("c41f9b2e"), "{tool} {input}: {text}");
        assert_eq!(text.contains("kept.txt"), finds_the_other, "{tool} {input}: {text}");
    }
}
