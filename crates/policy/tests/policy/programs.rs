//! Which files commands touch, by the grammars of their programs. Limits on paths see all of these files, and
//! other lines are allowed. The command lines are in `policy_programs/`, one per line.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use proptest::{
    prelude::{ProptestConfig, any, prop_assert, proptest},
    sample::select,
};
use serde_json::json;
use toolwright_base::{Access, Annotations, PermissionMode, SideEffect};
use toolwright_policy::{
    Action::{self, Allow, Ask, Deny},
    Origin, PolicyEngine, PolicyVerdict, Question,
};

use crate::{
    commands::{engine, engine_in_mode},
    rules::kind,
};

fn judge(engine: &PolicyEngine, line: &str) -> PolicyVerdict {
    engine.evaluate("Bash", &json!({ "command": line }))
}

/// Checks that every line of a text gets one of the expected answers.
fn check_all(engine: &PolicyEngine, expected: &[Action], lines: &str) {
    let lines: Vec<&str> = lines.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let mut wrong = Vec::new();
    for line in &lines {
        let verdict = judge(engine, line);
        if !expected.contains(&verdict.action) {
            wrong.push(format!("{:?} {line:?}: {}", verdict.action, verdict.reason));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} are not {expected:?}:\n{}",
        wrong.len(),
        lines.len(),
        wrong.join("\n")
    );
}

/// Allows everything except these.
fn limited(deny: &[&str]) -> PolicyEngine {
    engine(&json!({ "allow": ["Bash"], "deny": deny }))
}

#[test]
fn a_denied_file_is_found_wherever_the_grammar_has_paths() {
    check_all(&limited(&["Read(.env)"]), &[Deny], include_str!("programs/denied.txt"));
}

#[test]
fn a_line_that_may_reach_a_limited_file_asks() {
    check_all(&limited(&["Read(.env)"]), &[Ask], include_str!("programs/may_be_read.txt"));
}

#[test]
fn a_path_that_the_line_itself_may_have_replaced_is_unknown() {
    let engine = limited(&["Read(.env)"]);
    check_all(&engine, &[Ask], include_str!("programs/replaced.txt"));
    check_all(&engine, &[Deny], include_str!("programs/replaced_but_denied.txt"));
    check_all(&engine, &[Allow], include_str!("programs/replaced_elsewhere.txt"));
}

#[test]
fn changing_what_may_be_a_protected_place_asks() {
    let bypass = engine_in_mode(&json!({}), PermissionMode::BypassPermissions);
    let allowed = engine(&json!({ "allow": ["Bash"] }));
    for engine in [&bypass, &allowed] {
        check_all(engine, &[Ask], include_str!("programs/protected.txt"));
        check_all(engine, &[Allow], include_str!("programs/protected_not_concerned.txt"));
    }
}

#[test]
fn limits_on_changes_see_every_written_file() {
    let engine = limited(&["Edit(locked/**)"]);
    check_all(&engine, &[Deny], include_str!("programs/changed.txt"));
    check_all(&engine, &[Ask], include_str!("programs/may_be_changed.txt"));
    check_all(&engine, &[Allow], include_str!("programs/not_changed.txt"));
    // All limits count, not only the first.
    let both = limited(&["Edit(locked/**)", "Read(.env)"]);
    check_all(&both, &[Ask], "cat $x\ngrep -r K .\nxargs cat\nls -R\nrm $x");
}

#[test]
fn lines_without_limited_files_are_allowed() {
    check_all(
        &limited(&["Read(.env)", "Read(secrets/**)", "Edit(locked/**)", "Read(~/.ssh/**)"]),
        &[Allow],
        include_str!("programs/harmless.txt"),
    );
}

#[test]
fn a_rule_for_the_program_allows_what_it_reads() {
    let engine = engine(&json!({
        "allow": ["Bash(cat:*)", "Bash(grep:*)", "Bash(git diff:*)", "Bash(sed:*)", "Bash(awk:*)",
                  "Bash(sort:*)", "Bash(head:*)", "Bash(cp:*)", "Bash(find:*)", "Bash(ls:*)"],
        "deny": ["Read(.env)"]
    }));
    check_all(&engine, &[Allow], include_str!("programs/by_rule.txt"));
}

