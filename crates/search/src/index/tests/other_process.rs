//! A second process that makes changes: this test program, which runs one test that is otherwise
//! ignored.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use super::mutations::{CHANGES, Mutator};

/// Marks the lines that the changing test prints, and not the test harness.
const MARK: &str = "changed: ";

/// The other process.
pub(super) struct OtherProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl OtherProcess {
    pub(super) fn start(root: &Path, outside: &Path, seed: u64) -> Self {
        let (_crate, module) = module_path!().split_once("::").unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .arg(format!("{module}::makes_changes_on_demand"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut other = Self { child, input, output: BufReader::new(output) };
        other.send(&format!("{}\n{}\n{seed}", root.display(), outside.display()));
        other.answer();
        other
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the other process ended");
            // The harness writes the name of the test on the same line.
            if let Some((_, answer)) = line.split_once(MARK) {
                return answer.trim_end().to_owned();
            }
        }
    }

    /// Makes one change, and returns its name.
    pub(super) fn change(&mut self, kind: usize) -> String {
        self.send(&kind.to_string());
        self.answer()
    }

    /// Starts this many changes of any kind, without waiting for them.
    pub(super) fn begin_changes(&mut self, count: usize) {
        self.send(&format!("many {count}"));
    }

    /// Waits until the changes are made.
    pub(super) fn changes_made(&mut self) {
        self.answer();
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "only run as another process by other tests"]
#[expect(clippy::print_stdout, reason = "reports to the first process what it did")]
fn makes_changes_on_demand() {
    let mut lines = std::io::stdin().lines().map_while(Result::ok);
    let (Some(root), Some(outside), Some(seed)) = (lines.next(), lines.next(), lines.next()) else {
        return;
    };
    let mut mutator = Mutator::new(root.into(), outside.into(), seed.parse().unwrap());
    mutator.begin();
    println!("{MARK}ready");
    for line in lines {
        if let Some(count) = line.strip_prefix("many ") {
            for _ in 0..count.parse().unwrap() {
                let kind = mutator.chance.below(CHANGES.len());
                mutator.change(kind);
            }
            println!("{MARK}{count}");
            continue;
        }
        let name = mutator.change(line.parse().unwrap());
        println!("{MARK}{name}");
    }
}
