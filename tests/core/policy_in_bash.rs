//! What policy allows is run by a real bash, whose every program only records its name: nothing but
//! what the rules name may ever show up, and no file may be written.
#![cfg(target_os = "linux")]

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::json;
use tempfile::TempDir;
use toolwright::policy::{Action, PolicyEngine};

use crate::policy_commands::engine;

/// Programs that the rules allow, and programs that they do not.
const RECORDED: [&str; 14] = [
    "git", "ls", "cat", "grep", "head", "rm", "evil", "make", "touch", "python3", "id", "sudo",
    "a", "x",
];
const ALLOWED: [&str; 6] = ["git status", "git log", "ls", "cat", "grep", "head"];
/// Wrappers that the analysis looks through have to work for real.
const REAL: [&str; 10] =
    ["env", "timeout", "nice", "nohup", "setsid", "stdbuf", "xargs", "bash", "sh", "find"];

struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { dir: TempDir::new().unwrap() };
        fs::create_dir(bench.programs()).unwrap();
        let recorder = bench.dir.path().join("recorder");
        let log = bench.log().display().to_string();
        let record = format!("#!/bin/sh\nprintf '%s %s\\0' \"${{0##*/}}\" \"$1\" >> {log}\n");
        // Not written by this process: a child that another test forks meanwhile would hold the file
        // open for writing, and no file that is can be run.
        let written = Command::new("/bin/sh")
            .args(["-c", r#"printf %s "$1" > "$2"; chmod 755 "$2""#, "sh", &record])
            .arg(&recorder)
            .status();
        assert!(written.unwrap().success());
        for name in RECORDED {
            symlink(&recorder, bench.programs().join(name)).unwrap();
        }
        for name in REAL {
            let real = ["/usr/bin", "/bin"].map(|it| Path::new(it).join(name));
            if let Some(real) = real.into_iter().find(|it| it.exists()) {
                symlink(real, bench.programs().join(name)).unwrap();
            }
        }
        bench
    }

    fn programs(&self) -> PathBuf {
        self.dir.path().join("programs")
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    /// Runs a line, for so many seconds at most, and gives what was recorded, and which files came to be.
    fn run(&self, line: &str, seconds: &str) -> (HashSet<String>, Vec<String>) {
        // What goes on in the background has to keep out of the next line's place.
        let place = TempDir::new_in(self.dir.path()).unwrap();
        fs::write(self.log(), "").unwrap();
        Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", seconds, "/bin/bash", "--norc", "--noprofile", "-c", line])
            .env_clear()
            .env("PATH", self.programs())
            .env("HOME", place.path())
            .current_dir(place.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let recorded = fs::read_to_string(self.log()).unwrap();
        let files = fs::read_dir(place.path())
            .unwrap()
            .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        (recorded.split_terminator('\0').map(str::to_owned).collect(), files)
    }
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.roll(from.len())).unwrap()
    }
}

const STARTS: &[&str] = &[
    "git status",
    "git status && ls",
    "ls | head",
    "cat <<EOF\nx\nEOF\n",
    "echo \"$(git log)\"",
    "if git status; then ls; fi",
    "for f in a b; do cat $f; done",
    "bash -c 'git status; ls'",
    "timeout 1 git log",
    "env LANG=C ls",
    "ls | xargs grep x",
    "(git status; ls)",
    "{ ls; }",
    "cat <(git log)",
    "git status > /dev/null 2>&1",
    "printf '%s' a",
    "test -f x && ls",
    "! ls",
    "x=1; echo $x",
    "eval 'git status'",
    "command ls",
    "git log \\\n --oneline",
    "ls # note\n",
    "cat <<'EOF' | grep x\n$(evil)\nEOF\n",
    "git status; while false; do ls; done",
    "nohup ls &",
    "echo 'a b' \"c $x\" d\\ e",
    "grep -E 'a|b' < /dev/null",
    "sh -c \"ls\" rm evil",
    "set -e; ls",
    "git status || true",
    "cat <<-E\n\tx\n\tE\nls",
    "echo ${x} $? $# $@",
    "[ -f x ] || ls",
    "if [ a = b ]; then ls; fi; git status",
    "echo \"$(cat <<'EOF'\nx\nEOF\n)\"",
    "git log $(cat <<EOF\na b\nEOF\n) && ls",
];

