//! Writers in other processes: killed, starved of room, without rights, and several at once.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use pretty_assertions::assert_eq;

use super::{
    Expected::{Anything, Unchanged},
    tests::{Bed, place},
    *,
};
use crate::workspace::file_lock::FileLocks;

/// Arguments that tell a child process what to be; to the test runner they are names of no test.
const ROLE: &str = "role=";
const ROOT: &str = "root=";
const LARGE: usize = 300_000;

/// The arguments that make the test binary run as a child and nothing else.
fn child_arguments(role: &str, root: &Path) -> [String; 6] {
    let (_crate, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::plays_its_role_when_started_as_a_child");
    let (role, root) = (format!("{ROLE}{role}"), format!("{ROOT}{}", root.display()));
    [name, role, root, "--exact".into(), "--nocapture".into(), "--test-threads=1".into()]
}

fn child(role: &str, root: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(child_arguments(role, root)).stdout(Stdio::piped());
    command
}

/// A child below a shell that prepares its surroundings; `"$@"` is the child.
fn child_after(script: &str, role: &str, root: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(env::current_exe().unwrap());
    command.args(child_arguments(role, root)).current_dir(root);
    command
}

/// What the child said after its role's marker.
fn said(mut command: Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = text.lines().find_map(|line| Some(line.split_once("said: ")?.1.to_owned()));
    said.unwrap_or_else(|| format!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn say(text: &str) {
    let mut out = io::stdout();
    writeln!(out, "said: {text}").unwrap();
    out.flush().unwrap();
}

#[test]
fn plays_its_role_when_started_as_a_child() {
    let argument =
        |prefix: &str| env::args().find_map(|it| it.strip_prefix(prefix).map(str::to_owned));
    let Some(role) = argument(ROLE) else { return };
    let root = PathBuf::from(argument(ROOT).unwrap());
    let target = place(&root, "file");
    match role.as_str() {
        "write forever" => {
            say("ready");
            for round in 0_u8.. {
                let letter = b'a' + round % 26;
                write_atomically(&target, &vec![letter; LARGE], Anything).unwrap();
            }
        }
        "increment" => {
            let locks = FileLocks::in_directory(&root.join("../locks"));
            (0..500).for_each(|_| increment(&locks, &target));
        }
        "hold the lock" => {
            let locks = FileLocks::in_directory(&root.join("../locks"));
            let _guard = locks.acquire(target.absolute(), &|| false).unwrap();
            say("ready");
            let _until_killed = io::stdin().read_line(&mut String::new());
        }
        "write once" => say(&outcome(write_atomically(&target, &vec![b'n'; LARGE], Anything))),
        "write another" => {
            let other = place(&root, "new");
            say(&outcome(write_atomically(&other, &vec![b'n'; LARGE], Anything)));
        }
        other => unreachable!("{other}"),
    }
}

fn outcome(result: Result<Written, WriteError>) -> String {
    match result {
        Ok(Written { in_place, not_kept, .. }) => format!("written {in_place:?} {not_kept:?}"),
        Err(WriteError::Full(..)) => "full".to_owned(),
        Err(WriteError::Denied(..)) => "denied".to_owned(),
        Err(err) => format!("{err:?}"),
    }
}

fn increment(locks: &FileLocks, target: &WorkspacePath) {
    let _guard = locks.acquire(target.absolute(), &|| false).unwrap();
    let read = read_for_edit(target).unwrap();
    let number: u32 = String::from_utf8(read.bytes).unwrap().parse().unwrap();
    let next = (number + 1).to_string();
    write_atomically(target, next.as_bytes(), Unchanged(&read.stamp)).unwrap();
}

#[test]
fn a_writer_killed_at_any_instant_leaves_the_old_or_the_new_file_and_no_lasting_stray() {
    let bed = Bed::new();
    fs::write(bed.root.join("file"), vec![b'a'; LARGE]).unwrap();
    let mut strays = 0;
    for round in 0..1_000_u64 {
        let mut writer = child("write forever", &bed.root).spawn().unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("said: ready")));
        // Spreads the kills over the steps of a few writes.
        thread::sleep(Duration::from_micros(round * 7919 % 5000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let bytes = fs::read(bed.root.join("file")).unwrap();
        assert_eq!(bytes.len(), LARGE);
        assert!(bytes.iter().all(|it| Some(it) == bytes.first()), "torn in round {round}");
        strays += bed.names().len() - 1;
        write_atomically(&bed.place("file"), &bytes, Anything).unwrap();
        assert_eq!(bed.names(), ["file"]);
    }
    assert!(strays > 0, "no kill hit a write, so the test shows nothing");
}

#[test]
fn two_processes_that_increment_a_number_lose_none() {
    let bed = Bed::new();
    fs::write(bed.root.join("file"), "0").unwrap();
    let children: Vec<_> = (0..2).map(|_| child("increment", &bed.root).spawn().unwrap()).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_eq!(fs::read_to_string(bed.root.join("file")).unwrap(), "1000");
    assert_eq!(bed.names(), ["file"]);
    assert_eq!(fs::read_dir(bed.root.join("../locks")).unwrap().count(), 0);
}

#[test]
fn sixty_four_threads_that_increment_a_number_lose_none() {
    let bed = Bed::new();
    fs::write(bed.root.join("file"), "0").unwrap();
    let locks = FileLocks::in_directory(&bed.root.join("../locks"));
    let target = bed.place("file");
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| (0..20).for_each(|_| increment(&locks, &target)));
        }
    });
    assert_eq!(fs::read_to_string(bed.root.join("file")).unwrap(), "1280");
}

