//! Changes between a confirmation request and its answer: the current policy applies, and only the change that was
//! shown is made.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio::sync::{
    Mutex,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};
use toolwright_base::{ErrorKind, PermissionMode, ToolError};
use toolwright_core::{ToolContext, ToolOutput, ToolSource};
use toolwright_pipeline::{
    BusEvent, CallOptions, ConfirmationAnswer, Confirmations, Hook, HookEvent, HookRunner,
    MessageBus, SharedBus, ToolMatcher,
};
use toolwright_policy::{Layer, PolicyConfig};
use toolwright_test_bed::{TestBed, kind};
use toolwright_tools::ToolSet;

/// A test bed that receives the confirmation requests one by one.
struct Asking {
    bed: Arc<TestBed>,
    bus: SharedBus,
    requests: UnboundedReceiver<(String, Value)>,
}

impl Asking {
    fn new(bed: TestBed) -> Self {
        let (sender, requests) = unbounded_channel();
        let bus = Arc::new(MessageBus::new(move |event| {
            if let BusEvent::Request { id, details, .. } = event {
                sender.send((id.clone(), Value::clone(details))).unwrap();
            }
            true
        }));
        let mut bed = bed;
        bed.pipeline.confirmations = Confirmations::new(Arc::clone(&bus), Duration::from_hours(1));
        bed.pipeline.policy.change(|it| it.mode = PermissionMode::Default).unwrap();
        Self { bed: Arc::new(bed), bus, requests }
    }

    /// Makes a call that asks for confirmation, runs `meanwhile` while it waits, and answers.
    async fn call(
        &mut self,
        name: &str,
        input: Value,
        meanwhile: impl FnOnce(&TestBed),
        answer: ConfirmationAnswer,
    ) -> (Value, ToolOutput) {
        let running = tokio::spawn({
            let (bed, name) = (Arc::clone(&self.bed), name.to_owned());
            async move { bed.call(&name, input).await }
        });
        let (id, details) = self.requests.recv().await.unwrap();
        meanwhile(&self.bed);
        assert!(self.bus.respond(&id, answer));
        (details, running.await.unwrap())
    }
}

fn yes() -> ConfirmationAnswer {
    ConfirmationAnswer { approved: true, ..ConfirmationAnswer::default() }
}

fn rules(bed: &TestBed, change: impl FnOnce(&mut PolicyConfig)) {
    let mut config = PolicyConfig::default();
    change(&mut config);
    bed.pipeline.policy.change(|it| it.layers.push((Layer::Options, config))).unwrap();
}

fn set_mode(bed: &TestBed, mode: PermissionMode) {
    bed.pipeline.policy.change(|it| it.mode = mode).unwrap();
}

fn register_again(bed: &TestBed, name: &str) {
    let tools = ToolSet::ALL.iter().flat_map(|it| it.tools());
    let tool = tools.into_iter().find(|it| it.spec().name == name).unwrap();
    bed.pipeline.registry.register(tool, ToolSource::Host).unwrap();
}

type Meanwhile = fn(&TestBed);

/// What can happen while a call of `write_file` waits, and how the call ends.
const CHANGES: [(&str, Meanwhile, Option<ErrorKind>); 9] = [
    ("nothing", |_| {}, None),
    (
        "a rule denies it",
        |bed| rules(bed, |it| it.deny = vec!["Edit(a.txt)".to_owned()]),
        Some(ErrorKind::PolicyDenied),
    ),
    ("dontAsk", |bed| set_mode(bed, PermissionMode::DontAsk), Some(ErrorKind::PolicyDenied)),
    ("plan", |bed| set_mode(bed, PermissionMode::Plan), Some(ErrorKind::PolicyDenied)),
    (
        "switched off",
        |bed| bed.pipeline.registry.disable(&["write_file".to_owned()]).unwrap(),
        Some(ErrorKind::ToolDisabled),
    ),
    (
        "removed",
        |bed| assert!(bed.pipeline.registry.unregister("write_file").is_some()),
        Some(ErrorKind::UnknownTool),
    ),
    ("replaced", |bed| register_again(bed, "write_file"), Some(ErrorKind::UnknownTool)),
    ("a rule allows it", |bed| rules(bed, |it| it.allow = vec!["Write".to_owned()]), None),
    ("a rule asks about it", |bed| rules(bed, |it| it.ask = vec!["Write".to_owned()]), None),
];

