//! A real bash that records which programs a command line runs.

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use tempfile::TempDir;
use toolwright_base::PermissionMode;
use toolwright_policy::{Action, Layer, PolicyConfig, PolicyEngine, PolicyPlaces, PolicySources};

/// Programs that the rules allow, and programs that they do not.
const RECORDED: [&str; 14] = [
    "git", "ls", "cat", "grep", "head", "rm", "evil", "make", "touch", "python3", "id", "sudo",
    "a", "x",
];
const ALLOWED: [&str; 6] = ["git status", "git log", "ls", "cat", "grep", "head"];
/// Wrappers whose commands the analysis finds. They are the real programs.
const REAL: [&str; 10] =
    ["env", "timeout", "nice", "nohup", "setsid", "stdbuf", "xargs", "bash", "sh", "find"];

/// A bash whose programs only record that they were run, and the rules for its lines.
pub struct RecordingBash {
    dir: TempDir,
    rules: PolicyEngine,
}

impl Default for RecordingBash {
    fn default() -> Self {
        Self::new()
    }
}

impl RecordingBash {
    /// Makes the programs in a temporary directory.
    pub fn new() -> Self {
        let bash = Self { dir: TempDir::new().unwrap(), rules: rules() };
        fs::create_dir(bash.programs()).unwrap();
        let recorder = bash.dir.path().join("recorder");
        // The record is next to the directory of the programs, where no line can change it.
        let record = "#!/bin/sh\nprintf '%s %s\\0' \"${0##*/}\" \"$1\" >> \"${0%/*}.record\"\n";
        // Written by another process. If this process wrote it, a child that another test forks meanwhile could
        // hold the file open for writing, and such a file cannot be executed.
        let written = Command::new("/bin/sh")
            .args(["-c", r#"printf %s "$1" > "$2"; chmod 755 "$2""#, "sh", record])
            .arg(&recorder)
            .status();
        assert!(written.unwrap().success());
        for name in RECORDED {
            symlink(&recorder, bash.programs().join(name)).unwrap();
        }
        for name in REAL {
            let real = ["/usr/bin", "/bin"].map(|it| Path::new(it).join(name));
            if let Some(real) = real.into_iter().find(|it| it.exists()) {
                symlink(real, bash.programs().join(name)).unwrap();
            }
        }
        bash
    }

    fn programs(&self) -> PathBuf {
        self.dir.path().join("programs")
    }

    /// Runs a line with a time limit, and returns what was recorded and which files were created.
    pub fn run(&self, line: &str, seconds: &str) -> (HashSet<String>, Vec<String>) {
        // Each line has its own directory and record, so that a process that is still running is not counted for
        // the next line.
        let place = TempDir::new_in(self.dir.path()).unwrap();
        let programs = place.path().with_extension("programs");
        symlink(self.programs(), &programs).unwrap();
        let record = place.path().with_extension("programs.record");
        fs::write(&record, "").unwrap();
        // Background processes belong to the line too. All of its processes inherit descriptor 9, so the pipe
        // closes when the last one exits.
        let (held, holder) = std::io::pipe().unwrap();
        let start =
            r#"exec 9>&1 1> /dev/null; exec timeout -s KILL "$1" bash --norc --noprofile -c "$2""#;
        Command::new("/bin/sh")
            .args(["-c", start, "sh", seconds, line])
            .env_clear()
            .env("PATH", &programs)
            .env("HOME", place.path())
            .current_dir(place.path())
            .stdin(Stdio::null())
            .stdout(holder)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let patience = Timespec { tv_sec: 2, tv_nsec: 0 };
        poll(&mut [PollFd::new(&held, PollFlags::IN)], Some(&patience)).unwrap();
        let recorded = fs::read(&record).unwrap();
        fs::remove_file(record).unwrap();
        fs::remove_file(programs).unwrap();
        let files = fs::read_dir(place.path())
            .unwrap()
            .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        let recorded = String::from_utf8_lossy(&recorded);
        (recorded.split_terminator('\0').map(str::to_owned).collect(), files)
    }

    /// True when the rules allow the line without asking.
    pub fn allows(&self, line: &str) -> bool {
        self.rules.evaluate("Bash", &json!({ "command": line })).action == Action::Allow
    }

    /// Runs an allowed line. Panics if anything but an allowed program was run.
    pub fn check_allowed(&self, line: &str) {
        // A line that waits for input or loops is killed; what it ran until then counts.
        let (recorded, files) = self.run(line, "1");
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

fn rules() -> PolicyEngine {
    let names = ALLOWED.iter().copied().chain(["echo", "printf", "test", "sleep"]);
    let rules = json!({ "allow": names.map(|it| format!("Bash({it}:*)")).collect::<Vec<_>>() });
    let config = PolicyConfig::from_json(&rules, Layer::Options).unwrap();
    let layers = vec![(Layer::Options, config)];
    let (mode, places) = (PermissionMode::Default, PolicyPlaces::of_project("/repo"));
    let tools = toolwright_tools::catalogue().into();
    PolicyEngine::new(PolicySources { layers, mode, places, tools }).unwrap()
}
