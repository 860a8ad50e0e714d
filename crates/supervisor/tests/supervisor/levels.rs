//! The level of sandbox that a supervisor detects on its machine, and its reason why there is no
//! better one.

use std::{collections::BTreeMap, thread};

use pretty_assertions::assert_eq;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use crate::sandbox_bed::{SandboxBed, SandboxLevel, SandboxPlan, TestUser, users};

/// Starts a supervisor in a user namespace in which something was changed first.
const IN_A_CONTAINER: [&str; 4] = ["unshare", "-Urm", "sh", "-c"];

fn container(change: &str, user: TestUser) -> SandboxBed {
    let script = format!("{change} && exec \"$@\"");
    let starter: Vec<&str> = IN_A_CONTAINER.into_iter().chain([script.as_str(), "sh"]).collect();
    SandboxBed::below(&starter, user)
}

/// A bed whose supervisor has filters for system calls. They refuse user namespaces with EPERM, as
/// containers do, and the given system calls with ENOSYS.
fn filtered(refused: &[i64], user: TestUser) -> SandboxBed {
    let flag = libc::CLONE_NEWUSER.unsigned_abs().into();
    let rule = |argument| {
        let operator = SeccompCmpOp::MaskedEq(flag);
        let has_flag =
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, flag).unwrap();
        vec![SeccompRule::new(vec![has_flag]).unwrap()]
    };
    let namespaces = BTreeMap::from([(libc::SYS_clone, rule(0)), (libc::SYS_unshare, rule(0))]);
    let unknown = refused.iter().map(|it| (*it, Vec::new())).collect();
    let filters = [(namespaces, libc::EPERM), (unknown, libc::ENOSYS)];
    let filters =
        filters.into_iter().filter(|(rules, _)| !rules.is_empty()).map(|(rules, error)| {
            let refuse = SeccompAction::Errno(error.unsigned_abs());
            let machine = std::env::consts::ARCH.try_into().unwrap();
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine).unwrap();
            BpfProgram::try_from(filter).unwrap()
        });
    let filters: Vec<BpfProgram> = filters.collect();
    // A filter applies to the thread that sets it and to the processes that it starts.
    let started = thread::spawn(move || {
        for filter in &filters {
            seccompiler::apply_filter(filter).unwrap();
        }
        SandboxBed::of(user)
    });
    started.join().unwrap()
}

/// Runs a command in the detected level, to check that it works.
fn runs(bed: &SandboxBed) {
    let plan = SandboxPlan { level: bed.level, ..SandboxPlan::default() };
    assert_eq!(bed.run(&plan, "echo ran").with_code(0), "ran\n");
}

#[test]
fn root_and_ordinary_users_have_namespaces() {
    for user in users() {
        let bed = SandboxBed::of(user);
        assert_eq!(bed.level, SandboxLevel::Namespaces, "{user:?}");
        assert_eq!(bed.support.why_not_better(), "", "{user:?}");
        assert!(bed.support.limits_processes || user == TestUser::Same, "{user:?}");
        runs(&bed);
    }
}

#[test]
fn landlock_is_used_if_no_more_user_namespaces_are_allowed() {
    for user in users() {
        let bed = container("echo 0 > /proc/sys/user/max_user_namespaces", user);
        assert_eq!(bed.level, SandboxLevel::Landlock, "{user:?}");
        let cause = "user namespaces are refused: ENOSPC; no more are allowed; see \
            `/proc/sys/user/max_user_namespaces`";
        assert_eq!(bed.support.why_not_better(), cause, "{user:?}");
        runs(&bed);
    }
}

#[test]
fn landlock_is_used_if_a_filter_refuses_user_namespaces() {
    for user in users() {
        let bed = filtered(&[], user);
        assert_eq!(bed.level, SandboxLevel::Landlock, "{user:?}");
        let cause = bed.support.why_not_better();
        assert!(
            cause.starts_with("user namespaces are refused: EPERM; a seccomp filter"),
            "{cause}"
        );
        runs(&bed);
    }
}

#[test]
fn landlock_is_used_if_parts_of_proc_are_hidden() {
    for user in users() {
        let bed = container("mount -t tmpfs none /proc/fs", user);
        assert_eq!(bed.level, SandboxLevel::Landlock, "{user:?}");
        let cause = bed.support.why_not_better();
        assert!(cause.contains("`/proc` cannot be mounted"), "{cause}");
        runs(&bed);
    }
}

#[test]
fn there_is_no_sandbox_if_both_are_refused_and_both_reasons_are_reported() {
    for user in users() {
        let bed = filtered(&[libc::SYS_landlock_create_ruleset], user);
        assert_eq!(bed.level, SandboxLevel::None, "{user:?}");
        let cause = bed.support.why_not_better();
        assert!(cause.starts_with("user namespaces are refused: EPERM"), "{cause}");
        assert!(cause.ends_with("; the kernel has no Landlock"), "{cause}");
        runs(&bed);
    }
}

#[test]
fn landlock_is_used_if_the_kernel_cannot_change_mounts() {
    let filters = [libc::SYS_mount_setattr];
    let bed = thread::spawn(move || {
        let rules = filters.into_iter().map(|it| (it, Vec::new())).collect();
        let refuse = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let machine = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine).unwrap();
        seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        SandboxBed::of(TestUser::Same)
    })
    .join()
    .unwrap();
    assert_eq!(bed.level, SandboxLevel::Landlock);
    runs(&bed);
}

#[test]
fn a_command_is_not_started_at_an_unsupported_level() {
    let bed = filtered(&[libc::SYS_landlock_create_ruleset], TestUser::Same);
    for (level, cause) in [
        (SandboxLevel::Namespaces, "its sandbox cannot be made: namespaces cannot be made"),
        (SandboxLevel::Landlock, "its sandbox cannot be made: Landlock cannot be used"),
    ] {
        let plan = SandboxPlan { level, ..SandboxPlan::default() };
        let ended = bed.run(&plan, "echo ran");
        assert_eq!(ended.text, "");
        assert!(ended.report.sandbox_error.as_deref().unwrap().starts_with(cause), "{ended:?}");
    }
}
