//! Commands that attack the supervisor and their keepers. They still end in time, the report about
//! them is correct, and later commands still run.

use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_base::ErrorKind;
use toolwright_core::ToolOutput;
use toolwright_process::TaskState;
use toolwright_test_bed::{NONE_ALIVE, TestBed, alive, command_facts as facts, marker};

/// Sets `$s` to the supervisor's id: the parent of the keeper, which is the shell's parent.
const SUPERVISOR: &str = "read -r _ _ _ s _ < /proc/$PPID/stat; ";
/// Longer than any of these may take. Without the fix they take their whole two minutes.
const LIMIT: Duration = Duration::from_secs(30);

fn bed() -> TestBed {
    TestBed::with_processes(|it| it.grace = Duration::from_millis(200))
}

async fn bash(bed: &TestBed, command: &str, timeout: u32) -> ToolOutput {
    bed.call("Bash", json!({ "command": command, "timeout": timeout })).await
}

async fn runs_more_commands(bed: &TestBed) {
    // More than the number of spares, so that new ones must be forked.
    for number in 0..10 {
        let said = bash(bed, &format!("echo {number}"), 60_000).await.joined_text();
        assert_eq!(said, format!("{number}\n[exit code 0]"));
    }
}

#[tokio::test]
async fn a_command_that_stops_its_keeper_or_supervisor_still_times_out() {
    for attack in [
        "kill -STOP $PPID; sleep MARK",
        "kill -STOP $PPID; setsid sleep MARK & sleep MARK",
        "trap '' TERM; kill -STOP $PPID; while :; do sleep MARK; done",
        "kill -STOP $s $PPID; sleep MARK",
        "kill -STOP -$PPID; sleep MARK",
        // Repeatedly, from a process that ignores TERM.
        "setsid bash -c 'trap \"\" TERM; while :; do kill -STOP '$PPID' '$s'; : MARK; done' & sleep MARK",
        "for p in $(cat /proc/$s/task/$s/children) $s; do kill -STOP $p; done; sleep MARK",
    ] {
        let bed = bed();
        let marker = marker();
        let started = Instant::now();
        let command = format!("{SUPERVISOR}{}", attack.replace("MARK", &marker));
        let output = bash(&bed, &command, 1_500).await;
        assert!(started.elapsed() < LIMIT, "{attack}");
        let error = output.error.as_ref().unwrap();
        assert_eq!(error.kind, ErrorKind::ShellTimeout, "{attack}: {output:?}");
        assert_eq!(error.message, "Command timed out after 1500ms", "{attack}");
        assert_eq!(facts(&output)["survivingProcesses"], 0, "{attack}: {output:?}");
        assert_eq!(alive(&marker), NONE_ALIVE, "{attack}");
        runs_more_commands(&bed).await;
    }
}

#[tokio::test]
async fn a_command_that_stops_its_keeper_still_reports_its_exit_code() {
    let bed = bed();
    let output = bash(&bed, "kill -STOP $PPID; echo said; exit 3", 60_000).await;
    assert_eq!(
        output.joined_text(),
        "said\n[exit code 3]\n[the supervisor process of the command was suspended by a signal and has been resumed]"
    );
}