#[tokio::test]
async fn an_approved_call_is_checked_against_the_policy_at_the_time_of_the_answer() {
    for (what, meanwhile, wanted) in CHANGES {
        let mut asking = Asking::new(TestBed::new());
        let input = json!({ "path": "a.txt", "content": "x" });
        let answer = ConfirmationAnswer { always_allow: true, ..yes() };
        let (_, output) = asking.call("write_file", input, meanwhile, answer).await;
        assert_eq!((what, kind(&output)), (what, wanted));
        let is_written = asking.bed.root().join("a.txt").exists();
        assert_eq!((what, is_written), (what, wanted.is_none()));
        // A call that did not run adds no grant.
        let policy = &asking.bed.pipeline.policy;
        let is_granted = !Arc::ptr_eq(&policy.of_session("default"), &policy.get());
        assert_eq!((what, is_granted), (what, wanted.is_none()));
    }
}

#[tokio::test]
async fn an_edited_input_is_checked_against_the_policy_at_the_time_of_the_answer() {
    for (what, meanwhile, wanted) in CHANGES {
        let mut asking = Asking::new(TestBed::new());
        let input = json!({ "path": "b.txt", "content": "x" });
        let updated_input = Some(json!({ "path": "a.txt", "content": "y" }));
        let answer = ConfirmationAnswer { updated_input, ..yes() };
        let (_, output) = asking.call("write_file", input, meanwhile, answer).await;
        assert_eq!((what, kind(&output)), (what, wanted));
        assert_eq!((what, asking.bed.root().join("a.txt").exists()), (what, wanted.is_none()));
    }
}

/// A hook that reports when it runs, and waits for the test to provide its answer.
struct Held {
    asked: UnboundedSender<()>,
    answer: Mutex<UnboundedReceiver<Value>>,
}

#[async_trait]
impl HookRunner for Held {
    async fn run(&self, _event: &Value, _cx: &ToolContext) -> Result<Value, String> {
        self.asked.send(()).unwrap();
        Ok(self.answer.lock().await.recv().await.unwrap())
    }
}

#[tokio::test]
async fn policy_changes_while_a_hook_runs_apply() {
    let ask_rule: Meanwhile = |bed| rules(bed, |it| it.ask = vec!["Write".to_owned()]);
    let default: Meanwhile = |bed| set_mode(bed, PermissionMode::Default);
    let bypass = PermissionMode::BypassPermissions;
    let asked_and_allowed = [
        // An allow of the hook overrides the default ask, but not a new rule that asks.
        ("ask rule", PermissionMode::Default, ask_rule, json!({ "decision": "allow" })),
        ("ask rule, silent", bypass, ask_rule, json!({})),
        ("mode, silent", bypass, default, json!({})),
    ];
    let refusals =
        CHANGES.into_iter().filter(|it| it.2.is_some()).map(|(what, meanwhile, kind)| {
            (what, bypass, meanwhile, json!({ "decision": "allow" }), kind)
        });
    let refusals = refusals.chain(asked_and_allowed.map(|(what, mode, meanwhile, answer)| {
        (what, mode, meanwhile, answer, Some(ErrorKind::PolicyDenied))
    }));
    for (what, mode, meanwhile, answer, wanted) in refusals {
        // There is no listener, so a call that needs a confirmation is refused.
        let mut bed = TestBed::new();
        set_mode(&bed, mode);
        let (asked, mut was_asked) = unbounded_channel();
        let (answers, waiting) = unbounded_channel();
        bed.pipeline.hooks.push(Hook {
            event: HookEvent::PreToolUse,
            matcher: ToolMatcher::default(),
            timeout: Duration::from_hours(1),
            runner: Box::new(Held { asked, answer: Mutex::new(waiting) }),
        });
        let bed = Arc::new(bed);
        let running = tokio::spawn({
            let bed = Arc::clone(&bed);
            let input = json!({ "path": "a.txt", "content": "x" });
            async move { bed.call("write_file", input).await }
        });
        was_asked.recv().await.unwrap();
        meanwhile(&bed);
        answers.send(answer).unwrap();
        assert_eq!((what, kind(&running.await.unwrap())), (what, wanted));
        assert!(!bed.root().join("a.txt").exists(), "{what}");
    }
}

