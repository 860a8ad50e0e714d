//! Writers in other processes: killed, on a full disk, without permissions, and several at once.
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
    time::{Duration, Instant},
};

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::{
    Expected::{Anything, Unchanged},
    tests::{WriteBed, place},
    *,
};
use crate::file_lock::FileLocks;

/// The prefixes of arguments that tell a child process what to do. The test runner takes them for
/// filters that match no test.
const ROLE: &str = "role=";
const ROOT: &str = "root=";
const LARGE: usize = 300_000;
/// Far longer than any step takes on a loaded machine.
const MAX_WAIT: Duration = Duration::from_mins(2);

/// The arguments that make the test binary run as a child.
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

/// A child that is started by a shell script, in which `"$@"` is the child.
fn child_after(script: &str, role: &str, root: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(env::current_exe().unwrap());
    command.args(child_arguments(role, root)).current_dir(root);
    command
}

/// The output of the child after its marker.
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
                let bytes = vec![b'a' + round % 26; LARGE];
                let read = read_for_edit(&target, u64::MAX).unwrap();
                let expected = if round % 4 == 0 { Anything } else { Unchanged(&read.stamp) };
                write_atomically(&target, &bytes, expected).unwrap();
            }
        }
        "increment" => {
            let locks = FileLocks::default();
            (0..500).for_each(|_| increment(&locks, &target));
            say("done");
        }
        "append" => append_lines(&target),
        "replace" => replace_often(&target),
        "hold the lock" => {
            let locks = FileLocks::default();
            let _guard = locks.acquire(&target, &|| false).unwrap();
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

/// Appends numbered lines until its input ends. Opens the file again for each line, and takes no
/// lock.
fn append_lines(target: &WorkspacePath) {
    let ended = thread::spawn(|| io::stdin().read_line(&mut String::new()));
    say("ready");
    let mut count = 0;
    while !ended.is_finished() && count < 200_000 {
        let mut file = fs::File::options().append(true).open(target.absolute()).unwrap();
        file.write_all(format!("line {count}\n").as_bytes()).unwrap();
        count += 1;
    }
    say(&format!("appended {count}"));
}

/// Replaces the file until its input ends, and checks whether what it wrote stays there.
fn replace_often(target: &WorkspacePath) {
    let ended = thread::spawn(|| io::stdin().read_line(&mut String::new()));
    say("ready");
    let (path, aside) = (target.absolute(), target.absolute().with_file_name("theirs"));
    let mut round = 0_u64;
    while !ended.is_finished() {
        let own = format!("theirs={round};");
        let rest = fs::read_to_string(path).unwrap();
        let rest = rest.split_once(';').unwrap().1;
        fs::write(&aside, format!("{own}{rest}")).unwrap();
        fs::rename(&aside, path).unwrap();
        // The other program's version may be there for an instant, until it notices what it
        // replaced.
        let lost = Instant::now() + MAX_WAIT;
        while !fs::read_to_string(path).unwrap().starts_with(&own) {
            if Instant::now() > lost {
                return say(&format!("lost {own}"));
            }
        }
        // Short pauses make the other program fail, long ones let it succeed, however slow the disk is.
        thread::sleep(Duration::from_millis((round % 24).pow(2)));
        round += 1;
    }
    say("kept all");
}

fn increment(locks: &FileLocks, target: &WorkspacePath) {
    let _guard = locks.acquire(target, &|| false).unwrap();
    let read = read_for_edit(target, u64::MAX).unwrap();
    let number: u32 = String::from_utf8(read.bytes).unwrap().parse().unwrap();
    let next = (number + 1).to_string();
    write_atomically(target, next.as_bytes(), Unchanged(&read.stamp)).unwrap();
}

#[test]
fn a_writer_killed_at_any_instant_leaves_the_old_or_the_new_file_and_no_lasting_stray() {
    let bed = WriteBed::new();
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
    let bed = WriteBed::new();
    fs::write(bed.root.join("file"), "0").unwrap();
    let children: Vec<_> = (0..2).map(|_| child("increment", &bed.root).spawn().unwrap()).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_eq!(fs::read_to_string(bed.root.join("file")).unwrap(), "1000");
    assert_eq!(bed.names(), ["file"]);
}

/// The next line of a child's output.
fn next_word(lines: &mut impl Iterator<Item = io::Result<String>>) -> String {
    let mut said = lines.filter_map(|line| Some(line.ok()?.split_once("said: ")?.1.to_owned()));
    said.next().unwrap()
}

#[test]
fn no_line_of_a_program_that_appends_meanwhile_is_lost() {
    let bed = WriteBed::new();
    let path = bed.root.join("file");
    fs::write(&path, "edits: 0\n").unwrap();
    let mut appender = child("append", &bed.root).stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(appender.stdout.take().unwrap()).lines();
    assert_eq!(next_word(&mut lines), "ready");
    let (locks, target) = (FileLocks::default(), bed.place("file"));
    let (mut round, mut merged, mut reported) = (0, 0, 0);
    let deadline = Instant::now() + MAX_WAIT;
    while round < 300 || merged == 0 {
        assert!(Instant::now() < deadline, "no line came between, so the test shows nothing");
        let _guard = locks.acquire(&target, &|| false).unwrap();
        let read = read_for_edit(&target, u64::MAX).unwrap();
        let text = String::from_utf8(read.bytes).unwrap();
        let next =
            text.replacen(&format!("edits: {round}\n"), &format!("edits: {}\n", round + 1), 1);
        assert!(next != text);
        let written = write_atomically(&target, next.as_bytes(), Unchanged(&read.stamp)).unwrap();
        merged += u32::from(written.foreign.appended > 0);
        // A program that is not scheduled for long keeps the replaced file open, and this is
        // reported.
        let ConcurrentChanges { wrote_to_replaced, has_replaced_open, .. } = written.foreign;
        reported += usize::from(wrote_to_replaced || has_replaced_open);
        round += 1;
    }
    drop(appender.stdin.take());
    let count: usize = next_word(&mut lines).strip_prefix("appended ").unwrap().parse().unwrap();
    appender.wait().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut found: Vec<&str> = text.lines().collect();
    assert_eq!(found.remove(0), format!("edits: {round}"));
    let mut numbers: Vec<usize> =
        found.iter().map(|it| it.strip_prefix("line ").unwrap().parse().unwrap()).collect();
    let in_file = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), in_file, "a line stands twice");
    assert!(numbers.last().is_none_or(|&last| last < count));
    // The appender writes one line each time it opens the file, so each file that was still open
    // can have lost one line.
    let lost = count - in_file;
    assert!(
        lost <= reported,
        "{lost} of {count} lines are lost, and {reported} writes reported it"
    );
    assert_eq!(bed.names(), ["file"]);
}

