//! Commands through the whole pipeline, on real processes: their output, their end, and the
//! processes that they leave.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    pin::pin,
    time::{Duration, Instant},
};

use pretty_assertions::assert_eq;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright_base::ErrorKind;
use toolwright_core::ToolOutput;
use toolwright_pipeline::CallOptions;
use toolwright_process::{NoSupervisor, OnTimeout, ProcessSettings, TaskState};
use toolwright_test_bed::{NONE_ALIVE, TestBed, alive, command_facts as facts, kind, marker};

async fn bash(bed: &TestBed, command: &str) -> ToolOutput {
    bed.call("Bash", json!({ "command": command })).await
}

async fn gone(marker: &str, within: Duration) -> bool {
    let started = Instant::now();
    while !alive(marker).is_empty() {
        if started.elapsed() > within {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    true
}

#[tokio::test]
async fn output_keeps_its_order_and_is_followed_by_the_exit_code() {
    let bed = TestBed::new();
    let output = bash(&bed, "echo one; echo two >&2; echo three").await;
    assert_eq!(output.joined_text(), "one\ntwo\nthree\n[exit code 0]");
    assert_eq!((kind(&output), &facts(&output)["contained"]), (None, &json!(true)));
    let failed = bash(&bed, "echo out; exit 3").await;
    assert_eq!(failed.joined_text(), "out\n[exit code 3]");
    let error = failed.error.unwrap();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::ShellExecution, "Command exited with code 3")
    );
    assert_eq!(bash(&bed, "true").await.joined_text(), "(no output)\n[exit code 0]");
    let shell = bed.call("shell", json!({ "command": "echo hi" })).await;
    assert_eq!(shell.joined_text(), "Exit code: 0\n\nOutput:\nhi\n");
}

#[tokio::test]
async fn exit_code_1_of_grep_and_test_is_no_error() {
    let bed = TestBed::new();
    let output = bash(&bed, "echo a | grep b").await;
    assert_eq!(output.joined_text(), "(no output)\n[exit code 1: no line matched]");
    assert_eq!((kind(&output), &facts(&output)["exitCode"]), (None, &json!(1)));
    let shell = bed.call("shell", json!({ "command": "test a = b" })).await;
    assert_eq!(shell.joined_text(), "Exit code: 1 (the condition is false)\n\nOutput:\n");
}

#[tokio::test]
async fn signals_syntax_errors_and_a_missing_shell_are_distinguished() {
    let bed = TestBed::new();
    let killed = bash(&bed, "kill -SEGV $$").await;
    assert_eq!(killed.error.unwrap().message, "Command was killed by SIGSEGV");
    let wrong = bash(&bed, "echo 'unclosed").await;
    assert_eq!(facts(&wrong)["exitCode"], 2, "{wrong:?}");
    assert!(wrong.joined_text().starts_with("bash: -c: line 1:"), "{wrong:?}");
    let missing = bash(&bed, "echo a\nno-such-program").await;
    assert!(missing.joined_text().contains("bash: line 2: no-such-program: command not found"));
    let bed = TestBed::with_processes(|it| it.shell = "/no/such/shell".into());
    let output = bash(&bed, "true").await;
    assert_eq!(kind(&output), Some(ErrorKind::ShellExecution));
    assert!(output.joined_text().contains("No such file or directory"), "{output:?}");
}

#[tokio::test]
async fn standard_input_is_empty_and_there_is_no_terminal() {
    let bed = TestBed::new();
    let output =
        bash(&bed, "cat; read x || echo nothing; (: </dev/tty) 2>/dev/null || echo none").await;
    assert_eq!(output.joined_text(), "nothing\nnone\n[exit code 0]");
}

#[tokio::test]
async fn a_closed_pipe_ends_its_writer() {
    let output = bash(&TestBed::new(), "yes | head -n 2; echo ${PIPESTATUS[0]}").await;
    assert_eq!(output.joined_text(), "y\ny\n141\n[exit code 0]");
}

