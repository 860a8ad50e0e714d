//! Reads and changes policy, for JavaScript.

use napi::bindgen_prelude::Result;
use napi_derive::napi;
use serde_json::{Value, json};
use toolwright_base::ErrorKind;
use toolwright_host::{parsed, stand_alone_engine};
use toolwright_pipeline::{CallOptions, ToolCall};
use toolwright_policy::{PolicyConfig, PolicyEngine};

use crate::{
    envelope::{misuse, sealed, sealed_empty},
    registry::NativeRegistry,
};

#[napi]
impl NativeRegistry {
    /// What policy decides for a call and why, as JSON.
    #[napi(catch_unwind)]
    pub fn explain(&self, name: String, input: String, session_id: Option<String>) -> String {
        sealed((|| {
            let input = parsed::<Value>(&input, ErrorKind::Validation)?;
            let options = CallOptions { session_id, ..CallOptions::default() };
            let verdict = self.host.pipeline.explain(ToolCall { name, input }, options)?;
            Ok(json!(verdict).to_string())
        })())
    }

    /// Replaces the host's policy. An invalid policy is refused and changes nothing.
    #[napi(catch_unwind)]
    pub fn set_policy(&self, policy: String) -> String {
        let policy = parsed::<Option<Value>>(&policy, ErrorKind::InvalidOptions);
        sealed_empty(policy.and_then(|policy| self.host.set_policy(policy)))
    }

    /// Reads the policy files again.
    #[napi(catch_unwind)]
    pub fn reload_policy(&self) -> String {
        sealed_empty(self.host.reload_policy())
    }

    /// Adds rules that allow calls.
    #[napi(catch_unwind)]
    pub fn allow(&self, rules: Vec<String>) -> String {
        sealed_empty(self.host.allow(rules))
    }

    /// Sets the permission mode, which decides calls that match no rule.
    #[napi(catch_unwind)]
    pub fn set_permission_mode(&self, mode: String) -> String {
        sealed_empty(self.host.set_permission_mode(&mode))
    }

    /// Sets the permission mode of one session. Without a mode, the session follows its parent or the
    /// registry again.
    #[napi(catch_unwind)]
    pub fn set_session_mode(&self, session_id: String, mode: Option<String>) -> String {
        sealed_empty(self.host.set_session_mode(&session_id, mode.as_deref()))
    }

    /// The permission mode of a session, or of the registry.
    #[napi(catch_unwind)]
    pub fn permission_mode(&self, session_id: Option<String>) -> String {
        self.host.permission_mode(session_id.as_deref()).as_str().to_owned()
    }

    /// True unless the session is limited to other tools.
    #[napi(catch_unwind)]
    pub fn offers(&self, tool: String, session_id: Option<String>) -> bool {
        self.host.pipeline.offers(session_id.as_deref(), &tool)
    }

    /// Limits a session to these tools from now on.
    #[napi(catch_unwind)]
    pub fn limit_tools(&self, session_id: String, names: Vec<String>) -> String {
        sealed_empty(self.host.limit_tools(&session_id, &names))
    }

    /// Rules that do not do what they seem to do, as JSON.
    #[napi(catch_unwind)]
    pub fn lint_policy(&self) -> String {
        self.host.lint_policy().to_string()
    }

    /// Rules whose tool does not exist, as JSON.
    #[napi(catch_unwind)]
    pub fn unknown_tools(&self) -> String {
        self.host.unknown_tools().to_string()
    }

    /// Disables tools: they are not in the definitions for models, and calls to them are refused.
    #[napi(catch_unwind)]
    pub fn disable(&self, names: Vec<String>) -> String {
        sealed_empty(self.host.pipeline.registry.disable(&names))
    }

    /// Enables tools, including those that `disallowedTools` names.
    #[napi(catch_unwind)]
    pub fn enable(&self, names: Vec<String>) -> String {
        sealed_empty(self.host.enable(&names))
    }
}

/// A policy engine without a registry.
#[napi]
pub struct NativePolicyEngine(PolicyEngine);

#[napi]
impl NativePolicyEngine {
    /// Compiles a policy. Throws the text of an error envelope.
    #[napi(constructor, catch_unwind)]
    pub fn new(policy: String, project_path: String, mode: Option<String>) -> Result<Self> {
        parsed::<Value>(&policy, ErrorKind::InvalidOptions)
            .and_then(|policy| stand_alone_engine(&policy, project_path, mode.as_deref()))
            .map(Self)
            .map_err(|error| napi::Error::from_reason(misuse(&error)))
    }

    /// What the policy decides for a call, as JSON.
    #[napi(catch_unwind)]
    pub fn evaluate(&self, tool: String, params: String) -> String {
        sealed((|| {
            let params = parsed::<Value>(&params, ErrorKind::Validation)?;
            Ok(json!(self.0.evaluate(&tool, &params)).to_string())
        })())
    }

    /// `low`, `medium` or `high`.
    #[napi(catch_unwind)]
    pub fn risk_level(&self, tool: String) -> String {
        self.0.risk_level(&tool).for_people().to_owned()
    }

    /// Rules that do not do what they seem to do, as JSON.
    #[napi(catch_unwind)]
    pub fn lint(&self) -> String {
        json!(self.0.lint()).to_string()
    }
}

/// The JSON Schema of the policy file.
#[napi(catch_unwind)]
pub fn policy_schema() -> String {
    json!(PolicyConfig::schema()).to_string()
}
