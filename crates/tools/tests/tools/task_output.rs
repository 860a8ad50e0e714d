//! Reading the output of a task, and the report about its end.

use std::{collections::BTreeSet, time::Duration};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_core::ToolOutput;
use toolwright_pipeline::{CallOptions, Limits};
use toolwright_process::{NoSupervisor, TaskState};
use toolwright_test_bed::{TestBed, command_facts};

async fn start(bed: &TestBed, command: &str) -> String {
    let input = json!({ "command": command, "run_in_background": true });
    let output = bed.call("Bash", input).await;
    command_facts(&output)["taskId"].as_str().unwrap().to_owned()
}

async fn read(bed: &TestBed, id: &str) -> ToolOutput {
    bed.call("TaskOutput", json!({ "task_id": id })).await
}

fn facts(output: &ToolOutput) -> &Value {
    output.meta.get("toolwright/task").unwrap()
}

/// The output in an answer.
fn said(output: &ToolOutput) -> String {
    let text = output.joined_text();
    let (_, rest) = text.split_once("\n\n").unwrap_or_default();
    rest.rsplit_once("\n[output from byte").unwrap_or_default().0.to_owned()
}

/// The whole output, read in as many answers as needed, and their number.
async fn read_all(bed: &TestBed, id: &str, between: &str) -> (String, usize) {
    let mut parts = Vec::new();
    loop {
        let output = read(bed, id).await;
        assert!(!output.joined_text().contains("result cut"), "{output:?}");
        parts.push(said(&output));
        if facts(&output)["nextOffset"] == facts(&output)["outputBytes"] {
            return (parts.join(between), parts.len());
        }
    }
}

#[tokio::test]
async fn readers_of_one_conversation_share_the_output_of_a_task() {
    let bed = TestBed::new();
    let id = start(&bed, "seq 1 60000").await;
    // Waits for the end, so that all readers see the same output.
    bed.call("TaskOutput", json!({ "task_id": id, "offset": 0 })).await;
    let answers = futures_util::future::join_all((0..40).map(|_| read(&bed, &id))).await;
    let offsets: Vec<(u64, u64)> = answers
        .iter()
        .map(facts)
        .map(|it| (it["offset"].as_u64().unwrap(), it["nextOffset"].as_u64().unwrap()))
        .filter(|(from, to)| from < to)
        .collect();
    let begins: BTreeSet<u64> = offsets.iter().map(|it| it.0).collect();
    assert_eq!(begins.len(), offsets.len(), "{offsets:?}");
    assert!(begins.len() > 5, "{offsets:?}");
}

#[tokio::test]
async fn no_character_and_no_line_is_split() {
    let bed = TestBed::new();
    let id = start(&bed, "yes € | head -n 200000 | tr -d '\\n'").await;
    let (text, parts) = read_all(&bed, &id, "").await;
    assert!(text == "€".repeat(200_000), "{} characters", text.chars().count());
    assert!(parts > 5);
    let id = start(&bed, "yes 'äöü 0123456789' | head -n 20000").await;
    let (text, _) = read_all(&bed, &id, "\n").await;
    assert!(text == vec!["äöü 0123456789"; 20_000].join("\n"));
}

#[tokio::test]
async fn an_escape_sequence_is_held_back_until_it_is_complete() {
    let bed = TestBed::new();
    let command = "printf 'a\\033[3'; until [ -e go ]; do sleep 0.02; done; printf '1mred\\n'";
    let id = start(&bed, command).await;
    let task = bed.pipeline.sessions.tasks().find(&id).unwrap();
    task.output_beyond(3).await;
    let first = bed.call("TaskOutput", json!({ "task_id": id, "block": false })).await;
    assert_eq!((said(&first).as_str(), &facts(&first)["nextOffset"]), ("a", &json!(1)));
    bed.write("go", "");
    assert_eq!(said(&read(&bed, &id).await), "red");
}

#[tokio::test]
async fn small_answers_together_contain_the_whole_output() {
    let bed = TestBed::with_limits(Limits { max_result_bytes: 2_000, ..Limits::default() });
    let id = start(&bed, "seq 1 3000").await;
    let (text, parts) = read_all(&bed, &id, "\n").await;
    let all: Vec<String> = (1..=3_000).map(|it| it.to_string()).collect();
    assert_eq!(text, all.join("\n"));
    assert!(parts > 5);
}