#[tokio::test]
async fn the_working_directory_is_kept_while_it_is_in_the_workspace() {
    let bed = TestBed::new();
    for folder in ["a", "b c", "d"] {
        fs::create_dir(bed.root().join(folder)).unwrap();
    }
    let cwd = async || bash(&bed, "pwd -P").await.joined_text().lines().next().unwrap().to_owned();
    let root = bed.root().display().to_string();
    assert_eq!(cwd().await, root);
    bash(&bed, "cd a; exit 3").await;
    assert_eq!(cwd().await, format!("{root}/a"));
    bash(&bed, "cd '../b c' && false").await;
    assert_eq!(cwd().await, format!("{root}/b c"));
    bash(&bed, "set -e; cd ../d; false; cd ../a").await;
    assert_eq!(cwd().await, format!("{root}/d"));
    bash(&bed, "(cd ../a); exec 9>/dev/null").await;
    assert_eq!(cwd().await, format!("{root}/d"));
    let left = bash(&bed, "cd /").await;
    assert!(left.joined_text().contains("`/` is outside the workspace"), "{left:?}");
    assert_eq!(cwd().await, root);
    bash(&bed, "cd d").await;
    fs::remove_dir(bed.root().join("d")).unwrap();
    let back = bash(&bed, "pwd -P").await.joined_text();
    assert!(back.starts_with(&root) && back.contains("no longer exists"), "{back}");
}

#[tokio::test]
async fn each_session_has_its_own_working_directory() {
    let bed = TestBed::new();
    fs::create_dir(bed.root().join("a")).unwrap();
    let pwd = async |session: &str, command: &str| {
        let options =
            CallOptions { session_id: Some(session.to_owned()), ..CallOptions::default() };
        bed.call_with("Bash", json!({ "command": command }), options).await.joined_text()
    };
    pwd("one", "cd a").await;
    let root = bed.root().display().to_string();
    assert_eq!(pwd("one", "pwd").await, format!("{root}/a\n[exit code 0]"));
    assert_eq!(pwd("two", "pwd").await, format!("{root}\n[exit code 0]"));
}

#[tokio::test]
async fn shell_runs_in_the_given_directory_of_the_workspace() {
    let bed = TestBed::new();
    fs::create_dir(bed.root().join("a")).unwrap();
    let output = bed.call("shell", json!({ "command": "pwd", "cwd": "a" })).await;
    assert_eq!(output.display.unwrap(), format!("{}/a\n", bed.root().display()));
    let outside = bed.call("shell", json!({ "command": "pwd", "cwd": "/" })).await;
    assert_eq!(kind(&outside), Some(ErrorKind::PathOutsideWorkspace));
    let missing = bed.call("shell", json!({ "command": "pwd", "cwd": "b" })).await;
    assert_eq!(kind(&missing), Some(ErrorKind::FileNotFound));
}

#[tokio::test]
async fn invalid_input_is_refused() {
    let bed = TestBed::new();
    for command in ["", "  \n", "a\0b", &"x".repeat(200_000)] {
        assert_eq!(kind(&bash(&bed, command).await), Some(ErrorKind::Validation));
    }
    assert_eq!(kind(&bash(&bed, &format!(": {}", "x".repeat(119_000))).await), None);
    let timeout = bed.call("Bash", json!({ "command": "true", "timeout": 600_001 })).await;
    assert_eq!(kind(&timeout), Some(ErrorKind::Validation));
}

#[tokio::test]
async fn a_timeout_stops_the_command_and_keeps_its_output() {
    let bed = TestBed::new();
    let marker = marker();
    let started = Instant::now();
    let command = format!("echo before; sleep {marker}");
    let output = bed.call("shell", json!({ "command": command, "timeout": 1_000 })).await;
    assert!(started.elapsed() < Duration::from_secs(6));
    let error = output.error.clone().unwrap();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::ShellTimeout, "Command timed out after 1000ms")
    );
    assert!(output.joined_text().ends_with("Output:\nbefore\n"), "{output:?}");
    assert_eq!(alive(&marker), NONE_ALIVE);
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed_after_the_grace_period() {
    let bed = TestBed::with_processes(|it| it.grace = Duration::from_millis(200));
    let marker = marker();
    let command = format!("trap '' TERM; echo x; while :; do sleep {marker}; done");
    let output = bed.call("Bash", json!({ "command": command, "timeout": 1_000 })).await;
    assert_eq!(kind(&output), Some(ErrorKind::ShellTimeout));
    assert_eq!((facts(&output)["signal"].as_str(), alive(&marker)), (Some("SIGKILL"), NONE_ALIVE));
}

