//! Edge cases of commands in a real shell: signals, traps, working directories, and large or slow output.

use std::{fs, os::unix::ffi::OsStrExt as _, time::Duration};

use pretty_assertions::assert_eq;
use serde_json::json;
use toolwright_base::ErrorKind;
use toolwright_core::{Backlog, Progress, ProgressSink};
use toolwright_pipeline::{CallOptions, Limits};
use toolwright_process::{NoSupervisor, ProcessSettings};
use toolwright_test_bed::{TestBed, command_facts, kind};

async fn bash(bed: &TestBed, command: &str) -> String {
    bed.call("Bash", json!({ "command": command })).await.joined_text()
}

/// Commands run under the supervisor, or without it.
fn ways() -> [TestBed; 2] {
    [TestBed::new(), TestBed::with_processes(|it| it.supervisor = Err(NoSupervisor::OtherSystem))]
}

#[tokio::test]
async fn a_shell_can_wait_for_its_children() {
    for shell in ["/bin/sh", "/bin/bash"] {
        for supervised in [true, false] {
            let bed = TestBed::with_processes(|it| {
                it.shell = shell.into();
                if !supervised {
                    it.supervisor = Err(NoSupervisor::OtherSystem);
                }
            });
            let waited = bash(&bed, "sleep 0.05 & wait; echo \"waited $?\"").await;
            assert_eq!(waited, "waited 0\n[exit code 0]", "{shell} {supervised}");
        }
    }
}

#[tokio::test]
async fn no_signal_is_blocked_or_ignored_in_a_command() {
    for bed in ways() {
        // Rust's runtime ignores SIGPIPE, and the supervisor handles signals of its children.
        let said = bash(&bed, "grep -E '^Sig(Blk|Ign)' /proc/self/status").await;
        let masks = said.lines().filter_map(|line| line.split_once(":\t"));
        // The C library reserves signals 32 and 33; no program can set them.
        let own = 0b11 << 31;
        let masks: Vec<(&str, u64)> = masks
            .map(|(name, mask)| (name, u64::from_str_radix(mask, 16).unwrap() & !own))
            .collect();
        assert_eq!(masks, [("SigBlk", 0), ("SigIgn", 0)], "{said}");
    }
}

#[tokio::test]
async fn a_child_that_is_killed_at_once_does_not_change_the_working_directory() {
    // Between fork and exec, a child is a copy of the shell. It must not be mistaken for the shell.
    let bed = TestBed::new();
    fs::create_dir(bed.root().join("s1")).unwrap();
    let place = format!("{}\n[exit code 0]", bed.root().join("s1").display());
    for _ in 0..40 {
        let said =
            bash(&bed, "cd s1 2>/dev/null; for i in 1 2 3; do sleep 5 & kill $!; done; wait").await;
        assert_eq!(said, "(no output)\n[exit code 0]");
        assert_eq!(bash(&bed, "pwd -P").await, place);
    }
}

#[tokio::test]
async fn tracking_the_working_directory_is_invisible_to_the_command() {
    for bed in ways() {
        for (command, said) in [
            ("set -e; mkdir d1; cd d1; rmdir ../d1", "(no output)\n[exit code 0]"),
            ("set -e; mkdir d2; cd d2; rmdir ../d2; exit 3", "(no output)\n[exit code 3]"),
            ("set -x; echo hi", "+ echo hi\nhi\n[exit code 0]"),
            ("trap 'echo before' DEBUG; echo hi", "before\nhi\n[exit code 0]"),
            ("trap 'echo wrong' ERR; false; true", "wrong\n[exit code 0]"),
            ("set -u; echo hi", "hi\n[exit code 0]"),
            ("exec >&-; exec 2>&-; exit 4", "(no output)\n[exit code 4]"),
            ("pwd() { echo mine; }; pwd", "mine\n[exit code 0]"),
            ("echo \"$#<$*>$0\"", "0<>bash\n[exit code 0]"),
            ("echo $LINENO\necho $LINENO", "1\n2\n[exit code 0]"),
            (
                "echo a\necho (",
                "a\nbash: -c: line 2: syntax error near unexpected token `newline'\n\
                 bash: -c: line 2: `echo ('\n[exit code 2]",
            ),
        ] {
            // Each command gets its own session, so it starts in the workspace.
            let options =
                CallOptions { session_id: Some(command.to_owned()), ..CallOptions::default() };
            let output = bed.call_with("Bash", json!({ "command": command }), options).await;
            let text = output.joined_text();
            let lines: Vec<&str> =
                text.lines().filter(|it| !it.contains("outside the workspace")).collect();
            assert_eq!(lines.join("\n"), said, "{command}");
        }
    }
}

