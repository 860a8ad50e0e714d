//! Changing files through the whole pipeline: what has to be read first, what is preserved, what is refused.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_base::ErrorKind;
use toolwright_test_bed::{TestBed, kind};

async fn read(bed: &TestBed, path: &std::path::Path) {
    let output = bed.call("Read", json!({ "file_path": path })).await;
    assert_eq!(kind(&output), None, "{output:?}");
}

fn edit(path: &std::path::Path, old: &str, new: &str) -> Value {
    json!({ "file_path": path, "old_string": old, "new_string": new })
}

#[tokio::test]
async fn an_edit_changes_only_its_own_bytes() {
    let bed = TestBed::new();
    // Mixed line endings, a byte order mark and trailing blanks have to stay.
    let path = bed.write("a.txt", "\u{feff}one  \r\ntwo\nthree\t\r\n");
    read(&bed, &path).await;
    let output = bed.call("Edit", edit(&path, "two\nthree", "2\n3")).await;
    assert_eq!(kind(&output), None, "{output:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "\u{feff}one  \r\n2\n3\t\r\n");
}

#[tokio::test]
async fn a_file_that_was_not_read_is_neither_edited_nor_overwritten() {
    let bed = TestBed::new();
    let path = bed.write("a.txt", "one");
    assert_eq!(kind(&bed.call("Edit", edit(&path, "one", "1")).await), Some(ErrorKind::NotRead));
    let write = json!({ "file_path": path, "content": "1" });
    assert_eq!(kind(&bed.call("Write", write).await), Some(ErrorKind::NotRead));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
}

#[tokio::test]
async fn a_file_that_changed_after_reading_accepts_an_edit_with_a_notice_but_no_write() {
    let bed = TestBed::new();
    let path = bed.write("a.txt", "one\ntwo\n");
    read(&bed, &path).await;
    std::fs::write(&path, "zero\none\ntwo\n").unwrap();
    let write = json!({ "file_path": path, "content": "1" });
    assert_eq!(kind(&bed.call("Write", write).await), Some(ErrorKind::StaleFile));
    let output = bed.call("Edit", edit(&path, "two", "2")).await;
    assert_eq!(kind(&output), None, "{output:?}");
    assert!(output.joined_text().contains("had changed since it was read"), "{output:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "zero\none\n2\n");
}

#[tokio::test]
async fn an_edit_with_a_missing_or_ambiguous_target_is_refused_with_line_numbers() {
    let bed = TestBed::new();
    let path = bed.write("a.txt", "alpha beta\ngamma\nalpha beta\n");
    read(&bed, &path).await;
    let twice = bed.call("Edit", edit(&path, "alpha beta", "x")).await;
    assert_eq!(kind(&twice), Some(ErrorKind::EditTargetAmbiguous));
    assert!(twice.joined_text().contains("(lines 1, 3)"), "{twice:?}");
    let missing = bed.call("Edit", edit(&path, "alpha bete\ngamma", "x")).await;
    assert_eq!(kind(&missing), Some(ErrorKind::EditTargetNotFound));
    assert!(missing.joined_text().contains("the most similar lines are 1-2"), "{missing:?}");
    let all = json!({ "file_path": path, "old_string": "alpha beta", "new_string": "x", "replace_all": true });
    assert_eq!(kind(&bed.call("Edit", all).await), None);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x\ngamma\nx\n");
}

#[tokio::test]
async fn several_edits_are_applied_all_or_none() {
    let bed = TestBed::new();
    let path = bed.write("a.txt", "one\ntwo\n");
    bed.call("read_file", json!({ "path": "a.txt" })).await;
    let edits = |second: &str| {
        json!({ "path": "a.txt", "edits": [
            { "target": "one", "replacement": "1" }, { "target": second, "replacement": "2" } ] })
    };
    let refused = bed.call("edit_file", edits("nine")).await;
    assert_eq!(kind(&refused), Some(ErrorKind::EditTargetNotFound));
    assert!(refused.joined_text().contains("edits[1].target"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    assert_eq!(kind(&bed.call("edit_file", edits("two")).await), None);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n");
}

#[tokio::test]
async fn directories_of_new_files_are_created_and_existing_files_are_kept() {
    let bed = TestBed::new();
    let write = |overwrite: bool| json!({ "path": "deep/er/new.txt", "content": "x\n", "overwrite": overwrite });
    assert_eq!(kind(&bed.call("write_file", write(false)).await), None);
    assert_eq!(kind(&bed.call("write_file", write(false)).await), Some(ErrorKind::FileExists));
    // A file that the session wrote counts as read.
    assert_eq!(kind(&bed.call("write_file", write(true)).await), None);
    assert_eq!(std::fs::read_to_string(bed.root().join("deep/er/new.txt")).unwrap(), "x\n");
}

#[tokio::test]
async fn concurrent_edits_of_one_file_are_serialized_and_none_is_lost() {
    let bed = TestBed::new();
    let lines =
        |word: &str| (0..64).map(|line| format!("{word} {line:02}\n")).collect::<Vec<_>>().concat();
    let path = bed.write("a.txt", lines("line"));
    read(&bed, &path).await;
    let calls = (0..64).map(|line| {
        bed.call("Edit", edit(&path, &format!("line {line:02}\n"), &format!("edited {line:02}\n")))
    });
    for output in futures_util::future::join_all(calls).await {
        assert_eq!(kind(&output), None, "{output:?}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), lines("edited"));
}

#[tokio::test]
async fn a_notebook_is_edited_by_cell_and_not_as_text() {
    let bed = TestBed::new();
    let notebook = r#"{"cells":[{"cell_type":"markdown","id":"a","metadata":{},"source":["x"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;
    let path = bed.write("n.ipynb", notebook);
    read(&bed, &path).await;
    assert_eq!(kind(&bed.call("Edit", edit(&path, "x", "y")).await), Some(ErrorKind::FileEdit));
    let replace = json!({ "notebook_path": path, "cell_id": "a", "new_source": "y" });
    assert_eq!(kind(&bed.call("NotebookEdit", replace).await), None);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), notebook.replace(r#"["x"]"#, r#"["y"]"#));
}
