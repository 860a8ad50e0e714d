//! Hooks around a call: their answers, and that they can never allow more than policy does.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_base::{ErrorKind, PermissionMode};
use toolwright_core::{Content, ToolContext, ToolOutput};
use toolwright_pipeline::{
    CallOptions, CommandHook, Hook, HookEvent, HookRunner, ToolCall, ToolMatcher, TurnOrder,
};
use toolwright_test_bed::TestBed;

pub(crate) fn error_of(output: &ToolOutput) -> Option<(ErrorKind, &str)> {
    output.error.as_ref().map(|error| (error.kind, error.message.as_str()))
}

/// A hook that answers with a function and records its events.
#[derive(Clone)]
struct Scripted<F> {
    answer: F,
    asked: Arc<Mutex<Vec<Value>>>,
}

#[async_trait]
impl<F> HookRunner for Scripted<F>
where
    F: Fn(&Value) -> Result<Value, String> + Send + Sync,
{
    async fn run(&self, event: &Value, _cx: &ToolContext) -> Result<Value, String> {
        self.asked.lock().unwrap().push(event.clone());
        (self.answer)(event)
    }
}

fn add<F>(bed: &mut TestBed, event: HookEvent, matcher: &str, answer: F) -> Arc<Mutex<Vec<Value>>>
where
    F: Fn(&Value) -> Result<Value, String> + Send + Sync + 'static,
{
    let asked = Arc::default();
    let runner = Box::new(Scripted { answer, asked: Arc::clone(&asked) });
    let matcher = ToolMatcher::new(matcher).unwrap();
    bed.pipeline.hooks.push(Hook { event, matcher, timeout: Duration::from_secs(5), runner });
    asked
}

pub(crate) async fn echo(bed: &TestBed, text: &str) -> ToolOutput {
    bed.call("diagnostic_echo", json!({ "text": text })).await
}