const PIECES: &[&str] = &[
    "EOF)",
    "\nEOF)\"; evil; echo \"",
    "\"; evil; echo \"",
    "); evil; (",
    ")\"; evil; \"$(",
    "'; evil; '",
    "\nE\n",
    "x\n",
    "rm x",
    "evil",
    "touch f",
    "; evil",
    "&& evil",
    "| evil",
    "|| evil",
    "& evil",
    "\nevil\n",
    "$(evil)",
    "`evil`",
    "<(evil)",
    ">(evil)",
    "> f",
    ">> f",
    "&> f",
    ">& f",
    "2>&1",
    ">|f",
    "<>f",
    "'",
    "\"",
    "\\",
    "$",
    "(",
    ")",
    "{",
    "}",
    "`",
    "#",
    "!",
    ";",
    "&",
    "|",
    "\n",
    "\t",
    " ",
    "  ",
    "<<EOF\n",
    "<<'EOF'\n",
    "\nEOF\n",
    "<<< evil",
    "<<-EOF\n",
    "EOF",
    "$'evil'",
    "$\"evil\"",
    "${x@P}",
    "${x:-$(evil)}",
    "$((a[$(evil)]))",
    "$[a[$(evil)]]",
    "a[$(evil)]=1",
    "x=(evil)",
    "PATH=.:$PATH ",
    "LANG=C ",
    "x=1 ",
    "x=evil ",
    "$x",
    "${x}",
    "\"$x\"",
    "x=1;",
    "x=evil;",
    "if ",
    "then ",
    "else ",
    "fi",
    "; fi",
    "for x in evil; do ",
    "do ",
    "done",
    "; done",
    "while ",
    "until ",
    "case x in x) ",
    "esac",
    ";;",
    "select x in a; do ",
    "function ls { evil; }; ",
    "ls() { evil; }; ",
    "coproc evil",
    "time ",
    "time -p ",
    "[[ -v 'a[$(evil)]' ]]",
    "[ -f x ]",
    "test -v 'a[$(evil)]'",
    "printf -v 'a[$(evil)]' x",
    "declare ",
    "export ",
    "unset ",
    "read ",
    "let ",
    "eval ",
    "exec ",
    "command ",
    "builtin ",
    "env ",
    "env -i ",
    "timeout 1 ",
    "nice ",
    "xargs ",
    "xargs -I{} ",
    "bash -c ",
    "sh -c ",
    "bash ",
    "'evil'",
    "'ls; evil'",
    "\"ls\"",
    "'git' ",
    "find . -exec evil \\; ",
    "find . ",
    "trap evil EXIT; ",
    "alias ls=evil\n",
    "shopt -s expand_aliases extglob\n",
    "hash -p evil ls; ",
    ". evil",
    "source evil",
    "*",
    "?",
    "{evil,ls}",
    "~",
    "~/",
    "@(evil)",
    "!(evil)",
    "\r",
    "\u{a0}",
    "\u{b}",
    "\\\n",
    "a\\\nb",
    "|&",
    "2>f",
    "3<>f",
    "{fd}>f",
    "&>/dev/null",
    "<&-",
    ">&-",
    "-c ",
    "-- ",
    "--",
    "+e ",
    "git ",
    "ls ",
    "cat ",
    "in ",
    "] ",
    "]] ",
    "((",
    "))",
    "((1))",
    "evil;ls",
    "e'v'il",
    "\\evil",
    "\"evil\" ",
    "$(ls;evil)",
    "\"$(evil)\"",
    "\"`evil`\"",
    "'$(evil)'",
    "\\$(evil)",
    "\\`evil`",
    "\\;",
    "\\\"",
];