/// Options that name a file: program, letters that may come before, short name, long name, operands.
const FILE_OPTIONS: &[(&str, &str, &str, &str, &str)] = &[
    ("grep", "inE", "f", "file", "x"),
    ("sort", "rnu", "o", "output", "x"),
    ("sort", "", "", "files0-from", ""),
    ("sort", "", "T", "temporary-directory", "x"),
    ("date", "u", "f", "file", ""),
    ("date", "u", "r", "reference", ""),
    ("file", "bL", "f", "files-from", ""),
    ("file", "b", "m", "magic-file", "x"),
    ("wc", "", "", "files0-from", ""),
    ("du", "", "X", "exclude-from", "x"),
    ("diff", "", "X", "exclude-from", "x y"),
    ("diff", "", "", "from-file", "x"),
    ("cp", "vf", "t", "target-directory", "x"),
    ("mv", "vf", "t", "target-directory", "x"),
    ("ln", "sf", "t", "target-directory", "x"),
    ("install", "v", "t", "target-directory", "x"),
    ("touch", "am", "r", "reference", "x"),
    ("truncate", "c", "r", "reference", "x"),
    ("chmod", "v", "", "reference", "x"),
    ("sed", "nE", "f", "file", "x"),
    ("awk", "", "f", "file", "x"),
    ("tar", "cv", "f", "file", "x"),
    ("tar", "cv", "T", "files-from", ""),
    ("tar", "cv", "X", "exclude-from", "x"),
    ("curl", "sL", "T", "upload-file", "http://x"),
    ("curl", "s", "o", "output", "http://x"),
    ("curl", "s", "K", "config", ""),
    ("curl", "s", "b", "cookie", "http://x"),
    ("wget", "q", "O", "output-document", "http://x"),
    ("wget", "q", "i", "input-file", ""),
    ("wget", "q", "", "post-file", "http://x"),
    ("git commit", "av", "F", "file", ""),
    ("git commit", "a", "t", "template", ""),
    ("git grep", "in", "f", "", ""),
    ("shuf", "r", "o", "output", "x"),
    ("gzip", "c", "", "files", ""),
];

/// Commands to which a file can be added as an operand.
const OPERANDS: &[&str] = &[
    "cat",
    "cat -n",
    "tac",
    "head -n 3",
    "head -3",
    "tail -n3",
    "wc -l",
    "sort -k2",
    "sort -k 2 -t :",
    "uniq -f 1",
    "cut -d= -f2",
    "cut -d = -f 2",
    "od -A d",
    "xxd -c 8",
    "base64 -w 0",
    "strings -n4",
    "md5sum",
    "stat -c %n",
    "file -F :",
    "grep -A 2 -e x",
    "grep -m1 x",
    "grep --after-context 3 x",
    "grep --max-c=1 x",
    "rg -A 2 x",
    "rg -t js x",
    "diff -U 3 x",
    "cmp -n 5 x",
    "sed -n p",
    "sed -e p -e d",
    "awk -F : -v a=b 1",
    "jq -r .a",
    "jq --arg a b .",
    "cp -S x",
    "mv",
    "rm -f",
    "tee -a",
    "touch -d now",
    "chmod 644",
    "gzip -S .z",
    "tar -b 20 -cf x",
    "tar cf x",
    "zip x",
    "git diff --",
    "git log -n 3 --",
    "git add",
    "git blame -L 1,2",
    "node x.js",
    "python3 x.py",
    "find",
    "ls -I x",
    "tree -L 1",
    "du -d 1",
    "rsync --exclude x",
    "scp -P 22",
    "less",
    "nl -w 3",
    "fold -w 9",
    "comm -1 x",
    "join -t , x",
    "unknown-program -x",
];

const SPELLINGS: &[&str] = &[
    ".env",
    "./.env",
    "sub/../.env",
    "/repo/.env",
    "'.env'",
    "\".env\"",
    ".e'n'v",
    "\\.env",
    "sub/.env",
    "$x",
    "\"$x\"",
    "${x}",
    ".en*",
    ".en?",
    ".e[n]v",
    "{.env,y}",
    "$(echo .env)",
    "/proc/self/cwd/.env",
];

