//! Judging a line costs a bounded amount of work, whatever the line; and a line that is too long or too
//! tangled is never treated more kindly for it.

use std::pin::pin;

use futures_util::FutureExt as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright::{
    error::ErrorKind,
    pipeline::{CallOptions, ToolCall},
    policy::{
        Action::{Allow, Ask, Deny},
        Layer, PermissionMode, PolicyConfig,
        command::analyse_counting,
    },
    shell::{MAX_LINE_BYTES, ReadingWork, ShellDialect},
};

use crate::{
    policy_commands::{engine, engine_in_mode},
    test_bed::TestBed,
};

/// What long lines are made of: every construct of the language, closed and left open.
const UNITS: &[&str] = &[
    "a;",
    "a ",
    "a\n",
    ">x ",
    "2>&1 ",
    "!",
    "! ",
    "'",
    "\"",
    "'a' ",
    "\"a\" ",
    "x=(",
    "((",
    "$((",
    "$(",
    "$(a) ",
    "`",
    "`a` ",
    "{",
    "{ ",
    "{ a;};",
    "(",
    "( ",
    "(a);",
    "case x in ",
    "case x in x) a;; ",
    "case a in b) c;; esac;",
    "<<E",
    "<<E\n",
    "<<",
    "cat <<E\na\nE\n",
    "<<<a ",
    "\\\n",
    "a\\\n",
    "a&&",
    "a||",
    "a|",
    "a|b ",
    "! a|",
    "${x",
    "${",
    "${x:-",
    "${x:-a} ",
    "${x:-${x:-a}} ",
    "${x/",
    "$x",
    "$x|",
    "[[ ",
    "[[ a",
    "[[ a ]];",
    "[[ a =~ (",
    "[ ",
    "[ a ]|",
    "=~ ",
    "if a;then ",
    "if a;then b;fi;",
    "for a in b;do ",
    "while ",
    "select x in ",
    "function ",
    "f(){ ",
    "a()",
    "x=1 ",
    "x=1;",
    "a[",
    "a[1]=",
    "$'",
    "$[",
    "<(",
    "<(a)|",
    ">(",
    "}",
    ")",
    "]]",
    ";;",
    "&",
    ";",
    "#",
    "# \n",
    "*",
    "@(",
    "~",
    "a~",
    "é",
    "\u{202e}",
    "{a,b}",
    "a=$(b) ",
    "A=1 ",
    "A=1 a;",
    "env ",
    "env A=1 ",
    "timeout 1 ",
    "xargs ",
    "eval ",
    "find -exec a ';' ",
    "sh -c 'a'; ",
    "sh -c \"sh -c 'a'\"; ",
    "time ",
    "export A=1;",
    "read a;",
    "\"$x|",
    "$(a $(b)) ",
    "mkdir d;cd d;cat ../x;",
    "cd a/../..;",
    "docker ps;",
    "1>",
    "\n",
];

fn work_on(line: &str) -> ReadingWork {
    analyse_counting(ShellDialect::Bash, line, Some("/home/me")).1
}

#[test]
fn the_work_on_a_line_is_bounded_whatever_it_is_made_of() {
    let scripts = |depth: usize| {
        let mut line = "a;".repeat(4_000);
        for _ in 0..depth {
            line = format!("eval '{}'", line.replace('\'', "'\\''"));
        }
        line
    };
    let mut lines: Vec<String> =
        UNITS.iter().map(|it| it.repeat(MAX_LINE_BYTES / it.len())).collect();
    lines.extend(UNITS.iter().map(|it| format!("f() {{ {}", it.repeat(500 / it.len()))));
    lines.extend((1..5).map(scripts));
    for line in lines {
        let ReadingWork { read, copied, reports, requests } = work_on(&line);
        let start: String = line.chars().take(30).collect();
        assert!(read <= 3 * MAX_LINE_BYTES, "{start:?} is read over and over: {read} bytes");
        assert!(copied <= 18 * MAX_LINE_BYTES, "{start:?} is copied over and over: {copied} bytes");
        assert!(reports <= 801, "{start:?} keeps the parser busy: {reports} reports");
        assert!(requests <= 1_101, "{start:?} is scanned over and over: {requests} requests");
    }
}

#[test]
fn lines_as_people_write_them_are_read_to_the_end_up_to_64_kilobytes() {
    let of = |unit: &str| unit.repeat((MAX_LINE_BYTES - 100) / unit.len());
    let document = format!("cat <<'EOF'\n{}EOF\n", of("some text; $(with) signs 'in it\n"));
    let words = format!("echo {}", of("several words "));
    let list = of("echo several words of text for a person && cat some/directory/file.txt\n");
    let quoted = format!("echo '{}'", of("some text; (with) signs in it\n"));
    let engine = engine(&json!({ "allow": ["Bash(echo:*)", "Bash(cat:*)"] }));
    for line in [document, words, list, quoted] {
        let verdict = engine.evaluate("Bash", &json!({ "command": line }));
        assert_eq!(verdict.action, Allow, "{:?}: {}", &line[..20], verdict.reason);
    }
}

