//! Tools are listed in the table of their set, and nothing below them knows their names.

use toolwright_tidy::{SourceFile, project, rust_files};

#[test]
fn every_tool_file_is_in_the_table_of_its_set() {
    for set in ["claude", "classic", "diagnostic"] {
        let folder = format!("crates/tools/src/{set}");
        let table = std::fs::read_to_string(project().join(&folder).join("mod.rs")).unwrap();
        let mut tools = 0;
        for file in rust_files(&folder) {
            let name = file.path.rsplit('/').next().unwrap().trim_end_matches(".rs");
            if name == "mod" {
                continue;
            }
            tools += 1;
            assert!(
                table.contains(&format!("mod {name};")),
                "{} is not a module of its set",
                file.path
            );
            let entry = format!("BuiltinTool::of::<{name}::");
            assert!(table.contains(&entry), "{} is not in the table", file.path);
        }
        assert_eq!(table.matches("BuiltinTool::of::<").count(), tools, "{set} lists a tool twice");
    }
}

#[test]
fn policy_names_no_tool() {
    let catalogue = toolwright_tools::catalogue();
    for file in rust_files("crates/policy/src") {
        for line in file.code() {
            for name in catalogue.names() {
                // `ls`, `grep` and `memory` are also programs or plain words.
                let is_word = name.bytes().all(|it| it.is_ascii_lowercase());
                let is_named = !is_word && line.contains(&format!("\"{name}"));
                assert!(!is_named, "{} names `{name}`: {line}", file.path);
            }
        }
    }
}

#[test]
fn one_file_converts_engine_errors_to_tool_errors() {
    let converts = |file: &&SourceFile| !file.path.ends_with("/failures.rs");
    for file in rust_files("crates/tools/src").iter().filter(converts) {
        assert!(!file.text.contains(" for ToolError {"), "{} converts errors", file.path);
        for converted in file.text.split("map_err(").skip(1) {
            let statement = converted.split(';').next().unwrap();
            assert!(
                !statement.contains("ToolError::new"),
                "{} converts an error itself; implement `EngineError` for it: {statement}",
                file.path
            );
        }
    }
}
