//! The memory that reading and editing a file takes: at most 64 MiB plus twice its size, whatever
//! its content.
//!
//! Each case runs in a separate process, which reports its peak memory.

use std::{
    env, fs,
    io::{self, Write as _},
    path::Path,
    process::Command,
};

use serde_json::json;
use toolwright_test_bed::TestBed;

const CASE: &str = "case=";
const SIZE: usize = 8 * 1024 * 1024;

/// A notebook of nearly 8 MB: a beginning, a repeated part, and an end.
fn notebook(before: &str, again: &str, behind: &str) -> String {
    let count = (SIZE - before.len() - behind.len()) / again.len();
    let repeated = again.repeat(count);
    let repeated = repeated.strip_suffix(',').unwrap_or(&repeated);
    format!("{before}{repeated}{behind}")
}

const END: &str = r#","nbformat":4,"nbformat_minor":5}"#;

/// The notebook of a case.
fn notebook_of(case: &str) -> String {
    let code = r#"{"cells":[{"cell_type":"code","source":"","outputs":["#;
    let end_of_code = format!("]}}]{END}");
    let end_of_string = format!(r#""}}]{END}"#);
    let stream = format!(r#"{code}{{"output_type":"stream","text":""#);
    let image = format!(r#"{code}{{"output_type":"display_data","data":{{"image/png":""#);
    match case {
        "numbers for cells" => notebook(r#"{"cells":["#, "0,", &format!("]{END}")),
        "small cells" => notebook(r#"{"cells":["#, r#"{"cell_type":"raw"},"#, &format!("]{END}")),
        "numbers in metadata" => {
            notebook(r#"{"metadata":["#, "0,", &format!(r#"],"cells":[]{END}"#))
        }
        "objects in metadata" => {
            notebook(r#"{"metadata":["#, r#"{"a":{}},"#, &format!(r#"],"cells":[]{END}"#))
        }
        "empty outputs" => notebook(code, "{},", &end_of_code),
        "small outputs" => notebook(code, r#"{"output_type":"stream"},"#, &end_of_code),
        "an escaped source" => {
            notebook(r#"{"cells":[{"cell_type":"raw","source":""#, r"\n", &end_of_string)
        }
        "an escaped output" => notebook(&stream, r"\u001b", &format!(r#""}}{end_of_code}"#)),
        "a large picture" => notebook(&image, "AAAA", &format!(r#""}}}}{end_of_code}"#)),
        "many fields" => {
            let fields: Vec<String> = (0..SIZE / 16).map(|it| format!(r#""{it:08}":0,"#)).collect();
            let fields = fields.concat();
            format!(r#"{{"cells":[{{{fields}"cell_type":"raw","source":"x"}}]{END}"#)
        }
        other => unreachable!("{other}"),
    }
}

#[tokio::test]
async fn runs_one_case_when_started_as_a_child() {
    if !env::args().any(|it| it.starts_with(CASE)) {
        return;
    }
    let bed = TestBed::new();
    // Another process made the file, so that making it is not measured.
    let made = env::args().find_map(|it| it.strip_prefix("file=").map(str::to_owned)).unwrap();
    let is_notebook = Path::new(&made).extension().is_some_and(|it| it == "ipynb");
    let path = bed.write(if is_notebook { "a.ipynb" } else { "a.txt" }, "");
    fs::copy(made, &path).unwrap();
    let bytes = path.metadata().unwrap().len();
    let read = bed.call("Read", json!({ "file_path": path, "limit": 5 })).await;
    let edited = if is_notebook {
        let edit = json!({ "notebook_path": path, "cell_id": "cell-0", "new_source": "new" });
        bed.call("NotebookEdit", edit).await
    } else {
        let edit = json!({ "file_path": path, "old_string": "once\nhere", "new_string": "twice" });
        bed.call("Edit", edit).await
    };
    // Some of the notebooks are invalid and are reported as such.
    assert!(is_notebook || (read.error.is_none() && edited.error.is_none()));
    let result = format!("{:?} {:?} {}", read.error, edited.error, edited.joined_text());
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak: u64 = status
        .lines()
        .find_map(|it| it.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap();
    let result: String = result.chars().take(300).collect();
    writeln!(io::stderr(), "peak={peak} bytes={bytes} {result}").unwrap();
}

fn measure(case: &str, file: &Path) {
    let output = Command::new(env::current_exe().unwrap())
        .args(["memory::runs_one_case_when_started_as_a_child", "--exact", "--nocapture"])
        .arg(format!("{CASE}{case}"))
        .arg(format!("file={}", file.display()))
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let number = |name: &str| -> u64 {
        let found = report.split_whitespace().find_map(|it| it.strip_prefix(name)?.parse().ok());
        found.unwrap_or_else(|| unreachable!("{case}: {report}"))
    };
    let allowed = (64 << 20) + 2 * number("bytes=");
    assert!(number("peak=") * 1024 <= allowed, "{case}: more than {allowed}: {report}");
}

#[test]
fn a_notebook_takes_no_more_memory_than_allowed() {
    let dir = tempfile::TempDir::new().unwrap();
    for case in [
        "numbers for cells",
        "small cells",
        "numbers in metadata",
        "objects in metadata",
        "empty outputs",
        "small outputs",
        "an escaped source",
        "an escaped output",
        "a large picture",
        "many fields",
    ] {
        let file = dir.path().join("a.ipynb");
        fs::write(&file, notebook_of(case)).unwrap();
        measure(case, &file);
    }
}

#[test]
fn an_edit_of_a_large_text_takes_no_more_memory_than_allowed() {
    let dir = tempfile::TempDir::new().unwrap();
    let file = dir.path().join("a.txt");
    for (case, first, line) in [
        ("found as given", "once\nhere\n", "a line of some length that is there again\n"),
        ("found by its line endings", "once\r\nhere\r\n", "a line of some length\r\n"),
    ] {
        fs::write(&file, format!("{first}{}", line.repeat(96 * 1024 * 1024 / line.len()))).unwrap();
        measure(case, &file);
    }
}