#[tokio::test]
async fn a_search_does_not_find_files_that_were_denied_while_it_waited_for_confirmation() {
    struct Asks;
    #[async_trait]
    impl HookRunner for Asks {
        async fn run(&self, _event: &Value, _cx: &ToolContext) -> Result<Value, String> {
            Ok(json!({ "decision": "ask" }))
        }
    }
    let mut bed = TestBed::new();
    bed.pipeline.hooks.push(Hook {
        event: HookEvent::PreToolUse,
        matcher: ToolMatcher::default(),
        timeout: Duration::from_hours(1),
        runner: Box::new(Asks),
    });
    bed.write("secret/key", "needle");
    bed.write("open", "needle");
    let mut asking = Asking::new(bed);
    let hide = |bed: &TestBed| rules(bed, |it| it.deny = vec!["Read(secret/**)".to_owned()]);
    let (_, output) = asking.call("grep", json!({ "pattern": "needle" }), hide, yes()).await;
    let text = output.joined_text();
    assert!(text.contains("open") && !text.contains("key"), "{text}");
}

#[tokio::test]
async fn an_approved_search_finds_only_files_that_no_rule_denies() {
    let mut asking = Asking::new(TestBed::new());
    asking.bed.write("secret/key", "needle");
    asking.bed.write("open", "needle");
    rules(&asking.bed, |it| {
        it.ask = vec!["grep".to_owned()];
        it.deny = vec!["Read(secret/**)".to_owned()];
    });
    let (_, output) = asking.call("grep", json!({ "pattern": "needle" }), |_| {}, yes()).await;
    let text = output.joined_text();
    assert!(text.contains("open") && !text.contains("key"), "{text}");
}

#[tokio::test]
async fn a_new_grant_does_not_answer_a_waiting_request() {
    let mut asking = Asking::new(TestBed::new());
    let input = json!({ "path": "a.txt", "content": "x" });
    let grant = |bed: &TestBed| {
        bed.pipeline.policy.grant("default", &["Edit(./a.txt)".to_owned()]);
    };
    let no = ConfirmationAnswer::default();
    let (_, output) = asking.call("write_file", input.clone(), grant, no).await;
    assert_eq!(kind(&output), Some(ErrorKind::PolicyDenied));
    assert!(!asking.bed.root().join("a.txt").exists());
    assert_eq!(kind(&asking.bed.call("write_file", input).await), None);
}

const NOTEBOOK: &str = r#"{
 "cells": [
  { "cell_type": "markdown", "id": "c", "metadata": {}, "source": ["one"] }
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}
"#;

/// Every tool that changes files, with its input, the file and the content before.
fn editing_calls(bed: &TestBed) -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let path = |name: &str| bed.root().join(name);
    vec![
        (
            "Edit",
            json!({ "file_path": path("a.txt"), "old_string": "one", "new_string": "two" }),
            "a.txt",
            "one\n",
        ),
        ("Write", json!({ "file_path": path("a.txt"), "content": "two\n" }), "a.txt", "one\n"),
        (
            "NotebookEdit",
            json!({ "notebook_path": path("a.ipynb"), "cell_id": "c", "new_source": "two" }),
            "a.ipynb",
            NOTEBOOK,
        ),
        (
            "edit_file",
            json!({ "path": "a.txt", "edits": [{ "target": "one", "replacement": "two" }] }),
            "a.txt",
            "one\n",
        ),
        (
            "write_file",
            json!({ "path": "a.txt", "content": "two\n", "overwrite": true }),
            "a.txt",
            "one\n",
        ),
    ]
}

