//! A shell treats the text of a command, and reports errors in it, byte for byte as it does without toolwright.

use std::{collections::BTreeMap, fs, os::unix::process::CommandExt as _, process::Command};

use pretty_assertions::assert_eq;
use serde_json::json;
use toolwright_core::{Environment, EnvironmentRules};
use toolwright_test_bed::{TestBed, command_facts};

/// Texts that would reveal code that we add to a command, or whose meaning it would change.
const TEXTS: [&str; 60] = [
    "set -v; echo hi",
    "set -v\necho hi\necho you",
    "set -o verbose\nfalse",
    "set -xv\necho hi\ncd /\nfalse",
    "bash -v -c 'echo hi'",
    "echo (",
    ")",
    "fi",
    "if then",
    "echo 'unclosed",
    "echo \"unclosed",
    "echo `unclosed",
    "echo $(unclosed",
    "echo ${unclosed",
    "echo $((1 + ",
    "if true",
    "if true; then echo a",
    "if true\nthen\necho a\n",
    "for x in a b",
    "for",
    "while true; do",
    "case a in",
    "case a in a) echo yes;; esac",
    "{ echo a",
    "( echo a",
    "f()",
    "function f",
    "echo a &&",
    "echo a |",
    "echo a\\",
    "echo a; ;",
    "echo a # 'comment",
    "echo $# ${#PATH} | wc -l",
    "[[ a == a",
    "[[ a == a ]] && echo same",
    "cat <<EOF\nhello",
    "cat <<EOF\nhello\nEOF",
    "cat <<'EOF'\n$x 'a\nEOF\necho after",
    "cat <<-EOF\n\ttabs\n\tEOF",
    "cat <<A <<B\na\nA\nb\nB",
    "cat <<< here",
    "echo $'it\\'s'",
    "trap",
    "trap -p",
    "trap 'echo bye' EXIT; exit 3",
    "trap 'echo \"line $LINENO\"' DEBUG; true\ntrue",
    "trap 'echo err $LINENO' ERR\nfalse\ntrue",
    "echo $BASH_SUBSHELL $SHLVL $- $0 $# $*",
    "echo \"<$BASH_EXECUTION_STRING>\"",
    "set -e; false; echo no",
    "set -u; echo $undefined",
    "set -n; echo no",
    "set -x; echo hi; (echo sub)",
    "echo $LINENO\n\necho $LINENO; nosuch",
    "exec echo replaced",
    "exit 300",
    "return 3",
    "kill -TERM $$",
    "(exit 4); echo $?; ! true",
    "declare -p BASH_ARGC BASH_ARGV 2>&1; caller; echo ${PIPESTATUS[@]}",
];

/// The output of bash without toolwright, and its exit code.
fn alone(bed: &TestBed, text: &str) -> (String, Option<i32>) {
    let script = "exec 2>&1; exec -a bash bash -c \"$0\" bash";
    let mut command = Command::new("/bin/bash");
    command
        .args(["-c", script, text])
        .current_dir(bed.root())
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("SHLVL", "0")]);
    reset_signals(&mut command);
    let output = command.output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// Resets all signals, as toolwright does for its commands. A test run that was started with `&` ignores SIGINT.