#[tokio::test]
async fn a_directory_with_a_name_that_is_not_utf8_is_followed() {
    let bed = TestBed::new();
    let place = bed.root().join(std::ffi::OsStr::from_bytes(b"b\xff"));
    fs::create_dir(&place).unwrap();
    assert_eq!(bash(&bed, "cd b*").await, "(no output)\n[exit code 0]");
    let here = bash(&bed, "[ \"$PWD\" = \"$(cd ..; echo $PWD/b*)\" ] && echo there").await;
    assert_eq!(here, "there\n[exit code 0]");
}

#[tokio::test]
async fn the_hosts_oldpwd_is_not_passed_to_commands() {
    let environment = [("OLDPWD", "/"), ("PATH", "/usr/bin:/bin")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let bed = TestBed::with_processes(|it| {
        let host = toolwright_core::Environment::of_host(environment.into());
        it.environment = host.for_commands(&toolwright_core::EnvironmentRules::default());
    });
    assert!(bash(&bed, "cd -").await.contains("OLDPWD not set"));
}

#[tokio::test]
async fn the_end_of_an_output_slightly_over_the_limit_is_shown() {
    let bed = TestBed::new();
    let said =
        bash(&bed, "seq 1 12772 | head -c 65530; echo; echo 'ERROR: it broke'; exit 1").await;
    assert!(
        said.contains("\n12770\n") && said.contains("\nERROR: it broke\n[exit code 1]"),
        "{said}"
    );
    // Sizes around every limit at which the end is stored in another way.
    for size in [65_534, 65_536, 65_540, 80_000, 131_072, 196_608, 262_144] {
        let command = format!("yes 'äöü 0123456789' | head -c {size}; echo; echo last");
        let said = bash(&bed, &command).await;
        let (head, tail) = said.split_once("[… ").unwrap();
        assert!(tail.contains("\nlast\n[exit code 0]"), "{size}: {tail}");
        assert!(head.chars().count() > 10_000 && tail.chars().count() > 10_000, "{size}");
        let lines = head.lines().chain(tail.lines().skip(1));
        // The last line may be cut by the size.
        let whole = lines.take_while(|it| *it != "last").filter(|it| *it != "äöü 0123456789");
        assert!(whole.count() <= 1, "{size}: {said}");
    }
}

#[tokio::test]
async fn a_small_answer_limit_keeps_the_end_of_the_output() {
    let limits = Limits { max_result_bytes: 2_000, ..Limits::default() };
    let bed = TestBed::with_limits(limits);
    for command in ["seq 1 2000; exit 3", "seq 1 100000; exit 3", "head -c 9000 /dev/zero; exit 3"]
    {
        let said = bash(&bed, command).await;
        assert!(said.len() <= 2_000 && said.len() > 1_000, "{said}");
        assert!(said.contains("[exit code 3]") && !said.contains("result cut"), "{said}");
    }
    assert!(bash(&bed, "seq 1 2000; exit 3").await.contains("\n2000\n[exit code 3]"));
}

#[tokio::test]
async fn an_answer_names_the_file_with_the_omitted_output() {
    let bed = TestBed::with_processes(|it| it.max_file_bytes = 100_000);
    let said = bash(&bed, "seq 1 100000").await;
    assert!(
        !said.contains("the full output") && said.contains("the first 100000 are in"),
        "{said}"
    );
    let bed = TestBed::new();
    let output = bed.call("Bash", json!({ "command": "seq 1 100000" })).await;
    assert!(output.joined_text().contains("; the full output is in `"));
    let file = command_facts(&output)["outputFile"].as_str().unwrap();
    for (tool, input) in [
        ("Grep", json!({ "pattern": "^54321$", "path": file, "output_mode": "content" })),
        ("grep", json!({ "pattern": "^54321$", "directory": file })),
    ] {
        let found = bed.call(tool, input).await;
        assert!(found.error.is_none() && found.joined_text().contains("54321"), "{found:?}");
    }
    let outside = bed.call("Grep", json!({ "pattern": "root", "path": "/etc/passwd" })).await;
    assert_eq!(kind(&outside), Some(ErrorKind::PathOutsideWorkspace));
}

#[tokio::test]
async fn an_exit_code_of_an_earlier_command_is_a_failure() {
    let bed = TestBed::new();
    bed.write("f", "text");
    for (command, is_error) in [
        ("echo BUILD FAILED; false || exit 1; grep x f", true),
        ("false && grep nothing f", true),
        ("true && grep nothing f", true),
        ("cd . && grep nothing f", false),
        ("echo out; grep nothing f", false),
        ("LC_ALL=C grep nothing f", false),
    ] {
        let output = bed.call("Bash", json!({ "command": command })).await;
        assert_eq!(output.error.is_some(), is_error, "{command}: {output:?}");
    }
}

#[tokio::test]
async fn a_command_that_waits_for_its_listener_does_not_count_as_idle() {
    let idle = Duration::from_secs(4);
    let bed = TestBed::with_processes(|it: &mut ProcessSettings| it.idle_timeout = Some(idle));
    // A listener that handles nothing for twice the idle timeout, while there is much output.
    let backlog = std::sync::Arc::new(Backlog::default());
    let (sent, mut received) = tokio::sync::mpsc::unbounded_channel();
    let noted = std::sync::Arc::clone(&backlog);
    let progress = ProgressSink::queued(
        move |progress| {
            noted.sent();
            let _ = sent.send(progress);
        },
        std::sync::Arc::clone(&backlog),
    );
    let options = CallOptions { progress, ..CallOptions::default() };
    let call = bed.call_with("Bash", json!({ "command": "yes | head -c 3000000" }), options);
    let listen = async {
        let mut bytes = 0;
        let mut slow = true;
        while let Some(progress) = received.recv().await {
            if let Progress::Output { text } = &progress {
                bytes += text.len();
            }
            if bytes > 0 && std::mem::take(&mut slow) {
                tokio::time::sleep(2 * idle).await;
            }
            backlog.handled();
        }
        bytes
    };
    let (output, bytes) = tokio::join!(call, listen);
    assert_eq!((kind(&output), bytes), (None, 3_000_000), "{output:?}");
}

#[tokio::test]
async fn an_idle_timeout_is_reported() {
    let bed = TestBed::with_processes(|it| it.idle_timeout = Some(Duration::from_millis(200)));
    let said = bash(&bed, "sleep 60").await;
    assert_eq!(said, "(no output)\n[no output for 200 ms, so it was stopped]");
}

#[tokio::test]
async fn shell_answers_like_the_original_tool() {
    let bed = TestBed::new();
    let output =
        bed.call("shell", json!({ "command": "echo 'error: command failed'; exit 1" })).await;
    let view = serde_json::to_value(output.invocation_view()).unwrap();
    assert_eq!(
        view,
        json!({
            "llmContent": "Exit code: 1\n\nOutput:\nerror: command failed\n",
            "returnDisplay": "error: command failed\n",
            "error": { "type": "ShellExecutionError", "message": "Command exited with code 1" },
        })
    );
}
