//! Combines the decision of policy with the answers of hooks. A deny overrides an ask, an ask overrides a
//! hook's allow, and a hook's allow overrides the default.

use crate::{
    error::{ErrorKind, ToolError},
    hooks::HookVerdict,
    policy::{Asking, Decision, PermissionMode},
    tool::Risk,
};

/// The decision after the answers of hooks. Hooks can ask where policy allows, and allow what only the default
/// asks about. They cannot allow what a rule, a mode, a protected path or an unclear command line holds back.
pub(super) fn after_hooks(
    decision: Decision,
    said: &HookVerdict,
    mode: PermissionMode,
    risk: Risk,
) -> Decision {
    match (decision, said) {
        (Decision::Allow, HookVerdict::Ask(reason)) => asked_by_hook(reason, mode, risk),
        (Decision::Ask(asking), HookVerdict::Allow(_)) if asking.by_default_alone => {
            Decision::Allow
        }
        (decision, _) => decision,
    }
}

/// Why a decision is another one than that of policy.
pub(super) fn said_by_hook(decision: &Decision, said: &HookVerdict) -> String {
    match (decision, said) {
        (Decision::Ask(asking), _) => asking.reason.clone(),
        (Decision::Deny(error), _) => {
            error.details.as_ref().map_or(&error.message, |it| &it.reason).clone()
        }
        (Decision::Allow, HookVerdict::Allow(reason)) if !reason.is_empty() => {
            format!("a hook allows it: {reason}")
        }
        (Decision::Allow, _) => "a hook allows it".to_owned(),
    }
}

fn asked_by_hook(reason: &str, mode: PermissionMode, risk: Risk) -> Decision {
    let reason = format!("a hook asks: {reason}");
    if mode.never_asks() {
        let message = format!("{reason}, and nobody is asked here; go on without it");
        return Decision::Deny(ToolError::new(ErrorKind::PolicyDenied, message).with_details(
            &format!("{reason}, and mode `dontAsk` denies what would ask"),
            "a host can allow it by another answer of the hook, or another `permissionMode`",
            Vec::new(),
        ));
    }
    Decision::Ask(Box::new(Asking {
        told_to_model: reason.clone(),
        reason,
        message: None,
        by_default_alone: false,
        risk,
        suggested_rules: Vec::new(),
        ways_to_allow: "a host can allow it by listening for confirmation requests, or by another \
                        answer of the hook"
            .to_owned(),
    }))
}
