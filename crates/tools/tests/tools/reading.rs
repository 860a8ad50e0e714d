//! Reading through the whole pipeline, with the read ledger and the blocking threads.

use pretty_assertions::assert_eq;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright_base::ErrorKind;
use toolwright_files::{RelativePaths, SeenContent};
use toolwright_pipeline::CallOptions;
use toolwright_test_bed::TestBed;

#[tokio::test]
async fn a_read_is_recorded_only_in_the_ledger_of_its_session() {
    let bed = TestBed::new();
    let path = bed.write("a.txt", "one\ntwo\n");
    let options = CallOptions { session_id: Some("s1".to_owned()), ..CallOptions::default() };
    let output = bed.call_with("Read", json!({ "file_path": path, "limit": 1 }), options).await;
    assert_eq!(output.error, None);
    let seen = |id: &str| bed.pipeline.sessions.get_or_start(id).ledger.seen(&path);
    assert_eq!(seen("s1"), Some(SeenContent::Whole(blake3::hash(b"one\ntwo\n"))));
    assert_eq!(seen("s2"), None);
}

#[tokio::test]
async fn a_file_that_cannot_be_shown_counts_as_read_and_can_be_overwritten() {
    let bed = TestBed::new();
    let path = bed.write("a.bin", [0, 1, 2]);
    let output = bed.call("Read", json!({ "file_path": path })).await;
    assert_eq!(output.error.unwrap().kind, ErrorKind::FileRead);
    let write = json!({ "file_path": path, "content": "text" });
    assert_eq!(bed.call("Write", write).await.error, None);
    assert_eq!(std::fs::read(&path).unwrap(), b"text");
}

#[tokio::test]
async fn a_cancelled_read_of_a_large_file_stops_its_thread() {
    let bed = TestBed::new();
    let path = bed.root().join("large.txt");
    // Holes read as NUL bytes, so the file has to begin with text.
    let file = std::fs::File::create(&path).unwrap();
    std::io::Write::write_all(&mut &file, "text\n".repeat(4_000).as_bytes()).unwrap();
    file.set_len(1 << 40).unwrap();
    let place = bed.pipeline.sessions.get_or_start("default").shared.files.roots.clone();
    let place = place.resolve(path.to_str().unwrap(), RelativePaths::FromFirstRoot).unwrap();
    assert_eq!(place.absolute(), path);
    let cancel = CancellationToken::new();
    let options = CallOptions { cancel: cancel.clone(), ..CallOptions::default() };
    // Finding a line means counting all lines before it.
    let input = json!({ "file_path": path, "offset": 1_000_000_000 });
    let read = bed.call_with("Read", input, options);
    let abort = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    // A terabyte takes minutes to read, and the runtime waits for its blocking threads, so the test only ends
    // if the read is cancelled.
    let (output, ()) = tokio::join!(read, abort);
    assert_eq!(output.error.unwrap().kind, ErrorKind::Cancelled);
}

/// How many bytes this process has read so far.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    io.lines().find_map(|it| it.strip_prefix("rchar: ")?.parse().ok()).unwrap()
}

