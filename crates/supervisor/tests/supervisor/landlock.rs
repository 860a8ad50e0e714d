//! The level `landlock` restricts writes, connections and signals. It hides nothing.

use std::{
    net::{TcpListener, UdpSocket},
    os::unix::net::UnixListener,
};

use pretty_assertions::assert_eq;

use crate::sandbox_bed::{
    CommandNetwork, SandboxBed, SandboxLevel, SandboxPlan, WritablePlaces, users,
};

fn plan() -> SandboxPlan {
    SandboxPlan { level: SandboxLevel::Landlock, ..SandboxPlan::default() }
}

/// Only the directory `project` of a bed can be written to.
fn workspace(bed: &SandboxBed) -> SandboxPlan {
    bed.write("project/file", "old\n");
    bed.write("other/file", "old\n");
    SandboxPlan { writable: WritablePlaces::Below(vec![bed.home().join("project")]), ..plan() }
}

#[test]
fn writing_outside_the_writable_directories_fails() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = workspace(&bed);
        for attempt in [
            "echo new > other/file",
            "echo new >> other/file",
            ": > other/file",
            "truncate -s 0 other/file",
            "rm other/file",
            "mv other/file project/",
            "mv project/file other/file",
            "ln other/file project/link && echo new > project/link",
            "ln -s ../other/file project/link; echo new > project/link",
            "cd other && echo new > file",
            "cp project/file other/file",
            "mkdir other/made",
            "rmdir other",
            "mv other gone",
            "sed -i s/old/new/ other/file",
            "echo new > /proc/self/cwd/other/file",
            "exec 3<> other/file; echo new >&3",
            "mkfifo other/pipe",
            "ln -s x other/link",
            "bash -c 'echo new > other/file'",
            "setsid bash -c 'echo new > other/file'",
            "unshare -Ur bash -c 'echo new > other/file'",
            "mount --bind project other && echo new > other/file",
            "touch made",
        ] {
            let ended = bed.run(&plan, attempt);
            assert_ne!(ended.report.exit_code, Some(0), "{user:?}: {attempt}: {ended:?}");
            let said = bed.run(&plan, "cat other/file; ls -A other; ls -A").with_code(0);
            assert!(said.starts_with("old\nfile\n"), "{user:?}: {attempt}: {said}");
            assert!(
                !said.contains("made") && !said.contains("gone"),
                "{user:?}: {attempt}: {said}"
            );
            bed.run(&plan, "rm -f project/link; echo old > project/file");
        }
    }
}

#[test]
fn ordinary_work_in_the_writable_directories_succeeds() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = workspace(&bed);
        for work in [
            "echo new > project/file && cat project/file other/file",
            "cd project && mkdir -p a/b && mv file a/b/ && ln a/b/file link && mv a c && rm -r c link && echo x > file",
            "echo > /dev/null; echo 2>/dev/null; head -c 1 /dev/urandom > /dev/null; : > /dev/full",
            "echo x > /dev/shm/toolwright-$$ && rm /dev/shm/toolwright-$$",
            "echo x > /dev/stdout | cat; (echo x > /dev/fd/2) 2>&1 | cat",
            "cat <<< text <(echo more); sleep 0 | cat",
            "sleep 100 & kill $!; wait $!; [ $? = 143 ]",
            "cd project && git init -q . && git config user.email a@b && git config user.name a && git add . && git commit -qm a",
        ] {
            let ended = bed.run(&plan, work);
            assert_eq!(ended.report.exit_code, Some(0), "{user:?}: {work}: {ended:?}");
        }
    }
}

#[test]
fn a_command_cannot_signal_its_keeper() {
    for user in users() {
        let bed = SandboxBed::of(user);
        assert!(bed.support.landlock_version() >= 6, "this kernel's Landlock has no scopes");
        let command =
            "kill -9 $PPID; kill -STOP $PPID; kill -9 $(ps -o ppid= -p $PPID); echo survived";
        let ended = bed.run(&plan(), command);
        assert!(ended.text.ends_with("survived\n"), "{user:?}: {ended:?}");
        assert_eq!(ended.text.matches("not permitted").count(), 3, "{user:?}: {ended:?}");
        assert_eq!(bed.run(&plan(), "echo next").with_code(0), "next\n", "{user:?}");
    }
}

#[test]
fn a_closed_network_leaves_only_local_sockets() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    for user in users() {
        let bed = SandboxBed::of(user);
        let _local = UnixListener::bind(bed.home().join("socket")).unwrap();
        for network in [CommandNetwork::Closed, CommandNetwork::Proxied] {
            let plan = SandboxPlan { network, ..plan() };
            for attempt in [
                format!("echo > /dev/tcp/127.0.0.1/{tcp_port}"),
                format!("echo > /dev/udp/127.0.0.1/{udp_port}"),
                format!("bash -c 'exec 3<>/dev/tcp/localhost/{tcp_port}'"),
                python("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"),
                python("socket.socket(socket.AF_INET6, socket.SOCK_STREAM)"),
                python("socket.socket(17, socket.SOCK_DGRAM)"),
                python("socket.socket(43, socket.SOCK_STREAM)"),
                python(
                    "os.kill(os.getpid(), 0) if C.syscall(425, 1, C.create_string_buffer(120)) >= 0 else 1/0",
                ),
            ] {
                let ended = bed.run(&plan, &attempt);
                assert_ne!(ended.report.exit_code, Some(0), "{user:?}: {attempt}: {ended:?}");
            }
            for work in [
                python("socket.socketpair()"),
                python("s = socket.socket(socket.AF_UNIX); s.bind('own'); os.unlink('own')"),
                "cat /etc/hostname > /dev/null; exit 0".to_owned(),
            ] {
                let ended = bed.run(&plan, &work);
                assert_eq!(ended.report.exit_code, Some(0), "{user:?}: {work}: {ended:?}");
            }
        }
        let open = format!("echo > /dev/tcp/127.0.0.1/{tcp_port}");
        assert_eq!(bed.run(&plan(), &open).report.exit_code, Some(0), "{user:?}");
    }
}

/// A line that runs a statement of Python.
fn python(statement: &str) -> String {
    let prelude = "import ctypes, os, socket; C = ctypes.CDLL(None)";
    format!("python3 -c \"{prelude}; {statement}\"")
}
