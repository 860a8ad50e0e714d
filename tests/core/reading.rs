//! Reading through the whole path, where the ledger and the blocking threads are in play.

use pretty_assertions::assert_eq;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright::{error::ErrorKind, pipeline::CallOptions, workspace::RelativePaths};

use crate::test_bed::TestBed;

#[tokio::test]
async fn what_was_read_is_in_the_ledger_of_its_session_alone() {
    let bed = TestBed::new();
    let path = bed.write("a.txt", "one\ntwo\n");
    let options = CallOptions { session_id: Some("s1".to_owned()), ..CallOptions::default() };
    let output = bed.call_with("Read", json!({ "file_path": path, "limit": 1 }), options).await;
    assert_eq!(output.error, None);
    let seen = |id: &str| bed.pipeline.sessions.get_or_start(id).ledger.seen(&path);
    assert_eq!(seen("s1"), Some(blake3::hash(b"one\ntwo\n")));
    assert_eq!(seen("s2"), None);
}

#[tokio::test]
async fn what_cannot_be_shown_counts_as_seen_and_can_be_written_over() {
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
    // Holes read as NUL, so the beginning has to be text.
    let file = std::fs::File::create(&path).unwrap();
    std::io::Write::write_all(&mut &file, "text\n".repeat(4_000).as_bytes()).unwrap();
    file.set_len(1 << 40).unwrap();
    let place = bed.pipeline.sessions.get_or_start("default").roots.clone();
    let place = place.resolve(path.to_str().unwrap(), RelativePaths::Refused).unwrap();
    assert_eq!(place.absolute(), path);
    let cancel = CancellationToken::new();
    let options = CallOptions { cancel: cancel.clone(), ..CallOptions::default() };
    let read = bed.call_with("Read", json!({ "file_path": path }), options);
    let abort = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    // A terabyte takes minutes to read: only a cancelled read lets this test end, and the runtime waits
    // for its blocking threads.
    let (output, ()) = tokio::join!(read, abort);
    assert_eq!(output.error.unwrap().kind, ErrorKind::Cancelled);
}