#[test]
fn a_version_that_another_program_puts_in_place_meanwhile_is_never_replaced_unseen() {
    let bed = WriteBed::new();
    fs::write(bed.root.join("file"), "theirs=none; ours=0").unwrap();
    let mut other = child("replace", &bed.root).stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    assert_eq!(next_word(&mut lines), "ready");
    let (locks, target) = (FileLocks::default(), bed.place("file"));
    let (mut done, mut refused) = (0_u32, 0_u32);
    let deadline = Instant::now() + MAX_WAIT;
    while (done < 20 || refused < 20) && Instant::now() < deadline {
        let mut guard = locks.acquire(&target, &|| false).unwrap();
        guard.renew(&|| false).unwrap();
        let Ok(read) = read_for_edit(&target, u64::MAX) else { continue };
        let text = String::from_utf8(read.bytes).unwrap();
        let (theirs, _) = text.split_once(';').unwrap();
        let next = format!("{theirs}; ours={done}");
        match write_atomically(&target, next.as_bytes(), Unchanged(&read.stamp)) {
            Ok(_) => done += 1,
            Err(WriteError::Changed(_)) => refused += 1,
            Err(err) => unreachable!("{err}"),
        }
    }
    drop(other.stdin.take());
    assert_eq!(next_word(&mut lines), "kept all");
    other.wait().unwrap();
    assert!(done > 0 && refused > 0, "{done} done, {refused} refused");
    assert_eq!(bed.names(), ["file"]);
}

