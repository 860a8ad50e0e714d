//! The processes of a sandbox in namespaces: they see and signal only each other, they end with the
//! command, and they have no more rights than their user.

use std::fs;

use pretty_assertions::assert_eq;
use toolwright_test_bed::{NONE_ALIVE, alive, marker};

use crate::sandbox_bed::{ResourceLimits, SandboxBed, SandboxPlan, TestUser, plan, users};

/// A plan with a restriction, so that no step of the setup is skipped.
fn restricted(bed: &SandboxBed) -> SandboxPlan {
    SandboxPlan { read_only: vec![bed.write("held/file", "kept\n")], ..plan() }
}

#[test]
fn a_command_can_only_signal_its_own_processes() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = restricted(&bed);
        for (attack, signal) in [
            ("kill -9 -1; kill -9 1 $$ $PPID; kill -9 $$", Some(9)),
            ("kill -STOP 1 $PPID -1; kill -TERM 1; exit 3", None),
            ("for i in $(seq 1 64); do kill -$i 1 2>&-; done; exit 3", None),
            // In a sandbox that is reused the shell may have any of these ids.
            ("for p in $(seq 300); do [ $p = $$ ] || kill -9 $p 2>&-; done; exit 3", None),
        ] {
            let mut background = bed.start(Some(&plan), "echo ready; exec sleep 1000");
            background.wait_for("ready\n");
            let ended = bed.run(&plan, attack);
            assert_eq!(ended.report.signal, signal, "{user:?}: {attack}: {ended:?}");
            if signal.is_none() {
                assert_eq!(ended.report.exit_code, Some(3), "{user:?}: {attack}: {ended:?}");
            }
            assert_eq!(bed.run(&plan, "echo next").with_code(0), "next\n", "{user:?}");
            background.stop(60_000);
            // It ran until it was stopped.
            assert_eq!(background.end().report.signal, Some(15), "{user:?}: {attack}");
        }
    }
}

#[test]
fn no_process_outlives_its_command() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = restricted(&bed);
        for attempt in [
            "setsid sleep MARK & exit 3",
            "(setsid sleep MARK &) ; exit 3",
            "env -i setsid bash -c 'trap \"\" TERM HUP INT; while :; do sleep MARK; done' & exit 3",
            "nohup sleep MARK & disown; exit 3",
            "unshare -Urpf setsid sleep MARK >&- 2>&- & exit 3",
            "setsid bash -c 'kill -STOP $$; sleep MARK' & exit 3",
        ] {
            let marker = marker();
            let ended = bed.run(&plan, &attempt.replace("MARK", &marker));
            assert_eq!(alive(&marker), NONE_ALIVE, "{user:?}: {attempt}");
            assert_eq!(ended.report.exit_code, Some(3), "{user:?}: {attempt}: {ended:?}");
            assert_eq!(ended.report.survivors, 0, "{user:?}: {attempt}");
            assert_ne!(ended.report.stopped, 0, "{user:?}: {attempt}");
        }
        let quick = bed.run(&plan, "sleep 0.05 & exit 3");
        assert_eq!((quick.report.exit_code, quick.report.stopped), (Some(3), 0), "{user:?}");
    }
}

#[test]
fn a_stopped_command_gets_its_grace_period() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = restricted(&bed);
        let handled = "trap 'echo asked; exit 7' TERM; echo ready; while :; do sleep 0.01; done";
        let mut command = bed.start(Some(&plan), handled);
        command.wait_for("ready\n");
        command.stop(60_000);
        let ended = command.end();
        // The shell also reports that its `sleep` was ended.
        assert!(ended.text.ends_with("asked\n"), "{user:?}: {ended:?}");
        assert_eq!(ended.report.exit_code, Some(7), "{user:?}: {ended:?}");
        let ignored = "trap '' TERM; echo ready; while :; do sleep 0.01; done";
        let mut command = bed.start(Some(&plan), ignored);
        command.wait_for("ready\n");
        command.stop(10);
        assert_eq!(command.end().report.signal, Some(9), "{user:?}");
    }
}

#[test]
fn an_endlessly_forking_command_is_limited_and_ended() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let limits = ResourceLimits { processes: Some(60), ..ResourceLimits::default() };
        let plan = SandboxPlan { limits, ..restricted(&bed) };
        let marker = marker();
        let bomb = format!(
            "echo ready; grow() {{ trap '' TERM; sleep {marker} & grow & grow & wait; }}; grow 2> /dev/null"
        );
        let mut command = bed.start(Some(&plan), &bomb);
        command.wait_for("ready\n");
        // Another command works meanwhile.
        assert_eq!(bed.run(&plan, "echo next").with_code(0), "next\n", "{user:?}");
        command.stop(50);
        let ended = command.end();
        assert_eq!(ended.report.survivors, 0, "{user:?}: {ended:?}");
        assert_eq!(alive(&marker), NONE_ALIVE, "{user:?}");
        assert_eq!(bed.run(&plan, "echo next").with_code(0), "next\n", "{user:?}");
    }
}

