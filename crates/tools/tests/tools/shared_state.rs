//! Registries that share a store: what belongs to one project, to all projects, or to one conversation.

use std::{collections::BTreeSet, sync::Arc};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_core::ToolOutput;
use toolwright_pipeline::CallOptions;
use toolwright_test_bed::{TestBed, bed_on, kind, store};

fn data(output: &ToolOutput) -> Value {
    assert_eq!(output.error, None);
    output.structured.as_ref().unwrap().value()
}

fn text(data: &Value, place: &str) -> String {
    data.pointer(place).and_then(Value::as_str).unwrap().to_owned()
}

async fn in_session(bed: &TestBed, session: &str, name: &str, input: Value) -> ToolOutput {
    let options = CallOptions { session_id: Some(session.to_owned()), ..CallOptions::default() };
    bed.call_with(name, input, options).await
}

#[tokio::test]
async fn memories_belong_to_the_project_or_to_the_user() {
    let store = store();
    let (here, there) = (bed_on(&store, "here"), bed_on(&store, "there"));
    let set = |scope: &str| json!({ "action": "set", "key": "k", "value": scope, "scope": scope });
    let get = |scope: &str| json!({ "action": "get", "key": "k", "scope": scope });
    here.call("memory", set("project")).await;
    here.call("memory", set("user")).await;
    for (bed, scope, wanted) in [
        (&here, "project", "project"),
        (&here, "user", "user"),
        (&there, "project", "Key not found"),
        (&there, "user", "user"),
    ] {
        assert_eq!(bed.call("memory", get(scope)).await.joined_text(), wanted);
    }
    let list = there.call("memory", json!({ "action": "list" })).await;
    assert_eq!(list.joined_text(), "[no keys in the scope project]");
    // The default scope is the project.
    let deleted = here.call("memory", json!({ "action": "delete", "key": "k" })).await;
    assert_eq!(deleted.joined_text(), "Deleted k");
    assert_eq!(here.call("memory", get("user")).await.joined_text(), "user");
}

#[tokio::test]
async fn registries_that_change_todos_concurrently_lose_none() {
    let store = store();
    let beds: Vec<Arc<TestBed>> = (0..2).map(|_| Arc::new(bed_on(&store, "one"))).collect();
    let mut workers = Vec::new();
    for (number, bed) in beds.iter().enumerate() {
        for worker in 0..4 {
            let bed = Arc::clone(bed);
            workers.push(tokio::spawn(async move {
                let mut kept = BTreeSet::new();
                for task in 0..25 {
                    let task = format!("{number}.{worker}.{task}");
                    let added =
                        bed.call("write_todos", json!({ "action": "add", "task": task })).await;
                    let id = text(&data(&added), "/todos/0/id");
                    let action = if task.ends_with('3') { "remove" } else { "complete" };
                    let done = bed.call("write_todos", json!({ "action": action, "id": id })).await;
                    assert_eq!(kind(&done), None);
                    if action == "complete" {
                        kept.insert((id, task));
                    }
                }
                kept
            }));
        }
    }
    let mut wanted = BTreeSet::new();
    for worker in workers {
        wanted.extend(worker.await.unwrap());
    }
    let list = bed_on(&store, "one").call("write_todos", json!({ "action": "list" })).await;
    let list = &data(&list);
    assert_eq!((&list["total"], &list["open"]), (&json!(wanted.len()), &json!(0)));
    let listed = list["todos"].as_array().unwrap().iter();
    let found: BTreeSet<_> = listed.map(|it| (text(it, "/id"), text(it, "/task"))).collect();
    assert_eq!(found, wanted);
    let elsewhere = bed_on(&store, "two").call("write_todos", json!({ "action": "list" })).await;
    assert_eq!(elsewhere.joined_text(), "[no todos]");
}

#[tokio::test]
async fn ten_thousand_todos_are_counted_and_listed_in_pages() {
    let bed = bed_on(&store(), "many");
    let todos = bed.pipeline.sessions.shared().stored.project_todos();
    let mut ids = Vec::new();
    for number in 0..10_000 {
        ids.push(todos.add(&format!("task {number}")).await.unwrap().id.to_string());
    }
    assert!(ids.is_sorted(), "ids are not in order of creation");
    let done = bed.call("write_todos", json!({ "action": "complete", "id": ids.last() })).await;
    assert_eq!(kind(&done), None);
    let mut shown: Vec<String> = Vec::new();
    for part in 0..10 {
        let input = json!({ "action": "list", "after": shown.last() });
        let page = bed.call("write_todos", input).await;
        let facts = &data(&page);
        let left = 10_000 - part * 1_000;
        assert_eq!(facts["total"], json!(left));
        assert_eq!(facts["open"], json!(left - 1));
        assert_eq!(facts["complete"], json!(part == 9));
        let has_note = page.joined_text().ends_with(&format!(
            "[showing 1000 of {left} todos, {} of them open; set after to {} for the next]",
            left - 1,
            ids.get(part * 1_000 + 999).unwrap()
        ));
        assert_eq!(has_note, part < 9);
        let todos = facts["todos"].as_array().unwrap().iter();
        shown.extend(todos.map(|it| text(it, "/id")));
    }
    assert_eq!(shown, ids);
}

#[tokio::test]
async fn todos_are_kept_for_named_conversations_only() {
    let store = store();
    let (first, second) = (bed_on(&store, "one"), bed_on(&store, "one"));
    let todo =
        |content: &str| json!({ "content": content, "status": "pending", "activeForm": "…" });
    let list = |content: &str| json!({ "todos": [todo(content)] });
    let old = |output: &ToolOutput| data(output).get("oldTodos").cloned().unwrap();
    for (session, is_shared) in
        [("chat-7", true), (&*"long".repeat(1_000), true), ("default", false), ("mcp-1", false)]
    {
        assert_eq!(old(&in_session(&first, session, "TodoWrite", list("a")).await), json!([]));
        let resumed = in_session(&second, session, "TodoWrite", list("b")).await;
        let wanted = if is_shared { json!([todo("a")]) } else { json!([]) };
        assert_eq!(old(&resumed), wanted, "{session}");
    }
    let elsewhere = bed_on(&store, "two");
    assert_eq!(old(&in_session(&elsewhere, "chat-7", "TodoWrite", list("c")).await), json!([]));
}

#[tokio::test]
async fn a_setting_of_one_project_does_not_apply_to_another() {
    let store = store();
    let (here, there) = (bed_on(&store, "here"), bed_on(&store, "there"));
    here.call("Config", json!({ "setting": "theme", "value": "dark" })).await;
    let read = json!({ "setting": "theme" });
    assert_eq!(here.call("Config", read.clone()).await.joined_text(), "theme = \"dark\"");
    assert_eq!(
        there.call("Config", read).await.joined_text(),
        "`theme` (the colours of the interface) is not set"
    );
}
