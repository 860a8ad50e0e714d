//! The limits of a command, and the report of the limit that was reached.

use pretty_assertions::assert_eq;

use crate::sandbox_bed::{
    LimitKind, ResourceLimits, SandboxBed, SandboxLevel, SandboxPlan, TestUser, users,
};

const LEVELS: [SandboxLevel; 3] =
    [SandboxLevel::Namespaces, SandboxLevel::Landlock, SandboxLevel::None];

fn plan(level: SandboxLevel, limits: ResourceLimits) -> SandboxPlan {
    SandboxPlan { level, limits, ..SandboxPlan::default() }
}

#[test]
fn a_command_over_its_cpu_limit_is_ended_and_reported() {
    let limits = ResourceLimits { cpu_seconds: Some(1), ..ResourceLimits::default() };
    let bed = SandboxBed::of(TestUser::Ordinary);
    for level in LEVELS {
        for command in ["while :; do :; done", "bash -c 'while :; do :; done'; exit $?"] {
            let ended = bed.run(&plan(level, limits), command);
            assert_eq!(ended.report.limit_hit, Some(LimitKind::Cpu), "{level:?}: {ended:?}");
        }
    }
}

#[test]
fn a_file_over_its_size_limit_is_cut_and_reported() {
    let limits = ResourceLimits { file_bytes: Some(1 << 20), ..ResourceLimits::default() };
    for user in users() {
        let bed = SandboxBed::of(user);
        for level in LEVELS {
            let ended = bed.run(&plan(level, limits), "head -c 9000000 /dev/zero > big");
            assert_eq!(ended.report.limit_hit, Some(LimitKind::FileSize), "{level:?}: {ended:?}");
            let said = bed.run(&plan(level, limits), "stat -c %s big; rm big").with_code(0);
            assert_eq!(said, "1048576\n", "{user:?}: {level:?}");
        }
    }
}

#[test]
fn memory_is_limited_and_programs_that_reserve_addresses_still_start() {
    let limits = ResourceLimits { memory_bytes: Some(512 << 20), ..ResourceLimits::default() };
    for user in users() {
        let bed = SandboxBed::of(user);
        for level in LEVELS {
            let plan = plan(level, limits);
            let much = "python3 -c 'x = bytearray(700 << 20)'";
            assert!(bed.run(&plan, much).text.contains("MemoryError"), "{user:?}: {level:?}");
            let some = "python3 -c 'x = bytearray(100 << 20)' && node -e 1 && echo ran";
            assert_eq!(bed.run(&plan, some).with_code(0), "ran\n", "{user:?}: {level:?}");
        }
    }
}

#[test]
fn limits_cannot_be_raised_again() {
    let limits = ResourceLimits {
        cpu_seconds: Some(100),
        memory_bytes: Some(1 << 30),
        file_bytes: Some(1 << 20),
        processes: Some(100),
    };
    for user in users() {
        let bed = SandboxBed::of(user);
        let plan = plan(SandboxLevel::Namespaces, limits);
        for attempt in [
            "ulimit -f unlimited",
            "ulimit -d unlimited",
            "prlimit --pid $$ --fsize=unlimited:unlimited",
            "echo 30000 > /proc/sys/kernel/pid_max",
            "ulimit -t unlimited",
        ] {
            let ended = bed.run(&plan, attempt);
            assert_ne!(ended.report.exit_code, Some(0), "{user:?}: {attempt}: {ended:?}");
        }
    }
}

#[test]
fn a_command_that_ends_by_itself_hit_no_limit() {
    let limits = ResourceLimits {
        cpu_seconds: Some(100),
        memory_bytes: Some(1 << 30),
        file_bytes: Some(1 << 30),
        processes: Some(100),
    };
    let bed = SandboxBed::of(TestUser::Same);
    for level in LEVELS {
        for command in ["true", "false", "kill -9 $$", "exit 152"] {
            let hit = bed.run(&plan(level, limits), command).report.limit_hit;
            let wanted = (command == "exit 152").then_some(LimitKind::Cpu);
            assert_eq!(hit, wanted, "{level:?}: {command}");
        }
        let free = bed.run(&plan(level, ResourceLimits::default()), "exit 152");
        assert_eq!(free.report.limit_hit, None, "{level:?}");
    }
}

#[test]
fn debuggers_and_io_uring_still_work() {
    for user in users() {
        let bed = SandboxBed::of(user);
        for level in [SandboxLevel::Namespaces, SandboxLevel::Landlock] {
            let plan = plan(level, ResourceLimits::default());
            let ring = "python3 -c 'import ctypes; C = ctypes.CDLL(None); \
                assert C.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0'";
            for work in ["strace -o /dev/null true", ring] {
                let ended = bed.run(&plan, work);
                assert_eq!(ended.report.exit_code, Some(0), "{user:?}: {level:?}: {ended:?}");
            }
        }
    }
}
