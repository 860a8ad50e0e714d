//! Parses the answer of a hook. The field names are those of Claude Code's hooks.

use serde::Deserialize;
use serde_json::Value;
use toolwright_core::kind_of;

/// An answer as received. Every field is optional. An empty answer changes nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct HookOutput {
    /// False ends the whole turn.
    #[serde(rename = "continue")]
    continues: Option<bool>,
    stop_reason: Option<String>,
    suppress_output: Option<bool>,
    decision: Option<PermissionWord>,
    reason: Option<String>,
    hook_specific_output: Option<Specific>,
    #[serde(flatten)]
    plain: Specific,
}

/// The fields of one event. They are also accepted at the top level, where they are easier to write.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Specific {
    permission_decision: Option<PermissionWord>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PermissionWord {
    #[serde(alias = "approve")]
    Allow,
    #[serde(alias = "block")]
    Deny,
    Ask,
}

/// The meaning of an answer, in whichever form it was written.
#[derive(Debug, Default, PartialEq)]
pub(super) struct HookAnswer {
    pub(super) verdict: HookVerdict,
    pub(super) updated_input: Option<Value>,
    pub(super) context: Option<String>,
    pub(super) suppress_output: bool,
    /// Why the whole turn ends.
    pub(super) stop: Option<String>,
}

/// The verdict of a hook on a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum HookVerdict {
    /// The hook has no opinion.
    #[default]
    Silent,
    /// The call may run, unless a rule asks or denies.
    Allow(String),
    /// A person must confirm the call first.
    Ask(String),
    /// The call must not run.
    Block(String),
}

impl HookAnswer {
    /// Parses an answer, or says what is wrong with it.
    pub(super) fn read(value: Value) -> Result<Self, String> {
        if value.is_null() {
            return Ok(Self::default());
        }
        if !value.is_object() {
            return Err(format!("it answered with {} instead of an object", kind_of(&value)));
        }
        let output: HookOutput = serde_json::from_value(value)
            .map_err(|err| format!("its answer cannot be read: {err}"))?;
        let specific = output.hook_specific_output.unwrap_or_default();
        let reason = specific
            .permission_decision_reason
            .or(output.plain.permission_decision_reason)
            .or(output.reason);
        let word =
            specific.permission_decision.or(output.plain.permission_decision).or(output.decision);
        let because = |fallback: &str| reason.clone().unwrap_or_else(|| fallback.to_owned());
        let verdict = match word {
            None => HookVerdict::Silent,
            Some(PermissionWord::Allow) => HookVerdict::Allow(because("it gave no reason")),
            Some(PermissionWord::Ask) => HookVerdict::Ask(because("it gave no reason")),
            Some(PermissionWord::Deny) => HookVerdict::Block(because(
                "a hook blocked the call and gave no reason; continue without it, or ask the user",
            )),
        };
        let stop = (output.continues == Some(false)).then(|| {
            output.stop_reason.or(reason).unwrap_or_else(|| "a hook ended the turn".into())
        });
        Ok(Self {
            verdict,
            updated_input: specific.updated_input.or(output.plain.updated_input),
            context: specific.additional_context.or(output.plain.additional_context),
            suppress_output: output.suppress_output == Some(true),
            stop,
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_an_answer_mean_the_same() {
        let specific = json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
            "updatedInput": { "a": 1 },
            "additionalContext": "c",
        } });
        let plain = json!({ "decision": "block", "reason": "no", "updatedInput": { "a": 1 }, "additionalContext": "c" });
        let read = |value| HookAnswer::read(value).unwrap();
        assert_eq!(read(specific), read(plain.clone()));
        assert_eq!(read(plain).verdict, HookVerdict::Block("no".to_owned()));
        assert_eq!(read(json!(null)), HookAnswer::default());
        assert_eq!(read(json!({})), HookAnswer::default());
        assert_eq!(read(json!({ "continue": false })).stop.unwrap(), "a hook ended the turn");
    }

    #[test]
    fn an_invalid_answer_is_an_error() {
        for wrong in [
            json!("allow"),
            json!(true),
            json!({ "decision": "maybe" }),
            json!({ "continue": "no" }),
            json!({ "hookSpecificOutput": { "permissionDecision": true } }),
        ] {
            assert!(HookAnswer::read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