#[tokio::test]
async fn a_command_that_kills_its_keeper_leaves_no_process() {
    for attack in [
        "kill -9 $PPID; sleep MARK",
        "kill -9 $s $PPID; sleep MARK",
        "kill -9 $PPID $s; sleep MARK",
        "setsid sleep MARK & sleep MARK & kill -9 $s $PPID; wait",
        "env -i setsid sleep MARK & kill -9 $PPID; sleep MARK",
        "setsid bash -c 'kill -9 '$s' '$PPID'; sleep MARK; :' & sleep MARK",
        "kill -STOP $s; kill -9 $PPID; sleep MARK",
        "(env -i setsid sleep MARK &); kill -9 $s $PPID; exit",
        "(setsid bash -c 'trap \"\" TERM; kill -9 '$PPID' '$s'; while :; do sleep MARK; done' &); sleep MARK",
    ] {
        let bed = bed();
        let marker = marker();
        let started = Instant::now();
        let command = format!("{SUPERVISOR}echo said; {}", attack.replace("MARK", &marker));
        let output = bash(&bed, &command, 60_000).await;
        assert!(started.elapsed() < LIMIT, "{attack}");
        // Checked immediately: no process may outlive the answer.
        assert_eq!(alive(&marker), NONE_ALIVE, "{attack}: {output:?}");
        let error = output.error.as_ref().unwrap();
        assert_eq!(error.kind, ErrorKind::ShellExecution, "{attack}");
        let text = output.joined_text();
        assert!(text.starts_with("said\n[exit status unknown]\n["), "{attack}: {text}");
        assert!(text.contains("was killed; all processes that the command had started were ended"));
        assert!(!text.contains("could not be run"), "{attack}: {text}");
        assert_eq!(facts(&output)["exitCode"], Value::Null);
        runs_more_commands(&bed).await;
    }
}

#[tokio::test]
async fn keepers_and_supervisor_ignore_signals_that_can_be_blocked() {
    let bed = bed();
    let signals =
        "HUP INT QUIT TERM USR1 USR2 PIPE ALRM TSTP TTIN TTOU ABRT SEGV CHLD VTALRM IO SYS";
    let command = format!("{SUPERVISOR}for i in {signals}; do kill -$i $PPID $s; done; echo said");
    assert_eq!(bash(&bed, &command, 60_000).await.joined_text(), "said\n[exit code 0]");
    runs_more_commands(&bed).await;
}

#[tokio::test]
async fn a_task_whose_keeper_is_killed_fails_and_leaves_no_process() {
    let bed = bed();
    let marker = marker();
    let command = format!("setsid sleep {marker} & kill -9 $PPID; sleep {marker}");
    let input = json!({ "command": command, "run_in_background": true });
    let started = bed.call("Bash", input).await;
    let id = facts(&started)["taskId"].as_str().unwrap();
    let read = bed.call("TaskOutput", json!({ "task_id": id })).await;
    let text = read.joined_text();
    assert!(
        text.starts_with(&format!(
            "task `{id}` failed; the supervisor process of the command was killed"
        )),
        "{text}"
    );
    assert_eq!(alive(&marker), NONE_ALIVE);
    let task = bed.pipeline.sessions.tasks().find(id).unwrap();
    assert_eq!(task.state(), TaskState::Failed);
}

#[tokio::test]
async fn a_task_that_stops_its_keeper_can_be_stopped() {
    let bed = bed();
    let marker = marker();
    let command = format!(
        "{SUPERVISOR}trap '' TERM; echo up; while :; do kill -STOP $PPID $s; : {marker}; done"
    );
    let input = json!({ "command": command, "run_in_background": true });
    let started = bed.call("Bash", input).await;
    let id = facts(&started)["taskId"].as_str().unwrap();
    bed.pipeline.sessions.tasks().find(id).unwrap().output_beyond(0).await;
    let text = bed.call("TaskStop", json!({ "task_id": id })).await.joined_text();
    assert!(text.starts_with(&format!("task `{id}` stopped")), "{text}");
    assert!(!text.contains("is not gone yet"), "{text}");
    assert_eq!(alive(&marker), NONE_ALIVE);
    runs_more_commands(&bed).await;
}

#[tokio::test]
async fn other_commands_continue_when_one_kills_the_supervisor() {
    let bed = bed();
    let other = async {
        bash(&bed, "touch up; until [ -e go ]; do sleep 0.02; done; echo whole", 60_000).await
    };
    let attack = async {
        while !bed.root().join("up").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bash(&bed, &format!("{SUPERVISOR}kill -9 $s $PPID; wait"), 60_000).await;
        runs_more_commands(&bed).await;
        bed.write("go", "");
    };
    let (other, ()) = tokio::join!(other, attack);
    assert_eq!(other.joined_text(), "whole\n[exit code 0]");
}