/// A text of some lines, followed by a hole of a terabyte.
fn sparse_text(bed: &TestBed, lines: usize) -> std::path::PathBuf {
    let path = bed.write("sparse.txt", "text\n".repeat(lines));
    std::fs::File::options().append(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    path
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn only_the_shown_part_of_a_huge_file_is_read() {
    let bed = TestBed::new();
    let text = sparse_text(&bed, 4_000);
    let binary = bed.write("sparse.bin", [0]);
    std::fs::File::options().append(true).open(&binary).unwrap().set_len(1 << 40).unwrap();
    let before = bytes_read();
    let some = bed.call("Read", json!({ "file_path": text, "limit": 5 })).await;
    assert_eq!(
        some.joined_text(),
        "1\ttext\n2\ttext\n3\ttext\n4\ttext\n5\ttext\n[lines 1-5 of more than 5 (1099511627776 bytes in all) are shown; continue with offset 6]"
    );
    let facts = some.meta.get("toolwright/file").unwrap();
    assert_eq!(facts.get("totalLines"), None);
    assert_eq!(facts.get("complete"), Some(&json!(false)));
    let capped = bed.call("Read", json!({ "file_path": text })).await;
    assert!(capped.joined_text().contains("[lines 1-2000 of more than 2000 (1099511627776 bytes"));
    let raw =
        bed.call("read_file", json!({ "path": "sparse.txt", "startLine": 2, "endLine": 3 })).await;
    assert_eq!(raw.joined_text(), "text\ntext");
    // The characters of a line of a terabyte are not counted either.
    let long = bed.call("Read", json!({ "file_path": text, "offset": 4_000, "limit": 5 })).await;
    assert!(long.joined_text().contains("4001\t"), "{}", long.joined_text().len());
    assert!(long.joined_text().contains("… [too many more characters to count]"));
    let refused = bed.call("Read", json!({ "file_path": binary })).await;
    assert_eq!(refused.error.unwrap().kind, ErrorKind::FileRead);
    let read = bytes_read() - before;
    // Other tests read meanwhile, but much less than a terabyte.
    assert!(read < 1 << 38, "{read} bytes were read");
}

/// A file that is so large that it is only read in part.
fn large_text(bed: &TestBed) -> (std::path::PathBuf, String) {
    let lines: Vec<String> = (1..=200_000).map(|it| format!("line {it}")).collect();
    let text = lines.join("\n");
    (bed.write("large.txt", &text), text)
}

#[tokio::test]
async fn a_partly_read_file_can_be_edited_and_overwritten_if_it_is_unchanged() {
    let bed = TestBed::new();
    let (path, text) = large_text(&bed);
    let read = bed.call("Read", json!({ "file_path": path, "limit": 5 })).await;
    assert!(read.joined_text().contains("of more than 5 ("), "{}", read.joined_text());
    // Also in a part that was not shown.
    let edit = json!({ "file_path": path, "old_string": "line 199999\n", "new_string": "" });
    let edited = bed.call("Edit", edit).await;
    assert_eq!(edited.error, None);
    assert!(!edited.joined_text().contains("changed since"), "{}", edited.joined_text());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text.replace("line 199999\n", ""));
    let write = json!({ "file_path": path, "content": "new" });
    assert_eq!(bed.call("Write", write).await.error, None);
}

#[tokio::test]
async fn a_partly_read_file_that_changed_is_not_overwritten() {
    let bed = TestBed::new();
    let (path, text) = large_text(&bed);
    bed.call("Read", json!({ "file_path": path, "limit": 5 })).await;
    let behind = text.replace("line 150000", "their line");
    std::fs::write(&path, &behind).unwrap();
    let write = json!({ "file_path": path, "content": "new" });
    let refused = bed.call("Write", write.clone()).await.error.unwrap();
    assert_eq!(refused.kind, ErrorKind::StaleFile, "{}", refused.message);
    // The shown part is unchanged, so the edit reports no change.
    let edit = json!({ "file_path": path, "old_string": "line 3\n", "new_string": "3\n" });
    let edited = bed.call("Edit", edit).await;
    assert_eq!(edited.error, None);
    // A change in the shown part is reported.
    bed.call("Read", json!({ "file_path": path, "limit": 5 })).await;
    std::fs::write(&path, behind.replace("line 2\n", "their 2\n")).unwrap();
    let edit = json!({ "file_path": path, "old_string": "line 5\n", "new_string": "5\n" });
    let edited = bed.call("Edit", edit).await;
    assert!(edited.joined_text().contains("the file had changed since it was read"));
    assert_eq!(bed.call("Write", write).await.error.unwrap().kind, ErrorKind::StaleFile);
}

#[tokio::test]
async fn a_file_too_large_to_read_can_be_overwritten_or_the_error_says_what_to_do() {
    let bed = TestBed::new();
    let notebook = bed.write("large.ipynb", "{");
    std::fs::File::options().append(true).open(&notebook).unwrap().set_len(64 << 20).unwrap();
    let refused = bed.call("Read", json!({ "file_path": notebook })).await.error.unwrap();
    assert!(refused.message.contains("bytes can be read; split it"), "{}", refused.message);
    let write = json!({ "file_path": notebook, "content": "{}" });
    assert_eq!(bed.call("Write", write).await.error, None);
    let huge = sparse_text(&bed, 10);
    bed.call("Read", json!({ "file_path": huge, "limit": 5 })).await;
    let refused = bed.call("Write", json!({ "file_path": huge, "content": "" })).await;
    let message = refused.error.unwrap().message;
    assert!(message.contains("files of at most 268435456 bytes can be changed; "), "{message}");
    assert!(!message.contains("read it first"), "{message}");
}