#[tokio::test]
async fn processes_that_outlive_the_shell_are_stopped() {
    let bed = TestBed::new();
    for escape in [
        "sleep M &",
        "setsid sleep M &",
        "setsid sleep M >/dev/null 2>&1 &",
        "(setsid bash -c 'sleep M & exit' & exit)",
        "setsid bash -c '(setsid sleep M &) &' &",
        "nohup sleep M >/dev/null 2>&1 & disown",
        "env -i setsid sleep M &",
        "bash -c 'trap \"\" HUP; kill -STOP $$; sleep M' & sleep M &",
    ] {
        let marker = marker();
        let started = Instant::now();
        let output = bash(&bed, &format!("echo said; {}", escape.replace('M', &marker))).await;
        assert!(started.elapsed() < Duration::from_secs(4), "{escape}");
        assert_eq!((kind(&output), alive(&marker)), (None, NONE_ALIVE), "{escape}");
        let text = output.joined_text();
        assert!(text.starts_with("said\n[exit code 0]\n["), "{escape}: {text}");
        assert!(text.contains("outlived the shell and w"), "{escape}: {text}");
    }
}

#[tokio::test]
async fn late_output_of_a_process_substitution_is_kept() {
    let output = bash(&TestBed::new(), "echo a > >(sleep 0.05; cat)").await;
    assert_eq!(output.joined_text(), "a\n[exit code 0]");
}

#[tokio::test]
async fn five_hundred_children_end_with_their_command() {
    let bed = TestBed::new();
    let marker = marker();
    let command = format!("for i in $(seq 500); do sleep {marker} & done; echo started; wait");
    let started = Instant::now();
    let output = bed.call("Bash", json!({ "command": command, "timeout": 3_000 })).await;
    assert!(started.elapsed() < Duration::from_secs(9));
    assert!(output.joined_text().starts_with("started"), "{output:?}");
    assert_eq!(alive(&marker), NONE_ALIVE);
}

/// Runs a command, aborts it once it has made the file `started`, and returns the output and how
/// long the abort took.
async fn aborted_once_started(bed: &TestBed, command: &str) -> (ToolOutput, Duration) {
    let cancel = CancellationToken::new();
    let options = CallOptions { cancel: cancel.clone(), ..CallOptions::default() };
    let mut call = pin!(bed.call_with("Bash", json!({ "command": command }), options));
    let file = bed.root().join("started");
    let has_started = async {
        while !file.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        output = &mut call => panic!("it ended before it was aborted: {output:?}"),
        () = has_started => {}
    }
    cancel.cancel();
    let aborted = Instant::now();
    (call.await, aborted.elapsed())
}

#[tokio::test]
async fn endlessly_forking_processes_are_ended() {
    let bed = TestBed::with_processes(|it| it.grace = Duration::from_millis(100));
    let marker = marker();
    // Each process waits a little and forks twice: enough to outrun a search, but not to harm the
    // machine.
    let script = bed.write("fork.sh", "sleep 0.2; bash $0 $1 & bash $0 $1 & wait\n");
    let command = format!("bash {} {marker}", script.display());
    bed.call("Bash", json!({ "command": command, "timeout": 1_200 })).await;
    assert!(gone(&marker, Duration::from_secs(2)).await);
}

#[tokio::test]
async fn an_abort_returns_at_once_and_leaves_no_process() {
    let bed = TestBed::new();
    let marker = marker();
    let command = format!("setsid sleep {marker} & touch started; sleep {marker}");
    let (output, after) = aborted_once_started(&bed, &command).await;
    assert_eq!(kind(&output), Some(ErrorKind::Cancelled));
    assert!(after < ProcessSettings::GRACE + Duration::from_secs(1), "{after:?}");
    assert!(gone(&marker, Duration::from_secs(3)).await);
}