#[test]
fn two_names_of_one_file_take_turns_too() {
    let bed = Bed::new();
    fs::write(bed.root.join("file"), "0").unwrap();
    fs::hard_link(bed.root.join("file"), bed.root.join("other")).unwrap();
    let locks = FileLocks::in_directory(&bed.root.join("../locks"));
    thread::scope(|scope| {
        for name in ["file", "other", "file", "other"] {
            let (target, locks) = (bed.place(name), &locks);
            scope.spawn(move || (0..50).for_each(|_| increment(locks, &target)));
        }
    });
    assert_eq!(fs::read_to_string(bed.root.join("other")).unwrap(), "200");
}

#[test]
fn a_holder_that_is_killed_releases_the_file() {
    let bed = Bed::new();
    let mut holder = child("hold the lock", &bed.root).stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("said: ready")));
    let locks = FileLocks::in_directory(&bed.root.join("../locks"));
    let path = bed.root.join("file");
    let busy = locks.waiting_at_most(Duration::from_millis(50)).acquire(&path, &|| false);
    assert!(busy.unwrap_err().to_string().contains("by another process"));
    holder.kill().unwrap();
    holder.wait().unwrap();
    let _guard = locks.acquire(&path, &|| false).unwrap();
}

#[test]
fn a_limit_on_the_size_of_files_leaves_the_old_bytes_and_no_temporary_file() {
    // Blocks of 512 bytes. The signal has to be ignored for the write to fail instead.
    let script = r#"trap '' XFSZ; ulimit -f 100; exec "$@""#;
    let bed = Bed::new();
    fs::write(bed.root.join("file"), "old").unwrap();
    assert_eq!(said(child_after(script, "write once", &bed.root)), "full");
    assert_eq!(said(child_after(script, "write another", &bed.root)), "full");
    fs::hard_link(bed.root.join("file"), bed.root.join("other")).unwrap();
    assert_eq!(said(child_after(script, "write once", &bed.root)), "full");
    assert_eq!(fs::read_to_string(bed.root.join("file")).unwrap(), "old");
    assert_eq!(bed.names(), ["file", "other"]);
}

/// Whether file systems can be mounted in a namespace of one's own.
fn can_mount() -> bool {
    let script = "mount -t tmpfs none /mnt";
    Command::new("unshare").args(["-rm", "sh", "-c", script]).status().is_ok_and(|it| it.success())
}

#[test]
fn a_full_disk_leaves_the_old_bytes_and_no_temporary_file() {
    if !can_mount() {
        return;
    }
    let bed = Bed::new();
    let script = r#"exec unshare -rm sh -c '
        mount -t tmpfs -o size=200k none "$PWD" && cd "$PWD" && printf old > file || exit 1
        "$@"; ln file other; "$@"; echo "kept: $(cat file) $(ls -A | tr "\n" " ")"' sh "$@""#;
    let output = child_after(script, "write once", &bed.root).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("said: full").count(), 2, "{text}");
    assert!(text.contains("kept: old file other \n"), "{text}");
}

#[test]
fn a_file_that_is_mounted_by_itself_is_written_in_place() {
    if !can_mount() {
        return;
    }
    let bed = Bed::new();
    fs::write(bed.root.join("file"), "old").unwrap();
    let script = r#"exec unshare -rm sh -c 'mount --bind file file && exec "$@"' sh "$@""#;
    let said = said(child_after(script, "write once", &bed.root));
    assert_eq!(said, "written Some(NotRenamable) []");
    assert_eq!(fs::read(bed.root.join("file")).unwrap(), vec![b'n'; LARGE]);
    assert_eq!(bed.names(), ["file"]);
}

#[test]
fn a_new_file_has_the_rights_that_the_umask_leaves() {
    for (mask, wanted) in [("022", 0o644), ("027", 0o640), ("077", 0o600), ("000", 0o666)] {
        let bed = Bed::new();
        let script = format!(r#"umask {mask}; exec "$@""#);
        assert_eq!(said(child_after(&script, "write another", &bed.root)), "written None []");
        assert_eq!(bed.root.join("new").metadata().unwrap().mode() & 0o7777, wanted);
    }
}

/// A child that is not root, which may write everywhere.
fn unprivileged(role: &str, bed: &Bed) -> Command {
    let mut command = child(role, &bed.root);
    if rustix::process::geteuid().is_root() {
        // The way to the root has to be open to others.
        set_mode(bed.root.parent().unwrap(), 0o755);
        command.uid(65534).gid(65534);
    }
    command
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_directory_and_a_read_only_file_are_respected() {
    let bed = Bed::new();
    let path = bed.root.join("file");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o666);
    set_mode(&bed.root, 0o555);
    assert_eq!(said(unprivileged("write once", &bed)), "denied");
    assert_eq!(said(unprivileged("write another", &bed)), "denied");
    set_mode(&bed.root, 0o777);
    set_mode(&path, 0o444);
    assert_eq!(said(unprivileged("write once", &bed)), "denied");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(bed.names(), ["file"]);
}

#[test]
fn rights_are_not_widened_where_the_owner_cannot_be_kept() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let bed = Bed::new();
    let path = bed.root.join("file");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o676);
    set_mode(&bed.root, 0o777);
    assert_eq!(said(unprivileged("write once", &bed)), "written None [Owner, Group]");
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o666);
}
