//! Judging any line takes a bounded amount of work, and a line that is too long or too complex is never judged
//! less strictly.

use serde_json::json;
use toolwright_base::PermissionMode;
use toolwright_policy::{
    Action::{Allow, Ask, Deny},
    Layer, PolicyConfig,
};
use toolwright_shell::{MAX_LINE_BYTES, ReadingWork, ShellDialect, analyse_counting};

use crate::commands::{engine, engine_in_mode};

/// Long lines are made of these: every construct of the language, closed and unclosed.
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
fn the_work_on_any_line_is_bounded() {
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
fn ordinary_lines_are_read_completely_up_to_64_kilobytes() {
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
    // Lines that change the directory have another limit.
    for unit in UNITS.iter().filter(|it| !it.contains("cd ")) {
        let filling = |bytes: usize| unit.repeat(bytes / unit.len());
        let behind = |bytes: usize| format!("{}\nrm x", filling(bytes));
        let before = |bytes: usize| format!("cat .env; {}", filling(bytes));
        // An unclosed construct may swallow the command, in a short line too.
        assert!(action(&behind(20_000)) >= action(&behind(60)), "{unit:?} before `rm x`");
        assert!(action(&before(9_000)) >= action(&before(60)), "{unit:?} behind `cat .env`");
        for line in [behind(100_000), before(100_000)] {
            assert_eq!(action(&line), Deny, "{unit:?}");
        }
    }
}

#[test]
fn an_unread_line_gets_the_strictest_answer_that_may_apply() {
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
fn a_granted_line_of_64_kilobytes_is_allowed_again() {
    let line = format!("make {}", "a\\*b ".repeat(13_000));
    let input = json!({ "command": line });
    let engine = engine(&json!({}));
    let rule = format!("Bash({})", line.trim().replace('\\', "\\\\").replace('*', "\\*"));
    let grant = PolicyConfig::from_json(&json!({ "allow": [rule] }), Layer::Session).unwrap();
    let granted = engine.with_layer(Layer::Session, grant).unwrap();
    assert_eq!(granted.evaluate("Bash", &input).action, Allow);
}