#[tokio::test]
async fn a_command_that_kills_its_keeper_leaves_no_process() {
    let bed = TestBed::new();
    let marker = marker();
    let output =
        bash(&bed, &format!("setsid sleep {marker} & sleep {marker} & kill -9 $PPID; wait")).await;
    assert_eq!(kind(&output), Some(ErrorKind::ShellExecution));
    assert!(output.joined_text().contains("was killed"), "{output:?}");
    assert!(gone(&marker, Duration::from_secs(3)).await);
    assert_eq!(bash(&bed, "echo again").await.joined_text(), "again\n[exit code 0]");
}

#[tokio::test]
async fn a_silent_command_is_stopped_after_the_idle_timeout() {
    let bed = TestBed::with_processes(|it| it.idle_timeout = Some(Duration::from_secs(1)));
    let marker = marker();
    let output = bash(&bed, &format!("echo x; sleep 0.1; echo y; sleep {marker}")).await;
    assert_eq!(kind(&output), Some(ErrorKind::ShellTimeout));
    assert!(
        output.joined_text().starts_with("x\ny\n[no output for 1000 ms, so it was stopped]"),
        "{output:?}"
    );
    assert_eq!((&facts(&output)["stoppedFor"], alive(&marker)), (&json!("idle"), NONE_ALIVE));
}

