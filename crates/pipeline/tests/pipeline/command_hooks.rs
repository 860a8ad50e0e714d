//! Hooks that are shell commands: they block no other call, leave no process, and receive the whole
//! event.

use std::{collections::BTreeMap, path::Path, time::Duration};

use pretty_assertions::assert_eq;
use serde_json::json;
use toolwright_base::ErrorKind;
use toolwright_core::{Environment, ToolOutput};
use toolwright_pipeline::{CommandHook, Hook, HookEvent, ToolMatcher};
use toolwright_test_bed::TestBed;

use crate::hooks::{add_command, echo, error_of};

fn add_command_for(bed: &mut TestBed, tool: &str, command: &str, timeout: Duration) {
    let runner = Box::new(CommandHook { command: command.to_owned() });
    let (event, matcher) = (HookEvent::PreToolUse, ToolMatcher::new(tool).unwrap());
    bed.pipeline.hooks.push(Hook { event, matcher, timeout, runner });
}

/// The processes that still run, by the ids that a hook has written to a file, one on each line.
fn running(bed: &TestBed, file: &str) -> Vec<String> {
    let ids = std::fs::read_to_string(bed.root().join(file)).unwrap_or_default();
    let is_there = |id: &&str| Path::new("/proc").join(id).join("cwd").read_link().is_ok();
    ids.lines().filter(is_there).map(str::to_owned).collect()
}

async fn all_gone(bed: &TestBed, file: &str) -> bool {
    for _ in 0..500 {
        if running(bed, file).is_empty() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

/// There is one thread for blocking work. Hooks that hang must not occupy it.
#[test]
fn slow_hooks_do_not_block_other_calls() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut bed = TestBed::new();
        let waits = "echo $$ >> pids; while [ ! -e go ]; do sleep 0.05; done";
        add_command_for(&mut bed, "diagnostic_echo", waits, Duration::from_mins(5));
        let file = bed.write("a.txt", "text\n");
        let held = futures_util::future::join_all((0..12).map(|_| echo(&bed, "x")));
        let read = async {
            while running(&bed, "pids").len() < 12 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let read = bed.call("Read", json!({ "file_path": file })).await;
            // All hooks hang while the file is read.
            let hanging = running(&bed, "pids").len();
            bed.write("go", "");
            (read.joined_text(), hanging)
        };
        let (held, (read, hanging)) = tokio::join!(held, read);
        assert_eq!((read.as_str(), hanging), ("1\ttext", 12));
        assert!(held.iter().all(|it| it.error.is_none()), "{held:?}");
    });
}

#[tokio::test]
async fn processes_that_a_hook_leaves_end_with_it_without_an_error() {
    let mut bed = TestBed::new();
    let leaves = "setsid sh -c 'echo $$ > pids; exec sleep 1000' >/dev/null 2>&1 & \
                  while [ ! -s pids ]; do sleep 0.02; done";
    add_command(&mut bed, leaves, Duration::from_mins(1));
    assert_eq!(echo(&bed, "x").await, ToolOutput::text("x"));
    assert_eq!(running(&bed, "pids"), Vec::<String>::new());
}

#[tokio::test]
async fn no_hook_outlives_its_timeout() {
    for attack in [
        "setsid sh -c 'echo $$ >> pids; exec sleep 1000' & echo $$ >> pids; sleep 1000",
        "trap '' TERM; echo $$ >> pids; while :; do sleep 1000; done",
        "echo $$ >> pids; kill -STOP $PPID; sleep 1000",
        "read -r _ _ _ s _ < /proc/$PPID/stat; echo $$ >> pids; kill -STOP $s $PPID; sleep 1000",
        "read -r _ _ _ s _ < /proc/$PPID/stat; echo $$ >> pids; kill -9 $s $PPID; sleep 1000",
    ] {
        let mut bed = TestBed::new();
        add_command(&mut bed, attack, Duration::from_secs(2));
        let output = echo(&bed, "x").await;
        assert_eq!(error_of(&output).unwrap().0, ErrorKind::HookBlocked, "{attack}");
        assert!(bed.root().join("pids").exists(), "{attack}");
        assert!(all_gone(&bed, "pids").await, "{attack}: {:?}", running(&bed, "pids"));
    }
}

#[tokio::test]
async fn a_hook_ends_with_its_registry() {
    let mut bed = TestBed::new();
    // It exits with 0 on SIGTERM, which must not count as an answer.
    let command = "trap 'exit 0' TERM; echo $$ > pids; while :; do sleep 0.05; done";
    add_command(&mut bed, command, Duration::from_mins(5));
    let close = async {
        while running(&bed, "pids").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bed.pipeline.sessions.tasks().shut_down().await;
    };
    let (output, ()) = tokio::join!(echo(&bed, "x"), close);
    let (kind, message) = error_of(&output).unwrap();
    assert_eq!(kind, ErrorKind::HookBlocked, "{output:?}");
    assert!(message.contains("was stopped"), "{message}");
    assert_eq!(running(&bed, "pids"), Vec::<String>::new());
}

#[tokio::test]
async fn a_hook_has_the_hosts_secrets_but_no_programs_of_the_project() {
    let host = [("PATH", ":/usr/bin:/bin:."), ("MY_TOKEN", "s3cret"), ("ENV", "./env.sh")];
    let host = BTreeMap::from(host.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let mut bed = TestBed::with_processes(|it| {
        let host = Environment::of_host(host);
        (it.helper_shell, it.helper_environment) = (host.system_shell(), host.for_hooks());
    });
    for name in ["cat", "sh"] {
        let file = bed.write(name, "#!/bin/sh\necho evil > evil\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(file, mode).unwrap();
    }
    add_command(&mut bed, "cat > event; echo $MY_TOKEN > token", Duration::from_mins(1));
    assert_eq!(echo(&bed, "x").await, ToolOutput::text("x"));
    let token = std::fs::read_to_string(bed.root().join("token")).unwrap();
    assert_eq!((token.as_str(), bed.root().join("evil").exists()), ("s3cret\n", false));
    let event = std::fs::read_to_string(bed.root().join("event")).unwrap();
    assert!(event.contains("\"tool_input\""), "{event}");
    // The environment of a model's command has no such secret.
    let said = bed.call("Bash", json!({ "command": "echo \"<$MY_TOKEN>\"" })).await;
    assert_eq!(said.joined_text(), "<>\n[exit code 0]");
}

#[tokio::test]
async fn a_hook_can_read_all_or_part_of_a_long_event() {
    for command in ["wc -c > count", "true", "head -c 10 > count"] {
        let mut bed = TestBed::new();
        add_command(&mut bed, command, Duration::from_mins(1));
        let text = "x".repeat(3_000_000);
        assert_eq!(echo(&bed, &text).await.error, None, "{command}");
        if command.starts_with("wc") {
            let count = std::fs::read_to_string(bed.root().join("count")).unwrap();
            assert!(count.trim().parse::<usize>().unwrap() > text.len());
        }
    }
}