#[tokio::test]
async fn the_editing_calls_include_every_tool_that_changes_files() {
    let bed = TestBed::new();
    let tried: Vec<&str> = editing_calls(&bed).into_iter().map(|it| it.0).collect();
    let tools = bed.pipeline.registry.snapshot();
    let engine = bed.pipeline.policy.get();
    for entry in tools.entries() {
        let name = entry.tool.spec().name.as_str();
        let params = json!({ "file_path": "/x", "path": "/x", "notebook_path": "/x" });
        let edits = engine
            .with_layer(
                Layer::Options,
                PolicyConfig { deny: vec!["Edit(//x)".to_owned()], ..PolicyConfig::default() },
            )
            .unwrap()
            .evaluate(name, &params);
        let is_denied = edits.action == toolwright_policy::Action::Deny;
        assert_eq!((name, is_denied), (name, tried.contains(&name)));
    }
}

async fn read(bed: &TestBed, name: &str) {
    let output = bed.call("Read", json!({ "file_path": bed.root().join(name) })).await;
    assert_eq!(kind(&output), None);
}

#[tokio::test]
async fn an_approved_change_is_refused_if_the_file_has_changed_since() {
    let edits_elsewhere: fn(&str) -> Option<String> = |before| Some(format!("{before}\n"));
    let same_bytes: fn(&str) -> Option<String> = |before| Some(before.to_owned());
    let removes: fn(&str) -> Option<String> = |_| None;
    for (change, is_stale) in [(edits_elsewhere, true), (removes, true), (same_bytes, false)] {
        let calls = editing_calls(&TestBed::new()).len();
        for index in 0..calls {
            let mut asking = Asking::new(TestBed::new());
            let (tool, input, name, before) = editing_calls(&asking.bed).swap_remove(index);
            let file = asking.bed.write(name, before);
            read(&asking.bed, name).await;
            let after = change(before);
            let meanwhile = |_: &TestBed| match &after {
                Some(text) => std::fs::write(&file, text).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            };
            let (details, output) = asking.call(tool, input, meanwhile, yes()).await;
            let diff = details.get("diff").and_then(Value::as_str).unwrap();
            assert!(diff.contains("two"), "{tool}: {diff}");
            let wanted = is_stale.then_some(ErrorKind::StaleFile);
            assert_eq!((tool, kind(&output)), (tool, wanted), "{after:?}");
            let now = std::fs::read_to_string(&file).ok();
            if is_stale {
                assert_eq!(now, after, "{tool}");
            } else {
                assert!(now.unwrap().contains("two"), "{tool}");
            }
        }
    }
}

#[tokio::test]
async fn a_file_that_appears_during_the_confirmation_is_not_overwritten() {
    for (tool, input) in [
        ("Write", json!({ "file_path": "?", "content": "two" })),
        ("Edit", json!({ "file_path": "?", "old_string": "", "new_string": "two" })),
        ("write_file", json!({ "path": "?", "content": "two", "overwrite": true })),
    ] {
        let mut asking = Asking::new(TestBed::new());
        let file = asking.bed.root().join("a.txt");
        let mut input = input;
        for value in input.as_object_mut().unwrap().values_mut() {
            if value == "?" {
                *value = json!(file);
            }
        }
        // Empty, so that only the confirmation prevents the tool from writing it.
        let meanwhile = |_: &TestBed| std::fs::write(&file, "").unwrap();
        let (_, output) = asking.call(tool, input, meanwhile, yes()).await;
        assert_eq!((tool, kind(&output)), (tool, Some(ErrorKind::StaleFile)));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "", "{tool}");
    }
}

