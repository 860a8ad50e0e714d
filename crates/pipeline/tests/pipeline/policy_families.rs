//! Every rule about a family applies to a new tool of a set, because the tool declares its family.

use std::path::PathBuf;

use pretty_assertions::assert_eq;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_base::{Access, PermissionMode, SideEffect, ToolCatalogue, ToolError, ToolKind};
use toolwright_core::{
    CallPlan, NoData, Tool, ToolContext, ToolOutput, ToolSource, Typed, known_tool,
};
use toolwright_pipeline::{CallOptions, ToolCall};
use toolwright_policy::{
    Action::{self, Allow, Ask, Deny},
    Layer, PolicyConfig,
};
use toolwright_test_bed::TestBed;
use toolwright_tools::{ToolSet, catalogue};

/// A tool that only this file knows.
struct PatchFile;

#[derive(Deserialize, JsonSchema)]
struct PatchInput {
    /// The file to change.
    target: PathBuf,
}

struct FileToPatch(PathBuf);

impl Tool for PatchFile {
    type Input = PatchInput;
    type Plan = FileToPatch;

    const NAME: &'static str = "patch_file";
    const TITLE: &'static str = "Patch a file";
    const DESCRIPTION: &'static str = "Patches a file.";
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::edits_files(&["target"]);

    fn plan(&self, input: PatchInput, cx: &ToolContext) -> Result<FileToPatch, ToolError> {
        Ok(FileToPatch(cx.session.shared.files.roots.first().join(input.target)))
    }
}

impl CallPlan for FileToPatch {
    type Output = NoData;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Write(self.0.clone())]
    }

    fn describe(&self) -> String {
        format!("Patch {}", self.0.display())
    }

    async fn run(self, _cx: &ToolContext) -> Result<ToolOutput<NoData>, ToolError> {
        std::fs::write(self.0, "patched").unwrap();
        Ok(ToolOutput::text("patched"))
    }
}

struct Patched(TestBed);

impl Patched {
    /// A registry with the tool in its `claude` set.
    fn new() -> Self {
        let bed = TestBed::new();
        let source = ToolSource::Builtin(ToolSet::Claude.as_str());
        bed.pipeline.registry.register(Typed::erased(PatchFile), source).unwrap();
        Self(bed)
    }

    fn judge(&self, policy: &Value, mode: PermissionMode, target: &str) -> Action {
        self.0
            .pipeline
            .policy
            .change(|sources| {
                let config = PolicyConfig::from_json(policy, Layer::User).unwrap();
                let with = ToolCatalogue::new(
                    catalogue().tools().copied().chain([known_tool::<PatchFile>()]),
                );
                (sources.layers, sources.mode) = (vec![(Layer::User, config)], mode);
                sources.tools = with.into();
            })
            .unwrap();
        let call = ToolCall { name: "patch_file".to_owned(), input: json!({ "target": target }) };
        self.0.pipeline.explain(call, CallOptions::default()).unwrap().verdict.action
    }
}