/// Its programs inherit that, and `trap` lists signals that were ignored when the shell started.
#[expect(unsafe_code, reason = "there is no safe interface to run code between fork and exec")]
fn reset_signals(command: &mut Command) {
    // SAFETY: the closure only makes async-signal-safe system calls and takes no lock.
    unsafe {
        command.pre_exec(|| {
            for signal in 1..=64 {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none = std::mem::MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
            Ok(())
        });
    }
}

#[tokio::test]
async fn a_shell_prints_the_same_as_without_toolwright() {
    let host = BTreeMap::from(
        [("PATH", "/usr/bin:/bin"), ("SHLVL", "0")].map(|(a, b)| (a.to_owned(), b.to_owned())),
    );
    let bed = TestBed::with_processes(|it| {
        it.shell = "/bin/bash".into();
        it.environment = Environment::of_host(host).for_commands(&EnvironmentRules::default());
    });
    for text in TEXTS {
        let output = bed.call("shell", json!({ "command": text })).await;
        let facts = command_facts(&output);
        let code = facts["exitCode"].as_i64().and_then(|it| i32::try_from(it).ok());
        // Without output, the display shows the exit code instead.
        let silent = facts["outputBytes"] == 0;
        let said = output.display.clone().filter(|_| !silent).unwrap_or_default();
        assert_eq!((said, code), alone(&bed, text), "{text}");
    }
}

#[tokio::test]
async fn the_working_directory_is_that_of_the_shell_and_not_of_its_programs() {
    let bed = TestBed::new();
    fs::create_dir_all(bed.root().join("sub/deep")).unwrap();
    bed.write("moves.sh", "cd sub/deep\n");
    let root = bed.root().display().to_string();
    for (command, place) in [
        // The last program of a text, which a shell would exec rather than fork.
        ("env -C sub true", ""),
        ("cd sub && env -C deep true", "/sub"),
        ("env -C sub true # a comment", ""),
        ("bash moves.sh", ""),
        ("cat <<X\n1\nX\nenv -C sub true", ""),
        ("if true; then env -C sub true; fi", ""),
        ("(cd sub)", ""),
        ("cd sub | true", ""),
        ("cd sub &\nwait", ""),
        // The shell itself, however it exits and whatever traps it set.
        (". ./moves.sh", "/sub/deep"),
        ("trap 'cd sub' EXIT", "/sub"),
        ("trap 'true' EXIT; cd sub; exit 3", "/sub"),
        ("cd sub; kill -9 $$", "/sub"),
        ("cd sub; kill $$", "/sub"),
        ("cd sub; exec 1>&- 2>&-", "/sub"),
        ("cd sub; trap - EXIT; set -e; false", "/sub"),
        ("command cd sub; unset PWD", "/sub"),
        ("pushd sub >/dev/null", "/sub"),
        // A shell that was replaced by `exec` is not followed.
        ("exec env -C sub true", ""),
        ("cd sub; exec true", ""),
        ("cd sub; find . -name x -exec true {} +", "/sub"),
        ("cd sub; echo exec it", "/sub"),
        ("cd sub; exec 9>/dev/null; exec <&-", "/sub"),
    ] {
        let options = toolwright_pipeline::CallOptions {
            session_id: Some(command.to_owned()),
            ..toolwright_pipeline::CallOptions::default()
        };
        let output = bed.call_with("Bash", json!({ "command": command }), options).await;
        let facts = command_facts(&output);
        assert_eq!(facts["cwd"], format!("{root}{place}"), "{command}: {output:?}");
    }
}

/// Creates programs in the project that a line must not run, and a file that a shell must not read.
fn traps(bed: &TestBed) {
    use std::os::unix::fs::PermissionsExt as _;
    for name in ["ls", "bash", "sh", "bin/ls"] {
        let file = bed.write(name, "#!/bin/sh\necho EVIL\n");
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    bed.write("start-up.sh", "echo EVIL\n");
    bed.write("elsewhere/sub/x", "");
    bed.write("sub/x", "");
}

#[tokio::test]
async fn no_variable_of_the_host_changes_what_a_line_means() {
    for (name, value) in [
        ("PATH", ":/usr/bin:/bin"),
        ("PATH", "/nowhere::/usr/bin:/bin"),
        ("PATH", "/usr/bin:/bin:"),
        ("PATH", "."),
        ("PATH", "bin:/usr/bin:/bin"),
        ("PATH", "./bin:../bin:/usr/bin:/bin"),
        ("PATH", "/proc/self/cwd:/usr/bin:/bin"),
        ("PATH", ""),
        ("BASH_ENV", "./start-up.sh"),
        ("ENV", "./start-up.sh"),
        ("BASH_FUNC_ls%%", "() { echo EVIL; }"),
        ("CDPATH", "elsewhere"),
        ("SHELLOPTS", "xtrace"),
        ("BASHOPTS", "nullglob"),
        ("POSIXLY_CORRECT", "1"),
        ("PS4", "$(echo EVIL >&2)"),
        ("GLOBIGNORE", "*"),
        ("EXECIGNORE", "/usr/bin/ls:/bin/ls"),
        ("BASH_COMPAT", "31"),
        ("LD_PRELOAD", "./evil.so"),
    ] {
        let host = |name: &str, value: &str| {
            let usual = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
            let mut variables = BTreeMap::from([usual]);
            variables.insert(name.to_owned(), value.to_owned());
            Environment::of_host(variables)
        };
        let (plain, changed) = (host("LANG", "C"), host(name, value));
        let said = async |environment: &Environment| {
            let bed = TestBed::with_processes(|it| {
                it.shell = environment.shell();
                it.environment = environment.for_commands(&EnvironmentRules::default());
            });
            traps(&bed);
            let command = "ls -d sub*; cd sub && echo *; cd ..; set -x; ls -d sub; set +x; shopt nullglob; \
                           set -o | grep posix; echo $BASH_COMPAT";
            bed.call("Bash", json!({ "command": command })).await.joined_text()
        };
        let wanted = said(&plain).await;
        assert!(wanted.starts_with("sub\nx\n+ ls -d sub\nsub\n"), "{wanted}");
        assert_eq!(said(&changed).await, wanted, "{name}={value}");
        // The same if the host sets the PATH of commands explicitly.
        if name == "PATH" {
            let rules = EnvironmentRules {
                set: BTreeMap::from([(name.to_owned(), value.to_owned())]),
                ..EnvironmentRules::default()
            };
            let bed = TestBed::with_processes(|it| it.environment = plain.for_commands(&rules));
            traps(&bed);
            let output = bed.call("Bash", json!({ "command": "ls -d sub" })).await;
            assert_eq!(output.joined_text(), "sub\n[exit code 0]", "{value}");
        }
    }
}

#[test]
fn the_path_of_a_shell_is_always_absolute() {
    let environment = Environment::of_host(BTreeMap::from([("PATH".to_owned(), ".:".to_owned())]));
    assert!(environment.shell().is_absolute() && environment.system_shell().is_absolute());
    assert_eq!(environment.shell_named("/x/zsh".as_ref()), Ok("/x/zsh".into()));
    assert!(environment.shell_named("bash".as_ref()).unwrap().is_absolute());
    for relative in ["./bash", "bin/bash", "../bash", "", "no-such-shell"] {
        assert!(environment.shell_named(relative.as_ref()).is_err(), "{relative}");
    }
}