#[test]
fn commands_end_with_their_host() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = restricted(&bed);
        let marker = marker();
        let mut command =
            bed.start(Some(&plan), &format!("trap '' TERM; echo ready; sleep {marker}; :"));
        command.wait_for("ready\n");
        command.hang_up();
        command.wait_for_end();
        assert_eq!(alive(&marker), NONE_ALIVE, "{user:?}");
        let mut command = bed.start(Some(&plan), &format!("echo ready; sleep {marker}; :"));
        command.wait_for("ready\n");
        drop(bed);
        command.hang_up();
        command.wait_for_end();
        assert_eq!(alive(&marker), NONE_ALIVE, "{user:?}");
    }
}

#[test]
fn the_last_directory_is_reported_and_environment_and_umask_are_fresh() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = restricted(&bed);
        bed.write("sub/file", "");
        let ended = bed.run(&plan, "cd sub; (cd /); bash -c 'cd /tmp'; umask 077; :");
        assert_eq!(
            ended.report.cwd.unwrap(),
            bed.home().join("sub").into_os_string().into_encoded_bytes()
        );
        // The next command does not inherit the umask of the previous one.
        let text = bed
            .run(&plan, "umask; echo $HOME; pwd; ulimit -c >/dev/null; readlink /proc/self/fd/0")
            .with_code(0);
        let home = bed.home().display().to_string();
        assert_eq!(text, format!("0022\n{home}\n{home}\n/dev/null\n"), "{user:?}");
    }
}

#[test]
fn a_command_has_no_privilege_to_leave_the_sandbox() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = restricted(&bed);
        for attempt in [
            "unshare -m true",
            "mount -t tmpfs none held",
            "nsenter -t 1 -m true",
            "nsenter -t 1 -U true",
            "mknod device b 254 0",
            "cat /proc/1/environ /proc/1/maps /proc/1/mem",
            "readlink /proc/1/fd/*",
            "cat /proc/1/fd/*",
            "readlink /proc/1/exe",
            "strace -p 1",
            "hostname other",
            "date -s 2001-01-01",
            "swapoff -a; sysctl -w kernel.core_pattern=x",
            "echo x > /proc/sys/kernel/core_pattern",
            "echo b > /proc/sysrq-trigger",
            "echo 1 > /sys/kernel/uevent_helper",
            "mkdir /sys/fs/cgroup/memory/mine-$$",
            "dmesg --clear",
            "head -c1 /dev/mem || head -c1 /dev/vda || head -c1 /dev/sda",
            "unshare -Ur mknod device b 254 0",
            "unshare -Ur sh -c 'echo x > /proc/sys/kernel/core_pattern'",
            "unshare -Urm mount -o remount,rw,bind /proc/sys && echo x > /proc/sys/kernel/core_pattern",
        ] {
            let ended = bed.run(&plan, attempt);
            assert_ne!(ended.report.exit_code, Some(0), "{user:?}: {attempt}: {ended:?}");
        }
        let status = bed.run(&plan, "grep -E 'CapBnd|CapEff|NoNewPrivs' /proc/self/status");
        let wanted = if user == TestUser::Same && rustix::process::geteuid().is_root() {
            "CapEff:\t00000000800405fb\nCapBnd:\t00000000800405fb\nNoNewPrivs:\t1\n"
        } else {
            "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n"
        };
        assert_eq!(status.with_code(0), wanted, "{user:?}");
    }
}

#[test]
fn ordinary_work_of_root_still_works() {
    if users().len() < 2 {
        return;
    }
    let bed = SandboxBed::of(TestUser::Same);
    let plan = restricted(&bed);
    let command = "touch file && chown 1234:2345 file && stat -c %u:%g file && chmod 4755 file && \
        setpriv --reuid 65534 --regid 65534 --clear-groups id -u && echo x > /dev/null && \
        head -c 3 /dev/urandom | wc -c && script -qec 'tty' /dev/null | tr -d '\\r' && id -u";
    let text = bed.run(&plan, command).with_code(0);
    assert_eq!(text, "1234:2345\n65534\n3\n/dev/pts/0\n0\n");
    assert_eq!(fs::metadata(bed.home().join("file")).unwrap().len(), 0);
}

#[test]
fn concurrent_commands_each_have_their_own_sandbox() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = restricted(&bed);
        let all: Vec<_> = (0..40)
            .map(|number| bed.start(Some(&plan), &format!("set -- /proc/[0-9]*; echo {number} $#")))
            .collect();
        for (number, command) in all.into_iter().enumerate() {
            // It sees itself and PID 1.
            assert_eq!(command.end().with_code(0), format!("{number} 2\n"), "{user:?}");
        }
        // Commands without a plan are not affected.
        let outside = bed.start(None, "set -- /proc/[0-9]*; echo $#").end().with_code(0);
        assert_ne!(outside, "2\n", "{user:?}");
    }
}