/// What a line may stand in, before and after it.
const AROUND: &[(&str, &str)] = &[
    ("echo \"$(", ")\""),
    ("echo $(", ")"),
    ("cat <(", ")"),
    ("(", ")"),
    ("{ ", "\n}"),
    ("if ", "; then ls; fi"),
    ("if true; then ", "\nfi"),
    ("for f in a b; do ", "\ndone"),
    ("for f in $(", "); do ls; done"),
    ("bash -c '", "'"),
    ("sh -c \"", "\""),
    ("eval '", "'"),
    ("! ", " &"),
    ("x=$(", "); ls"),
    ("cat <<EOF\n", "\nEOF\n"),
    ("cat <<'EOF'\n", "\nEOF\n"),
    ("ls <<< \"", "\""),
    ("git log '", "'"),
    ("ls # ", "\nls"),
];

/// One line: some pieces put into, or words taken out of, a line that is allowed.
fn line(dice: &mut Dice) -> String {
    let mut line = dice.pick(STARTS).to_owned();
    for _ in 0..dice.roll(3) {
        let (before, after) = AROUND.get(dice.roll(AROUND.len())).unwrap();
        line = format!("{before}{line}{after}");
        if dice.roll(3) == 0 {
            line.push_str(dice.pick(&["; ", " && ", "\n", " | ", " & ", ""]));
            line.push_str(dice.pick(STARTS));
        }
    }
    for _ in 0..=dice.roll(4) {
        let places: Vec<usize> = line.char_indices().map(|it| it.0).chain([line.len()]).collect();
        let at = *places.get(dice.roll(places.len())).unwrap();
        if dice.roll(5) == 0 {
            let until = *places.get(dice.roll(places.len())).unwrap();
            line.replace_range(at.min(until)..at.max(until), "");
        } else {
            line.insert_str(at, dice.pick(PIECES));
        }
    }
    line
}

fn rules() -> PolicyEngine {
    let names = ALLOWED.iter().copied().chain(["echo", "printf", "test", "sleep"]);
    engine(&json!({ "allow": names.map(|it| format!("Bash({it}:*)")).collect::<Vec<_>>() }))
}

fn is_allowed(engine: &PolicyEngine, line: &str) -> bool {
    engine.evaluate("Bash", &json!({ "command": line })).action == Action::Allow
}

#[test]
fn what_is_not_allowed_would_be_recorded() {
    let bench = Bench::new();
    let (recorded, files) = bench.run("git status; ls | xargs -n1 rm; bash -c evil > f", "60");
    let expected = ["git status", "ls ", "rm ", "evil "].map(str::to_owned).into();
    assert_eq!((recorded, files), (expected, vec!["f".to_owned()]));
}

#[test]
fn allowed_lines_run_nothing_but_the_allowed_programs() {
    // `TOOLWRIGHT_FUZZ_LINES=100000` for a long run.
    let wanted = std::env::var("TOOLWRIGHT_FUZZ_LINES").ok().and_then(|it| it.parse().ok());
    let wanted: usize = wanted.unwrap_or(250);
    let seed = std::env::var("TOOLWRIGHT_FUZZ_SEED").ok().and_then(|it| it.parse().ok());
    let engine = rules();
    let bench = Bench::new();
    let mut dice = Dice(seed.unwrap_or(0x9e37_79b9_7f4a_7c15));
    let mut run = HashSet::new();
    for start in STARTS {
        assert!(is_allowed(&engine, start), "{start:?} ought to be allowed");
    }
    while run.len() < wanted {
        let line = line(&mut dice);
        if line.contains('\0') || !is_allowed(&engine, &line) || !run.insert(line.clone()) {
            continue;
        }
        // A line may wait for input or loop; it is ended then, and what it ran until then counts.
        let (recorded, files) = bench.run(&line, "1");
        let stray: Vec<&String> = recorded
            .iter()
            .filter(|it| {
                let (program, argument) = it.split_once(' ').unwrap();
                !ALLOWED.contains(&program) && !ALLOWED.contains(&&*format!("{program} {argument}"))
            })
            .collect();
        assert!(stray.is_empty(), "{line:?} ran {stray:?}");
        assert!(files.is_empty(), "{line:?} wrote {files:?}");
    }
}