#[tokio::test]
async fn processes_that_a_task_left_behind_are_reported() {
    let bed = TestBed::with_processes(|it| it.grace = Duration::from_millis(200));
    let id = start(&bed, "sleep 100 & echo started").await;
    let text = read(&bed, &id).await.joined_text();
    let state = format!(
        "task `{id}` completed with exit code 0; 1 process outlived the shell and was stopped"
    );
    assert!(text.starts_with(&state), "{text}");
}

#[tokio::test]
async fn a_stop_reports_the_state_before_it_and_remaining_processes() {
    let stop = async |bed: &TestBed, id: &str| {
        bed.call("TaskStop", json!({ "task_id": id })).await.joined_text()
    };
    let bed = TestBed::new();
    let id = start(&bed, "trap 'exit 0' TERM; echo up; while :; do sleep 0.02; done").await;
    bed.pipeline.sessions.tasks().find(&id).unwrap().output_beyond(0).await;
    let state = format!("task `{id}` stopped with exit code 0");
    assert_eq!(stop(&bed, &id).await, format!("{state}; all of its processes have ended"));
    assert_eq!(stop(&bed, &id).await, format!("{state}; it was already stopped"));
    let ended = start(&bed, "true").await;
    read(&bed, &ended).await;
    assert!(stop(&bed, &ended).await.ends_with("with exit code 0, before it could be stopped"));
    let bed = TestBed::with_processes(|it| it.supervisor = Err(NoSupervisor::OtherSystem));
    let id = start(&bed, "sleep 100").await;
    let text = stop(&bed, &id).await;
    assert!(text.contains("may still run") && !text.contains("all of its processes"), "{text}");
}

#[tokio::test]
async fn only_its_own_session_can_see_a_task() {
    let bed = TestBed::new();
    let call = async |session: &str, tool: &str, input: Value| {
        let options =
            CallOptions { session_id: Some(session.to_owned()), ..CallOptions::default() };
        bed.call_with(tool, input, options).await
    };
    let command = "echo secret; until [ -e go ]; do sleep 0.02; done";
    let background = json!({ "command": command, "run_in_background": true });
    let started = call("one", "Bash", background).await;
    let facts = command_facts(&started);
    let (id, file) = (facts["taskId"].as_str().unwrap(), facts["outputFile"].as_str().unwrap());
    bed.pipeline.sessions.tasks().find(id).unwrap().output_beyond(0).await;
    for tool in ["TaskOutput", "TaskStop"] {
        let foreign = call("two", tool, json!({ "task_id": id })).await;
        let unknown = call("two", tool, json!({ "task_id": "task_9" })).await;
        let message = |output: &ToolOutput| output.error.as_ref().unwrap().message.clone();
        assert_eq!(message(&foreign), message(&unknown).replace("task_9", id));
        assert_eq!(foreign.error.as_ref().unwrap().kind, unknown.error.unwrap().kind);
        assert!(foreign.joined_text().contains("no task has been started"), "{foreign:?}");
    }
    // The file with its output is also hidden from other sessions, for every tool.
    let directory = std::path::Path::new(file).parent().unwrap().display().to_string();
    for (tool, input) in [
        ("Read", json!({ "file_path": file })),
        ("Grep", json!({ "pattern": "secret", "path": file })),
        ("Grep", json!({ "pattern": "secret", "path": directory })),
        ("Glob", json!({ "pattern": "*", "path": directory })),
        ("read_file", json!({ "path": file })),
        ("read_many_files", json!({ "paths": [file] })),
    ] {
        let foreign = call("two", tool, input).await;
        let text = serde_json::to_string(&foreign.result_view()).unwrap();
        assert!(!text.contains("secret\\n") && !text.contains("1\\tsecret"), "{tool}: {text}");
        assert!(foreign.error.is_some() || text.contains("outside"), "{tool}: {text}");
    }
    assert!(call("one", "Read", json!({ "file_path": file })).await.error.is_none());
    // The host sees all tasks, each with its session. The calls of the other session changed
    // nothing.
    let tasks = bed.pipeline.sessions.tasks().list();
    let seen: Vec<_> = tasks.iter().map(|it| (&*it.id, &*it.session_id, it.state())).collect();
    assert_eq!(seen, [(id, "one", TaskState::Running)]);
    bed.write("go", "");
    let read = call("one", "TaskOutput", json!({ "task_id": id })).await;
    assert!(read.joined_text().contains("completed with exit code 0"), "{read:?}");
}
