//! Names, replacements and change signals.

use serde_json::{Value, json};
use toolwright_base::{SideEffect, ToolSpec};

use super::*;
use crate::tool::{Prepared, ToolContext};

struct StubTool {
    spec: ToolSpec,
    aliases: &'static [&'static str],
}

impl DynTool for StubTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn prepare(
        self: Arc<Self>,
        _input: Value,
        _cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        Err(ToolError::cancelled())
    }
}

fn named(name: &str, aliases: &'static [&'static str]) -> Arc<dyn DynTool> {
    let spec = ToolSpec {
        name: name.to_owned(),
        title: name.to_owned(),
        description: String::new(),
        input_schema: json!({ "type": "object" }),
        output: None,
        side_effect: SideEffect::None,
        kind: toolwright_base::ToolKind::PLAIN,
        annotations: toolwright_base::Annotations::default(),
        always_load: None,
    };
    Arc::new(StubTool { spec, aliases })
}

fn registry_of(names: &[(&str, ToolSource)]) -> Registry {
    let registry = Registry::default();
    for (name, source) in names {
        registry.register(named(name, &[]), source.clone()).unwrap();
    }
    registry
}

fn names(registry: &Registry) -> Vec<String> {
    registry.snapshot().entries().map(|it| it.tool.spec().name.clone()).collect()
}

#[test]
fn unregistering_by_prefix_removes_exactly_the_mcp_tools_with_that_prefix() {
    let mcp = || ToolSource::Mcp { server: "a".to_owned() };
    let all = [
        ("MCP__a__x", mcp()),
        ("mcp__A__y", mcp()),
        ("mcp__a", mcp()),
        ("mcp__a__x", mcp()),
        ("mcp__a__z", ToolSource::Host),
        ("mcp__ab__x", mcp()),
        ("mcp_a__x", mcp()),
        ("mcp-a", mcp()),
        ("z", mcp()),
    ];
    for prefix in ["mcp__a", "mcp__a__", "MCP__", "mcp__A__y", "", "zz", "m", "mcp-"] {
        let registry = registry_of(&all);
        let mut removed = registry.unregister_mcp(prefix);
        let mut expected: Vec<String> = all
            .iter()
            .filter(|(name, source)| *source != ToolSource::Host && name.starts_with(prefix))
            .map(|(name, _)| (*name).to_owned())
            .collect();
        removed.sort();
        expected.sort();
        assert_eq!(removed, expected, "{prefix}");
        assert_eq!(names(&registry).len(), all.len() - removed.len(), "{prefix}");
    }
}

#[test]
fn plugin_tools_are_replaced_together_without_affecting_other_tools() {
    let registry = registry_of(&[("a", ToolSource::Host)]);
    let plugin = |name| (named(name, &[]), "p".to_owned());
    let kept = plugin("b");
    assert_eq!(registry.replace_plugins(vec![kept.clone(), plugin("c")]), []);
    let id = registry.snapshot().find("b").unwrap().id;
    let refused = registry.replace_plugins(vec![plugin("a"), kept, plugin("d"), plugin("d")]);
    let other = ToolSource::Plugin { plugin: "p".to_owned() };
    assert_eq!(refused, [(0, ToolSource::Host), (3, other)]);
    assert_eq!(names(&registry), ["a", "b", "d"]);
    assert_eq!(registry.snapshot().find("b").unwrap().id, id);
    registry.replace_plugins(Vec::new());
    assert_eq!(names(&registry), ["a"]);
}

#[test]
fn an_alias_is_found_while_its_tool_is_registered() {
    let registry = Registry::default();
    registry.register(named("Read", &["FileRead"]), ToolSource::Builtin("claude")).unwrap();
    assert!(registry.snapshot().find("FileRead").is_some());
    registry.register(named("Read", &[]), ToolSource::Host).unwrap();
    assert!(registry.snapshot().find("FileRead").is_none());
    registry.register(named("Read", &["FileRead"]), ToolSource::Builtin("claude")).unwrap();
    assert_eq!(registry.unregister("FileRead").as_deref(), Some("Read"));
    assert!(registry.snapshot().find("FileRead").is_none());
    assert_eq!(registry.unregister("FileRead"), None);
}

#[test]
fn each_change_is_signalled_once_and_a_no_op_is_not() {
    let registry = Registry::default();
    let mut changes = registry.changes();
    let mut signalled = || {
        let is_signalled = changes.has_changed().unwrap();
        changes.mark_unchanged();
        is_signalled
    };
    assert!(!signalled());
    registry.register(named("a", &[]), ToolSource::Host).unwrap();
    assert!(signalled());
    registry.register(named("a", &[]), ToolSource::Host).unwrap();
    assert!(signalled(), "another tool of the same name");
    registry.disable(&["a".to_owned()]).unwrap();
    assert!(signalled());
    registry.disable(&["a".to_owned()]).unwrap();
    assert!(!signalled());
    registry.enable(&["a".to_owned()]).unwrap();
    assert!(signalled());
    registry.enable(&["a".to_owned()]).unwrap();
    assert!(!signalled());
    let plugin = named("p", &[]);
    let load = || registry.replace_plugins(vec![(Arc::clone(&plugin), "file".to_owned())]);
    load();
    assert!(signalled());
    load();
    assert!(!signalled(), "the same plugins again");
    registry.replace_plugins(Vec::new());
    assert!(signalled());
    assert_eq!(registry.unregister("b"), None);
    assert!(registry.unregister_mcp("mcp__").is_empty());
    assert!(!signalled());
    registry.unregister("a").unwrap();
    assert!(signalled());
}