#[test]
fn two_users_with_different_temporary_directories_lose_no_edit() {
    if !rustix::process::geteuid().is_root() {
        writeln!(io::stderr(), "SKIPPED: only root can start processes of two users").unwrap();
        return;
    }
    let bed = WriteBed::of(TempDir::new_in("/var/tmp").unwrap());
    let path = bed.root.join("file");
    fs::write(&path, "0").unwrap();
    set_mode(&path, 0o666);
    set_mode(&bed.root, 0o777);
    set_mode(bed.root.parent().unwrap(), 0o755);
    // If nothing in `/tmp` is needed, each user gets a different `/tmp`, which is not writable.
    let has_own_views = can_mount() && !env::current_exe().unwrap().starts_with("/tmp");
    if !has_own_views {
        writeln!(io::stderr(), "SKIPPED IN PART: both users see the same /tmp").unwrap();
    }
    let children = [(0, "mount -t tmpfs -o ro none /tmp"), (65534, "mount --bind /proc/sys /tmp")];
    let children = children.map(|(user, hide)| {
        let (view, hide) = if has_own_views { ("unshare -m", hide) } else { ("", "true") };
        let script = format!(
            r#"exec {view} sh -c '{hide} && export TMPDIR=/nowhere/{user} &&
               exec setpriv --reuid {user} --regid {user} --clear-groups "$@"' sh "$@""#
        );
        child_after(&script, "increment", &bed.root).stdout(Stdio::piped()).spawn().unwrap()
    });
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("said: done"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "1000");
    assert_eq!(bed.names(), ["file"]);
}

#[test]
fn sixty_four_threads_that_increment_a_number_lose_none() {
    let bed = WriteBed::new();
    fs::write(bed.root.join("file"), "0").unwrap();
    let locks = FileLocks::default();
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
    let bed = WriteBed::new();
    fs::write(bed.root.join("file"), "0").unwrap();
    fs::hard_link(bed.root.join("file"), bed.root.join("other")).unwrap();
    let locks = FileLocks::default();
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
    let bed = WriteBed::new();
    fs::write(bed.root.join("file"), "old").unwrap();
    let mut holder = child("hold the lock", &bed.root).stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("said: ready")));
    let locks = FileLocks::default();
    let target = bed.place("file");
    let busy = locks.waiting_at_most(Duration::from_millis(50)).acquire(&target, &|| false);
    assert!(busy.unwrap_err().to_string().contains("by another process"));
    holder.kill().unwrap();
    holder.wait().unwrap();
    let _guard = locks.acquire(&target, &|| false).unwrap();
}

#[test]
fn a_limit_on_the_size_of_files_leaves_the_old_bytes_and_no_temporary_file() {
    // Blocks of 512 bytes. The signal has to be ignored for the write to fail instead.
    let script = r#"trap '' XFSZ; ulimit -f 100; exec "$@""#;
    let bed = WriteBed::new();
    fs::write(bed.root.join("file"), "old").unwrap();
    assert_eq!(said(child_after(script, "write once", &bed.root)), "full");
    assert_eq!(said(child_after(script, "write another", &bed.root)), "full");
    fs::hard_link(bed.root.join("file"), bed.root.join("other")).unwrap();
    assert_eq!(said(child_after(script, "write once", &bed.root)), "full");
    assert_eq!(fs::read_to_string(bed.root.join("file")).unwrap(), "old");
    assert_eq!(bed.names(), ["file", "other"]);
}

/// Whether file systems can be mounted in a new namespace.
fn can_mount() -> bool {
    let script = "mount -t tmpfs none /mnt";
    Command::new("unshare").args(["-rm", "sh", "-c", script]).status().is_ok_and(|it| it.success())
}

#[test]
fn a_full_disk_leaves_the_old_bytes_and_no_temporary_file() {
    if !can_mount() {
        return;
    }
    let bed = WriteBed::new();
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
    let bed = WriteBed::new();
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
        let bed = WriteBed::new();
        let script = format!(r#"umask {mask}; exec "$@""#);
        assert_eq!(said(child_after(&script, "write another", &bed.root)), "written None []");
        assert_eq!(bed.root.join("new").metadata().unwrap().mode() & 0o7777, wanted);
    }
}

/// A child that does not run as root, because root may write everywhere.
fn unprivileged(role: &str, bed: &WriteBed) -> Command {
    let mut command = child(role, &bed.root);
    if rustix::process::geteuid().is_root() {
        // Others must be able to reach the workspace.
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
    let bed = WriteBed::new();
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
    let bed = WriteBed::new();
    let path = bed.root.join("file");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o676);
    set_mode(&bed.root, 0o777);
    assert_eq!(said(unprivileged("write once", &bed)), "written None [Owner, Group]");
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o666);
}