#[test]
fn a_deny_never_becomes_an_ask_because_the_line_is_long() {
    let denying = engine(&json!({
        "allow": ["Bash(a:*)", "Bash(cat:*)"],
        "deny": ["Bash(rm:*)", "Read(.env)"],
    }));
    let action = |line: &str| denying.evaluate("Bash", &json!({ "command": line })).action;
    // What the directories of a line cost is another matter.
    for unit in UNITS.iter().filter(|it| !it.contains("cd ")) {
        let filling = |bytes: usize| unit.repeat(bytes / unit.len());
        let behind = |bytes: usize| format!("{}\nrm x", filling(bytes));
        let before = |bytes: usize| format!("cat .env; {}", filling(bytes));
        // What opens something may swallow the command, in a short line as well.
        assert!(action(&behind(20_000)) >= action(&behind(60)), "{unit:?} before `rm x`");
        assert!(action(&before(9_000)) >= action(&before(60)), "{unit:?} behind `cat .env`");
        for line in [behind(100_000), before(100_000)] {
            assert_eq!(action(&line), Deny, "{unit:?}");
        }
    }
}

#[test]
fn a_line_that_is_not_looked_into_gets_the_strictest_answer_that_may_apply() {
    let long = format!("echo {}", "a ".repeat(50_000));
    let tangled = "x=(".repeat(10_000);
    for line in [&long, &tangled] {
        let input = json!({ "command": line });
        for (policy, expected) in [
            (json!({ "allow": ["Bash(echo:*)"] }), Ask),
            (json!({ "allow": ["Bash"] }), Allow),
            (json!({ "allow": ["Bash"], "ask": ["Bash(rm:*)"] }), Ask),
            (
                json!({ "allow": ["Bash"], "ask": ["Bash(git push:*)"], "deny": ["Bash(rm:*)"] }),
                Deny,
            ),
            (json!({ "allow": ["Bash"], "deny": ["Read(.env)"] }), Deny),
            (json!({ "allow": ["Bash"], "deny": ["WebFetch(domain:x.org)"] }), Allow),
            (
                json!({ "allow": ["Bash"], "rules": [
                    { "tool": "Bash", "action": "deny", "conditions": [{ "commandPrefix": "rm" }] }
                ] }),
                Deny,
            ),
            (
                json!({ "allow": ["Bash"], "rules": [
                    { "tool": "Bash", "action": "deny", "conditions": [{ "pathGlob": "**/.env" }] }
                ] }),
                Deny,
            ),
        ] {
            let verdict = engine(&policy).evaluate("Bash", &input);
            assert_eq!(verdict.action, expected, "{policy}: {}", verdict.reason);
            if expected == Deny {
                assert!(verdict.reason.contains("put it into a script file"), "{}", verdict.reason);
            }
        }
        let denying = json!({ "deny": ["Bash(rm:*)"] });
        let bypassing = engine_in_mode(&denying, PermissionMode::BypassPermissions);
        assert_eq!(bypassing.evaluate("Bash", &input).action, Deny);
    }
}

#[test]
fn a_line_of_64_kilobytes_that_a_person_agreed_to_runs_again() {
    let line = format!("make {}", "a\\*b ".repeat(13_000));
    let input = json!({ "command": line });
    let engine = engine(&json!({}));
    let rule = format!("Bash({})", line.trim().replace('\\', "\\\\").replace('*', "\\*"));
    let grant = PolicyConfig::from_json(&json!({ "allow": [rule] }), Layer::Session).unwrap();
    let granted = engine.with_layer(Layer::Session, grant).unwrap();
    assert_eq!(granted.evaluate("Bash", &input).action, Allow);
}

fn denying_bed() -> TestBed {
    let bed = TestBed::new();
    let config =
        PolicyConfig::from_json(&json!({ "deny": ["Bash(rm:*)"] }), Layer::Options).unwrap();
    bed.pipeline.policy.change(|it| it.layers.push((Layer::Options, config))).unwrap();
    bed
}

#[tokio::test]
async fn a_long_line_is_judged_aside_and_a_call_that_is_ended_meanwhile_ends() {
    let bed = denying_bed();
    let call = |line: String, options| {
        let call = ToolCall { name: "Bash".to_owned(), input: json!({ "command": line }) };
        bed.pipeline.call(call, options)
    };
    let short = pin!(call("rm x".to_owned(), CallOptions::default())).now_or_never().unwrap();
    assert_eq!(short.error.unwrap().kind, ErrorKind::PolicyDenied);

    let long = format!("{}rm x", "echo a; ".repeat(1_000));
    let mut judged = pin!(call(long.clone(), CallOptions::default()));
    assert!(judged.as_mut().now_or_never().is_none(), "it was judged on the caller's thread");
    assert_eq!(judged.await.error.unwrap().kind, ErrorKind::PolicyDenied);

    let cancel = CancellationToken::new();
    let options = CallOptions { cancel: cancel.clone(), ..CallOptions::default() };
    let mut ended = pin!(call(long, options));
    assert!(ended.as_mut().now_or_never().is_none());
    cancel.cancel();
    assert_eq!(ended.await.error.unwrap().kind, ErrorKind::Cancelled);
}