#[tokio::test]
async fn large_output_is_shortened_and_its_file_can_be_read() {
    let bed = TestBed::new();
    let output = bash(&bed, "seq 1 100000").await;
    let whole = (1..=100_000).map(|it| format!("{it}\n")).collect::<Vec<_>>().concat();
    let text = output.joined_text();
    assert!(text.starts_with("1\n2\n3\n") && text.contains("\n100000\n[exit code 0]"), "{text}");
    assert!(text.chars().count() < 31_000);
    let facts = facts(&output);
    assert_eq!(facts["outputBytes"], whole.len());
    let path = facts["outputFile"].as_str().unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), whole);
    let left_out: usize =
        text.split("[… ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let shown: usize = text
        .lines()
        .filter(|it| it.bytes().all(|it| it.is_ascii_digit()))
        .map(|it| it.len() + 1)
        .sum();
    assert_eq!(shown + left_out, whole.len());
    let read = bed.call("Read", json!({ "file_path": path, "offset": 50_000, "limit": 1 })).await;
    assert!(read.joined_text().starts_with("50000\t50000"), "{read:?}");
    let write = bed.call("Write", json!({ "file_path": path, "content": "x" })).await;
    assert_eq!(kind(&write), Some(ErrorKind::PathOutsideWorkspace));
    let beside = Path::new(path).parent().unwrap().join("../secret").display().to_string();
    assert_eq!(
        kind(&bed.call("Read", json!({ "file_path": beside })).await),
        Some(ErrorKind::PathOutsideWorkspace)
    );
    bed.pipeline.sessions.tasks().shut_down().await;
    assert_eq!(fs::read_dir(bed.temporary()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_file_is_capped_and_the_byte_count_is_exact() {
    let bed = TestBed::with_processes(|it| it.max_file_bytes = 1_000_000);
    let output = bash(&bed, "head -c 5000000 /dev/zero | tr '\\0' x").await;
    let facts = facts(&output);
    assert_eq!(
        (&facts["outputBytes"], &facts["outputFileBytes"]),
        (&json!(5_000_000), &json!(1_000_000))
    );
    assert!(
        output.joined_text().contains("has 5000000 bytes; the first 1000000 are in"),
        "{output:?}"
    );
}

#[tokio::test]
async fn binary_output_is_readable_and_exact_in_the_file() {
    let bed = TestBed::new();
    let output = bash(&bed, "printf '\\xff\\x00\\x1b[31mred\\x1b[0m\\r\\n10%%\\r99%%\\n'").await;
    assert_eq!(output.joined_text(), "\u{fffd}\u{2400}red\n99%\n[exit code 0]");
    let output = bash(&bed, "head -c 300000 /dev/urandom | tee raw").await;
    let file = fs::read(facts(&output)["outputFile"].as_str().unwrap()).unwrap();
    assert!(file == fs::read(bed.root().join("raw")).unwrap());
}

#[tokio::test]
async fn the_environment_has_no_secrets_except_allowed_variables() {
    use toolwright_core::{Environment, EnvironmentRules};
    // Cargo set the environment of this process. No secret in it may reach the command.
    let rules = EnvironmentRules {
        set: [("CHOSEN_TOKEN".to_owned(), "chosen".to_owned())].into(),
        ..EnvironmentRules::default()
    };
    let bed = TestBed::with_processes(|it| {
        it.environment = Environment::of_process().for_commands(&rules);
    });
    let output =
        bash(&bed, "echo $CHOSEN_TOKEN; env | grep -c -i -E '^[a-z_]*(secret|password)[a-z_]*='")
            .await;
    assert_eq!(output.joined_text(), "chosen\n0\n[exit code 1: no line matched]");
}

#[tokio::test]
async fn commands_without_a_supervisor_are_reported_as_not_contained() {
    let bed = TestBed::with_processes(|it| {
        it.supervisor = Err(NoSupervisor::OtherSystem);
        it.grace = Duration::from_millis(300);
    });
    fs::create_dir(bed.root().join("a")).unwrap();
    let output = bash(&bed, "cd a; echo out; exit 4").await;
    assert_eq!(output.joined_text(), "out\n[exit code 4]");
    assert_eq!(facts(&output)["contained"], false);
    assert_eq!(facts(&output)["notContained"], "the supervisor runs only on Linux");
    assert!(bash(&bed, "pwd").await.joined_text().contains("/a\n"));
    for escape in ["sleep M &", "setsid sleep M &", "(setsid bash -c 'sleep M & exit' & exit)"] {
        let marker = marker();
        let output = bash(&bed, &escape.replace('M', &marker)).await;
        assert_eq!((kind(&output), alive(&marker)), (None, NONE_ALIVE), "{escape}");
    }
    let marker = marker();
    let started = Instant::now();
    let command = format!("setsid sleep {marker} & sleep {marker}");
    let output = bed.call("Bash", json!({ "command": command, "timeout": 300 })).await;
    assert_eq!((kind(&output), alive(&marker)), (Some(ErrorKind::ShellTimeout), NONE_ALIVE));
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(fs::read_dir(bed.temporary()).unwrap().count(), 0);
}

/// If the supervisor cannot be used, commands run without it.
#[tokio::test]
async fn a_broken_supervisor_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, cause) in [
        ("no-program", "\0", "Exec format error"),
        ("that-ends", "#!/bin/sh\nexit 1\n", "it ended at once"),
        ("of-another-version", "#!/bin/sh\nprintf tw-sup-0 >&0\n", "it has another version"),
    ] {
        let program = folder.path().join(name);
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let bed = TestBed::with_processes(|it| it.supervisor = Ok(program.clone()));
        let output = bash(&bed, "echo out").await;
        assert_eq!(output.joined_text(), "out\n[exit code 0]");
        let reason = facts(&output)["notContained"].as_str().unwrap();
        let start = format!("`{}` does not start: {cause}", program.display());
        assert!(reason.starts_with(&start), "{reason}");
    }
}

#[tokio::test]
async fn a_command_can_continue_as_a_task_after_its_timeout() {
    let bed = TestBed::with_processes(|it| it.on_timeout = OnTimeout::Background);
    let command = "echo before; until [ -e go ]; do sleep 0.05; done; echo after";
    let output = bed.call("Bash", json!({ "command": command, "timeout": 200 })).await;
    assert_eq!(kind(&output), None, "{output:?}");
    let id = facts(&output)["taskId"].as_str().unwrap().to_owned();
    bed.write("go", "");
    let read = bed.call("TaskOutput", json!({ "task_id": id })).await;
    let text = read.joined_text();
    assert!(
        text.contains("completed with exit code 0\n\nbefore\nafter\n[output from byte 0"),
        "{text}"
    );
    assert_eq!(bed.pipeline.sessions.tasks().list().first().unwrap().state(), TaskState::Completed);
}