#[tokio::test]
async fn a_change_that_could_not_be_shown_is_not_made_later() {
    let mut asking = Asking::new(TestBed::new());
    let file = asking.bed.write("a.txt", "nothing\n");
    read(&asking.bed, "a.txt").await;
    let input = json!({ "file_path": file, "old_string": "one", "new_string": "two" });
    let meanwhile = |_: &TestBed| std::fs::write(&file, "one\n").unwrap();
    let (details, output) = asking.call("Edit", input, meanwhile, yes()).await;
    assert_eq!(details.get("diff"), None);
    assert_eq!(kind(&output), Some(ErrorKind::StaleFile));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
}

#[tokio::test]
async fn an_edited_change_is_refused_if_the_file_has_changed_since() {
    let mut asking = Asking::new(TestBed::new());
    let file = asking.bed.write("a.txt", "one\n");
    read(&asking.bed, "a.txt").await;
    let edit = |new: &str| json!({ "file_path": file, "old_string": "one", "new_string": new });
    let meanwhile = |_: &TestBed| std::fs::write(&file, "one and more\n").unwrap();
    let answer = ConfirmationAnswer { updated_input: Some(edit("three")), ..yes() };
    let (_, output) = asking.call("Edit", edit("two"), meanwhile, answer).await;
    assert_eq!(kind(&output), Some(ErrorKind::StaleFile));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one and more\n");
}

#[tokio::test]
async fn a_change_without_a_confirmation_uses_the_current_content() {
    let bed = TestBed::new();
    let file = bed.write("a.txt", "one\n");
    read(&bed, "a.txt").await;
    std::fs::write(&file, "one\nmore\n").unwrap();
    let input = json!({ "file_path": file, "old_string": "one", "new_string": "two" });
    let output = bed.call_with("Edit", input, CallOptions::default()).await;
    assert_eq!(kind(&output), None);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\nmore\n");
}

#[tokio::test]
async fn invisible_characters_are_escaped_for_people_and_never_part_of_a_suggested_rule() {
    // Characters that change the reading direction, have no width or move the cursor.
    let hidden =
        ["\u{202e}", "\u{2066}", "\u{200b}", "\u{feff}", "\u{61c}", "\u{e0041}", "\u{1b}[2J"];
    for what in hidden {
        let mut asking = Asking::new(TestBed::new());
        let calls = [
            (
                "Write",
                json!({ "file_path": asking.bed.root().join(format!("a{what}.txt")), "content": "x" }),
            ),
            ("write_file", json!({ "path": "b.txt", "content": format!("x = {what}1\n") })),
            ("Bash", json!({ "command": format!("echo {what} > out{what}") })),
            ("shell", json!({ "command": "true", "cwd": format!("d{what}") })),
        ];
        std::fs::create_dir(asking.bed.root().join(format!("d{what}"))).unwrap();
        for (tool, input) in calls {
            let no = ConfirmationAnswer::default();
            let (mut details, _) = asking.call(tool, input, |_| {}, no).await;
            // The input is data and stays unescaped.
            details.as_object_mut().unwrap().remove("input");
            let shown = details.to_string();
            assert!(!shown.contains(what), "{tool}: {shown}");
            let escaped = what.chars().next().unwrap().escape_unicode().to_string();
            assert!(shown.replace("\\\\", "\\").contains(&escaped), "{tool}: {shown}");
            let rules = details.get("suggestedRules").unwrap().as_array().unwrap();
            let is_visible = tool == "write_file" || tool == "shell";
            assert_eq!((tool, rules.len()), (tool, usize::from(is_visible)), "{rules:?}");
        }
    }
}

#[test]
fn a_reworded_refusal_keeps_its_details_for_people() {
    let error = ToolError::new(ErrorKind::NotRead, "read it").allowed_by("by an option");
    let details = error.details.clone();
    let reworded = error.reworded("edits[1]: read it");
    assert_eq!((reworded.message.as_str(), &reworded.details), ("edits[1]: read it", &details));
    let display = ToolOutput::failure(reworded).display.unwrap();
    assert_eq!(display, "read it\nby an option");
}
