//! Combines the policy decision with the answers of hooks. A deny overrides an ask, an ask overrides a
//! hook's allow, and a hook's allow overrides the default.

use toolwright_base::{ErrorKind, PermissionMode, Risk, ToolError};
use toolwright_policy::{Asking, Decision};

use crate::hooks::HookVerdict;

/// The decision after the hooks' answers. Hooks can ask where policy allows, and can allow what only
/// the default asks about. They cannot allow what a rule, a mode, a protected path or an unclear
/// command line restricts.
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

/// The reason for a decision that hooks changed.
pub(super) fn reason_of_hook(decision: &Decision, said: &HookVerdict) -> String {
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
        let message = format!("{reason}, and the user cannot be asked here; continue without it");
        return Decision::Deny(ToolError::new(ErrorKind::PolicyDenied, message).with_details(
            &format!("{reason}, and mode `dontAsk` denies what would ask"),
            "a host can allow it by another answer of the hook, or another `permissionMode`",
            Vec::new(),
        ));
    }
    Decision::Ask(Box::new(Asking {
        reason_for_model: reason.clone(),
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