#[tokio::test]
async fn a_disabled_tool_is_refused_before_any_hook_runs() {
    let mut bed = TestBed::new();
    let asked = add(&mut bed, HookEvent::PreToolUse, "*", |_| Ok(Value::Null));
    bed.pipeline.registry.disable(&["diagnostic_echo".to_owned()]).unwrap();
    assert_eq!(error_of(&echo(&bed, "x").await).unwrap().0, ErrorKind::ToolDisabled);
    assert_eq!(asked.lock().unwrap().len(), 0);
    bed.call("diagnostic_sleep", json!({ "ms": 0 })).await;
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_hook_gets_the_call_that_is_about_to_run_and_only_for_its_tools() {
    let mut bed = TestBed::new();
    let asked = add(&mut bed, HookEvent::PreToolUse, "diagnostic_e.*", |_| Ok(json!({})));
    assert_eq!(echo(&bed, "hi").await, ToolOutput::text("hi"));
    bed.call("diagnostic_sleep", json!({ "ms": 0 })).await;
    assert_eq!(
        *asked.lock().unwrap(),
        [json!({
            "hook_event_name": "PreToolUse",
            "session_id": "default",
            "transcript_path": "",
            "cwd": bed.root(),
            "tool_name": "diagnostic_echo",
            "tool_use_id": "call_1",
            "tool_input": { "text": "hi" },
        })]
    );
}

#[tokio::test]
async fn a_block_a_failure_and_an_invalid_answer_stop_the_call() {
    for (answer, message) in [
        (Ok(json!({ "decision": "block", "reason": "not today" })), "not today"),
        (
            Ok(json!({ "decision": "block" })),
            "a hook blocked the call and gave no reason; continue without it, or ask the user",
        ),
        (
            Err("it threw".to_owned()),
            "a PreToolUse hook failed: it threw; continue without this call, or ask the user",
        ),
        (
            Ok(json!("yes")),
            "a PreToolUse hook failed: it answered with a string instead of an object; continue without \
             this call, or ask the user",
        ),
    ] {
        let mut bed = TestBed::new();
        add(&mut bed, HookEvent::PreToolUse, "*", move |_| answer.clone());
        assert_eq!(error_of(&echo(&bed, "x").await), Some((ErrorKind::HookBlocked, message)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_does_not_answer_in_time_stops_the_call() {
    struct Slow;
    #[async_trait]
    impl HookRunner for Slow {
        async fn run(&self, _event: &Value, _cx: &ToolContext) -> Result<Value, String> {
            std::future::pending().await
        }
    }
    let mut bed = TestBed::new();
    bed.pipeline.hooks.push(Hook {
        event: HookEvent::PreToolUse,
        matcher: ToolMatcher::default(),
        timeout: Duration::from_mins(1),
        runner: Box::new(Slow),
    });
    let message = "a PreToolUse hook failed: no answer within 60000 ms; continue without this call, or \
                   ask the user";
    assert_eq!(error_of(&echo(&bed, "x").await), Some((ErrorKind::HookBlocked, message)));
}

#[tokio::test]
async fn a_call_runs_with_the_input_that_a_hook_rewrote() {
    let mut bed = TestBed::new();
    add(&mut bed, HookEvent::PreToolUse, "*", |_| {
        Ok(json!({ "updatedInput": { "text": "rewritten" }, "additionalContext": "by a hook" }))
    });
    let wanted = ToolOutput {
        content: vec![Content::text("rewritten"), Content::text("by a hook")],
        ..ToolOutput::default()
    };
    assert_eq!(echo(&bed, "original").await, wanted);
}

#[tokio::test]
async fn a_rewrite_that_leaves_the_workspace_is_refused_like_any_other_input() {
    let mut bed = TestBed::new();
    let path = bed.write("a.txt", "a");
    add(&mut bed, HookEvent::PreToolUse, "*", |_| {
        Ok(json!({ "updatedInput": { "file_path": "/etc/passwd" }, "decision": "approve" }))
    });
    let output = bed.call("Read", json!({ "file_path": path })).await;
    assert_eq!(error_of(&output).unwrap().0, ErrorKind::PathOutsideWorkspace);
}

#[tokio::test]
async fn a_hook_runs_once_even_if_it_would_rewrite_again() {
    let mut bed = TestBed::new();
    let asked = add(&mut bed, HookEvent::PreToolUse, "*", |event| {
        let text = event.pointer("/tool_input/text").unwrap().as_str().unwrap().to_owned() + "+";
        Ok(json!({ "updatedInput": { "text": text }, "additionalContext": "one plus" }))
    });
    let wanted = ToolOutput {
        content: vec![Content::text("x+"), Content::text("one plus")],
        ..ToolOutput::default()
    };
    assert_eq!(echo(&bed, "x").await, wanted);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

/// The texts in a hook's events, in order.
fn texts(asked: &Mutex<Vec<Value>>) -> Vec<String> {
    let asked = asked.lock().unwrap();
    let text = |it: &Value| it.pointer("/tool_input/text").unwrap().as_str().unwrap().to_owned();
    asked.iter().map(text).collect()
}

fn text_of(event: &Value) -> &str {
    event.pointer("/tool_input/text").and_then(Value::as_str).unwrap()
}

#[tokio::test]
async fn every_hook_sees_the_rewrites_of_the_others_even_if_it_rewrote_the_input_itself() {
    let mut bed = TestBed::new();
    // Always removes the secret.
    let first = add(&mut bed, HookEvent::PreToolUse, "*", |event| {
        Ok(json!({ "updatedInput": { "text": text_of(event).replace("secret", "") } }))
    });
    let second = add(&mut bed, HookEvent::PreToolUse, "*", |event| {
        let text = text_of(event);
        let grown = if text.contains('2') { text.to_owned() } else { format!("{text}2secret") };
        Ok(json!({ "updatedInput": { "text": grown } }))
    });
    let last = add(&mut bed, HookEvent::PreToolUse, "*", |event| {
        let blocks = text_of(event).contains("secret") && !text_of(event).contains('2');
        Ok(if blocks { json!({ "decision": "block" }) } else { json!({}) })
    });
    assert_eq!(echo(&bed, "a secret").await, ToolOutput::text("a 2"));
    assert_eq!(texts(&first), ["a secret", "a 2secret"]);
    assert_eq!(texts(&second), ["a ", "a 2"]);
    assert_eq!(texts(&last), ["a 2secret", "a 2"]);
}

#[tokio::test]
async fn an_earlier_hook_can_object_to_a_rewrite_and_revoke_its_allow() {
    for (says, outcome) in [
        (json!({}), ErrorKind::PolicyDenied),
        (json!({ "decision": "block" }), ErrorKind::HookBlocked),
    ] {
        let mut bed = TestBed::new();
        bed.pipeline.policy.change(|it| it.mode = PermissionMode::Default).unwrap();
        let first = add(&mut bed, HookEvent::PreToolUse, "*", move |event| {
            Ok(if text_of(event) == "a" { json!({ "decision": "allow" }) } else { says.clone() })
        });
        add(&mut bed, HookEvent::PreToolUse, "*", |event| {
            Ok(if text_of(event) == "b" {
                json!({})
            } else {
                json!({ "updatedInput": { "text": "b" } })
            })
        });
        // There is no listener, so a call that needs a confirmation is refused.
        assert_eq!(error_of(&echo(&bed, "a").await).unwrap().0, outcome);
        assert_eq!(texts(&first), ["a", "b"]);
    }
}

#[tokio::test]
async fn hooks_that_never_agree_on_an_input_block_the_call() {
    let mut bed = TestBed::new();
    let asked = add(&mut bed, HookEvent::PreToolUse, "*", |_| {
        Ok(json!({ "updatedInput": { "text": "a" }, "decision": "allow" }))
    });
    add(&mut bed, HookEvent::PreToolUse, "*", |_| Ok(json!({ "updatedInput": { "text": "b" } })));
    let output = echo(&bed, "x").await;
    let (kind, message) = error_of(&output).unwrap();
    assert_eq!(kind, ErrorKind::HookBlocked);
    assert!(message.contains("still change each other's input after 8 rounds"), "{message}");
    assert_eq!(asked.lock().unwrap().len(), 8);
}

#[tokio::test]
async fn later_hooks_see_the_prepared_rewrite_and_its_author_does_not_run_again() {
    let mut bed = TestBed::new();
    let first =
        add(&mut bed, HookEvent::PreToolUse, "*", |_| Ok(json!({ "updatedInput": { "ms": "0" } })));
    let second = add(&mut bed, HookEvent::PreToolUse, "*", |_| Ok(Value::Null));
    let output = bed.call("diagnostic_sleep", json!({ "ms": 1 })).await;
    assert_eq!(error_of(&output), None);
    let inputs = |asked: &Mutex<Vec<Value>>| -> Vec<Value> {
        asked.lock().unwrap().iter().map(|it| it.get("tool_input").unwrap().clone()).collect()
    };
    assert_eq!(inputs(&first), [json!({ "ms": 1 })]);
    assert_eq!(inputs(&second), [json!({ "ms": 0 })]);
}

#[tokio::test]
async fn a_post_tool_hook_gets_the_answer_and_can_add_to_it_or_suppress_it() {
    let mut bed = TestBed::new();
    let asked = add(&mut bed, HookEvent::PostToolUse, "*", |_| {
        Ok(json!({ "suppressOutput": true, "additionalContext": "ask the user instead" }))
    });
    let failures = add(&mut bed, HookEvent::PostToolUseFailure, "*", |_| Err("broken".to_owned()));
    let output = echo(&bed, "secret").await;
    assert_eq!(
        output.content,
        [Content::text("[a hook hides this output]"), Content::text("ask the user instead")]
    );
    let response = |asked: &Mutex<Vec<Value>>, key: &str| {
        asked.lock().unwrap().first().and_then(|it| it.get(key)).cloned()
    };
    assert_eq!(
        response(&asked, "tool_response"),
        Some(json!({ "content": [{ "type": "text", "text": "secret" }] }))
    );
    assert_eq!(failures.lock().unwrap().len(), 0);
    // A hook that fails after the call neither undoes nor hides it.
    let missing = bed.call("Read", json!({ "file_path": bed.root().join("none") })).await;
    assert_eq!(error_of(&missing).unwrap().0, ErrorKind::FileNotFound);
    let remark = missing.meta.get("toolwright/hookFailure").and_then(Value::as_str);
    assert_eq!(remark, Some("a PostToolUseFailure hook failed: broken"));
    assert_eq!(response(&failures, "error_type"), Some(json!("FileNotFoundError")));
}

#[tokio::test]
async fn after_a_hook_ends_the_turn_the_other_calls_fail() {
    let mut bed = TestBed::new();
    add(&mut bed, HookEvent::PreToolUse, "diagnostic_sleep", |_| {
        Ok(json!({ "continue": false, "stopReason": "budget spent" }))
    });
    let call = |name: &str| {
        let input =
            if name == "diagnostic_echo" { json!({ "text": "x" }) } else { json!({ "ms": 0 }) };
        (None, Ok(ToolCall { name: name.to_owned(), input }))
    };
    let calls = ["diagnostic_echo", "diagnostic_sleep", "diagnostic_echo"].map(call).into();
    let outputs = bed
        .pipeline
        .call_all(
            bed.pipeline.arrival("diagnostic_echo"),
            calls,
            CallOptions::default(),
            TurnOrder::Serial,
        )
        .await;
    let kinds: Vec<_> = outputs.iter().map(|it| error_of(it).map(|(kind, _)| kind)).collect();
    assert_eq!(kinds, [None, Some(ErrorKind::HookBlocked), Some(ErrorKind::Cancelled)]);
    let last = outputs.last().unwrap().joined_text();
    assert!(last.contains("budget spent"), "{last}");
}

pub(crate) fn add_command(bed: &mut TestBed, command: &str, timeout: Duration) {
    let runner = Box::new(CommandHook { command: command.to_owned() });
    let event = HookEvent::PreToolUse;
    bed.pipeline.hooks.push(Hook { event, matcher: ToolMatcher::default(), timeout, runner });
}

#[cfg(unix)]
#[tokio::test]
async fn a_shell_command_reads_the_event_and_answers_by_exit_code_and_json() {
    for (command, wanted) in [
        ("cat > event.json", None),
        ("echo '{}'", None),
        ("echo no >&2; exit 2", Some("no".to_owned())),
        (
            "exit 1",
            Some(
                "a PreToolUse hook failed: `exit 1` ended with exit status: 1; continue without this \
                 call, or ask the user"
                    .to_owned(),
            ),
        ),
        (
            r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"why"}}'"#,
            Some("why".to_owned()),
        ),
    ] {
        let mut bed = TestBed::new();
        add_command(&mut bed, command, Duration::from_secs(20));
        let output = echo(&bed, "x").await;
        assert_eq!(error_of(&output).map(|(_, message)| message.to_owned()), wanted, "{command}");
        if command.starts_with("cat") {
            let event = std::fs::read_to_string(bed.root().join("event.json")).unwrap();
            let event: Value = serde_json::from_str(&event).unwrap();
            assert_eq!(event.get("tool_input"), Some(&json!({ "text": "x" })));
        }
    }
    let mut bed = TestBed::new();
    add_command(&mut bed, "echo allow", Duration::from_secs(20));
    let output = echo(&bed, "x").await;
    assert!(error_of(&output).unwrap().1.contains("is not JSON"), "{output:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn an_incomplete_answer_is_never_treated_as_no_answer() {
    // Starts a process outside the hook's group that keeps the output open longer than the hook's timeout.
    let held = |answer: &str| {
        let leaves = "setsid sh -c 'echo $$ > pid; exec sleep 1000' &";
        format!("{leaves} while [ ! -s pid ]; do sleep 0.02; done; {answer}")
    };
    let blanks = r#"head -c 3000000 /dev/zero | tr '\0' ' '; echo '{"decision":"block"}'"#;
    for (command, wanted) in [
        (held(r#"echo '{"decision":"block","reason":"no"}'"#), "no"),
        (held("true"), "keeps its output open"),
        (held(r#"printf '{"decision":'"#), "keeps its output open"),
        (held("echo no >&2; exit 2"), "no"),
        (blanks.to_owned(), "printed more than 1048576 bytes"),
    ] {
        let mut bed = TestBed::new();
        add_command(&mut bed, &command, Duration::from_secs(50));
        let output = echo(&bed, "x").await;
        let (kind, message) = error_of(&output).unwrap();
        if let Ok(pid) = std::fs::read_to_string(bed.root().join("pid")) {
            let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        assert_eq!(kind, ErrorKind::HookBlocked, "{command}");
        assert!(message.contains(wanted), "{command}: {message}");
    }
    let mut bed = TestBed::new();
    let long = "head -c 900000 /dev/zero | tr '\\0' ' '; echo '{}'";
    add_command(&mut bed, long, Duration::from_secs(50));
    assert_eq!(echo(&bed, "x").await, ToolOutput::text("x"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_shell_command_that_takes_too_long_is_killed_with_all_its_processes() {
    let mut bed = TestBed::new();
    let pid_file = bed.root().join("pid");
    add_command(&mut bed, "sleep 1000 & echo $! > pid; wait", Duration::from_secs(3));
    assert_eq!(error_of(&echo(&bed, "x").await).unwrap().0, ErrorKind::HookBlocked);
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    let gone = || !std::path::Path::new("/proc").join(pid.trim()).join("cwd").exists();
    for _ in 0..500 {
        if gone() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(gone(), "{pid} is still there");
}