#[test]
fn every_rule_about_a_family_applies_to_a_new_tool_of_it() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
    let bed = Patched::new();
    for (policy, mode, target, expected) in [
        (json!({}), Default, "a", Ask),
        (json!({}), AcceptEdits, "a", Allow),
        (json!({}), AcceptEdits, ".git/config", Ask),
        (json!({}), BypassPermissions, ".bashrc", Ask),
        (json!({}), Plan, "a", Deny),
        (json!({ "allow": ["patch_file"] }), Plan, "a", Deny),
        (json!({}), DontAsk, "a", Deny),
        (json!({ "deny": ["Edit"] }), BypassPermissions, "a", Deny),
        (json!({ "deny": ["edit_file"] }), BypassPermissions, "a", Deny),
        (json!({ "rules": [{ "tool": "Edit", "action": "deny" }] }), BypassPermissions, "a", Deny),
        (json!({ "deny": ["Write"] }), BypassPermissions, "a", Allow),
        (json!({ "deny": ["patch_file"] }), BypassPermissions, "a", Deny),
        (json!({ "allow": ["Edit"] }), Default, "a", Ask),
        (json!({ "allow": ["patch_file"] }), Default, "a", Allow),
        (json!({ "allow": ["patch_file"] }), Default, ".git/config", Ask),
        (json!({ "allow": ["Edit(src/**)"] }), Default, "src/a", Allow),
        (json!({ "allow": ["Edit(src/**)"] }), Default, "b", Ask),
        (json!({ "allow": ["patch_file(src/**)"] }), Default, "src/a", Allow),
        (json!({ "allow": ["Edit(.git/config)"] }), Default, ".git/config", Allow),
        (json!({ "deny": ["Edit(src/**)"] }), BypassPermissions, "src/a", Deny),
        (json!({ "deny": ["Read(src/**)"] }), BypassPermissions, "src/a", Deny),
        (json!({ "ask": ["Read(src/**)"] }), BypassPermissions, "src/a", Ask),
        (
            json!({ "rules": [{ "tool": "Write", "action": "deny", "conditions": [{ "pathGlob": "src/**" }] }] }),
            BypassPermissions,
            "src/a",
            Deny,
        ),
        (
            json!({ "rules": [{ "tool": "patch_file", "action": "deny", "conditions": [
                { "param": "target", "operator": "equals", "value": "src/a" }
            ] }] }),
            BypassPermissions,
            "src/a",
            Deny,
        ),
    ] {
        assert_eq!(bed.judge(&policy, mode, target), expected, "{policy} {mode:?} {target}");
    }
    // A pattern for the new tool is a pattern for its family, as with `Write(src/**)`.
    let policy = json!({ "deny": ["patch_file(src/**)"] });
    assert_eq!(bed.judge(&policy, BypassPermissions, "src/a"), Deny);
    let engine = bed.0.pipeline.policy.get();
    assert_eq!(engine.evaluate("Write", &json!({ "file_path": "b" })).action, Allow);
    let root = bed.0.root();
    assert_eq!(engine.evaluate("Write", &json!({ "file_path": root.join("src/a") })).action, Deny);
    assert_eq!(
        engine.evaluate("patch_file", &json!({ "target": root.join("src/a") })).action,
        Deny
    );
    assert_eq!(engine.risk_level("patch_file"), toolwright_base::Risk::Medium);
    assert_eq!(engine.unknown_tools(&[]), []);
    // Paths that it must skip while it walks.
    bed.judge(&json!({ "deny": ["Read(secret)"] }), Default, "a");
    let engine = bed.0.pipeline.policy.get();
    assert!(engine.hides("patch_file", &PatchFile::KIND, &root.join("secret/key")));
    assert!(!engine.hides("patch_file", &PatchFile::KIND, &root.join("open")));
}

#[tokio::test]
async fn a_tool_of_a_denied_family_changes_nothing() {
    let bed = Patched::new();
    bed.judge(&json!({ "deny": ["Edit"] }), PermissionMode::BypassPermissions, "a");
    let refused = bed.0.call("patch_file", json!({ "target": "a" })).await;
    assert_eq!(refused.error.unwrap().kind.as_str(), "PolicyDenied");
    assert!(!bed.0.root().join("a").exists());
    bed.judge(&json!({}), PermissionMode::BypassPermissions, "a");
    assert!(bed.0.call("patch_file", json!({ "target": "a" })).await.error.is_none());
    assert_eq!(std::fs::read_to_string(bed.0.root().join("a")).unwrap(), "patched");
}

#[test]
fn every_tool_declares_what_rules_need() {
    let known = catalogue();
    for tool in ToolSet::ALL.iter().flat_map(|set| set.tools()) {
        let spec = tool.spec();
        let name = &spec.name;
        let listed = known.find(name).unwrap();
        assert_eq!((listed.kind, listed.side_effect), (spec.kind, spec.side_effect), "{name}");
        // Without a registry, a tool is judged by its inputs, so a family needs at least one.
        assert_eq!(spec.kind.family.is_some(), !spec.kind.inputs.is_empty(), "{name}");
        let properties = spec.input_schema.get("properties").and_then(Value::as_object).unwrap();
        for input in spec.kind.inputs {
            assert!(properties.contains_key(*input), "{name} has no `{input}`");
        }
        // Every path parameter is listed.
        for (parameter, property) in properties {
            let is_path =
                parameter.ends_with("path") || matches!(parameter.as_str(), "paths" | "directory");
            let listed = spec.kind.inputs.contains(&parameter.as_str());
            assert!(!is_path || listed, "{name} does not list `{parameter}`: {property}");
        }
    }
    for tool in known.tools() {
        let twin = known.find(tool.rule_name());
        assert_eq!(twin.map(|it| it.name), Some(tool.rule_name()), "{}", tool.name);
        assert_eq!(twin.unwrap().kind.family, tool.kind.family, "{}", tool.name);
        assert_eq!(twin.unwrap().side_effect, tool.side_effect, "{}", tool.name);
        let names: Vec<_> = known
            .tools()
            .filter(|it| {
                it.kind.names_family
                    && it.kind.family == tool.kind.family
                    && it.kind.family.is_some()
            })
            .collect();
        assert_eq!(names.len(), usize::from(tool.kind.family.is_some()), "{}", tool.name);
        for alias in tool.aliases {
            assert_eq!(known.find(alias).map(|it| it.name), Some(tool.name));
        }
    }
}