/// An option with its value, in one of the forms that programs accept.
fn written(
    option: (&str, &str, &str, &str, &str),
    form: u8,
    cut: u8,
    path: &str,
) -> Option<String> {
    let (program, letters, letter, long, operands) = option;
    let shorter = usize::from(cut) % long.len().max(1);
    let start = long.get(..long.len().saturating_sub(shorter));
    // `--exclude` is its own option, not an abbreviation of `--exclude-from`.
    let start = start.filter(|it| !it.is_empty() && *it != "exclude");
    let given = match form % 8 {
        0 if !letter.is_empty() => format!("-{letter} {path}"),
        1 if !letter.is_empty() => format!("-{letter}{path}"),
        2 if !letter.is_empty() => format!("-{letters}{letter} {path}"),
        3 if !letter.is_empty() => format!("-{letters}{letter}{path}"),
        4 if !long.is_empty() => format!("--{long}={path}"),
        5 if !long.is_empty() => format!("--{long} {path}"),
        6 => format!("--{}={path}", start?),
        7 => format!("--{} {path}", start?),
        _ => return None,
    };
    // Before the operands or after them.
    Some(if cut.is_multiple_of(2) {
        format!("{program} {given} {operands}")
    } else {
        format!("{program} {operands} {given}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_limited_file_in_any_path_position_is_never_allowed(
        option in select(FILE_OPTIONS),
        operand in select(OPERANDS),
        path in select(SPELLINGS),
        (form, cut) in (any::<u8>(), any::<u8>()),
        ends in any::<bool>(),
    ) {
        let engine = limited(&["Read(.env)"]);
        let dashes = if ends && !operand.contains(" --") { "-- " } else { "" };
        let by_operand = format!("{operand} {dashes}{path}");
        // Unknown words in arguments of the project's code are not limited.
        let is_code = operand.contains("x.");
        let is_unknown = path.contains(['$', '*', '?', '[', '{']);
        prop_assert!(
            is_code && is_unknown || judge(&engine, &by_operand).action != Allow,
            "{by_operand}"
        );
        if let Some(line) = written(option, form, cut, path) {
            prop_assert!(judge(&engine, &line).action != Allow, "{line}");
        }
    }

    #[test]
    fn no_options_break_the_tables(
        program in select(vec!["grep", "tar", "git", "git log", "find", "sed", "curl", "npm", "docker", "dd"]),
        words in proptest::collection::vec("[-=:@.a-zA-Z0-9{}$*'/ ]{0,8}", 0..6),
    ) {
        let engine = limited(&["Read(.env)"]);
        let quoted: Vec<String> = words.iter().map(|it| format!("'{}'", it.replace('\'', ""))).collect();
        let line = format!("{program} {} .env.not", quoted.join(" "));
        judge(&engine, &line);
        let named = format!("unknown-program {} .env", quoted.join(" "));
        prop_assert!(judge(&engine, &named).action == Deny, "{named}");
    }
}

/// Judges a line without a real disk, and counts the path components that are looked up.
fn looked_up(engine: &PolicyEngine, line: &str) -> (Action, usize) {
    let names = AtomicUsize::new(0);
    let follow = |path: &Path| -> Option<PathBuf> {
        names.fetch_add(path.components().count(), Ordering::Relaxed);
        let mut place = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => drop(place.pop()),
                std::path::Component::CurDir => {}
                other => place.push(other),
            }
        }
        Some(place)
    };
    let verdict = engine.decide(&Question {
        tool: "Bash",
        origin: Origin::Builtin,
        side_effect: SideEffect::Mutating,
        kind: &kind("Bash"),
        annotations: &Annotations::default(),
        input: &json!({ "command": line }),
        accesses: &[Access::Run(line.to_owned())],
        directory: Path::new("/repo"),
        follow_links: Some(&follow),
    });
    (verdict.action, names.into_inner())
}

#[test]
fn long_lines_have_a_bounded_number_of_lookups() {
    let engine = limited(&["Read(.env)", "Edit(./locked/**)"]);
    let many_files: Vec<String> = (0..1_500).map(|it| format!(" f{it}")).collect();
    let many_files = many_files.concat();
    for line in [
        "mkdir d;cd d;cat ../x;".repeat(300),
        format!("cd {}", "a/../../".repeat(900)),
        format!("cd {};cat x", "a/".repeat(3_000)),
        format!("cat {}x", "../a/".repeat(1_500)),
        "cd a/../..;".repeat(600),
        "cd a;cat b;".repeat(500),
        "ln -s a b;cat b;".repeat(400),
        format!("cat{many_files}"),
        format!("cd a;cd b;cd c;cat{many_files}"),
        format!("mkdir{many_files}; cd f1; cat x"),
    ] {
        let (_, names) = looked_up(&engine, &line);
        assert!(names <= 5_000, "{names} names for {} bytes: {}", line.len(), &line[..40]);
        // A deny stays a deny, however long the line is.
        let start: Vec<&str> = line.split(';').take(480).collect();
        let start: String = start.join(";").chars().take(7_900).collect();
        let denied = format!("{start} ; cat /repo/.env");
        assert_eq!(looked_up(&engine, &denied).0, Deny, "{}", &line[..40]);
    }
    // In a short line, each path is looked up once.
    let (action, names) = looked_up(&engine, "cat src/a; cat src/a; head src/a");
    assert_eq!((action, names), (Allow, 4));
}

#[test]
fn a_deny_stays_a_deny_after_more_directories_than_are_followed() {
    let engine = limited(&["Read(.env)"]);
    // More directories than are kept, all of them inside the project.
    let line = format!("{}cat .env", "mkdir d;cd d;".repeat(100));
    assert_eq!(looked_up(&engine, &line).0, Deny);
    assert_eq!(looked_up(&engine, "cd $d; cat .env").0, Ask);
}

#[test]
fn a_limit_on_paths_applies_after_more_paths_than_are_looked_up() {
    let filler = "cd a;cd b;cat x;".repeat(600);
    let line = format!("cd sub;{filler}cat ../.env");
    assert_eq!(looked_up(&limited(&["Read(.env)"]), &line).0, Deny);
    let asks = engine(&json!({ "allow": ["Bash"], "ask": ["Read(.env)"] }));
    assert_eq!(looked_up(&asks, &line).0, Ask);
    let without_limits = engine(&json!({ "allow": ["Bash(cat:*)", "Bash(cd:*)"] }));
    assert_eq!(looked_up(&without_limits, &line).0, Allow);
}
