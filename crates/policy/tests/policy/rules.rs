//! What the engine guarantees about rules, layers, modes and conditions.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright_base::{Access, Annotations, PermissionMode, Risk, SideEffect, ToolKind};
use toolwright_policy::{
    Action::{self, Allow, Ask, Deny},
    Basis, Decision, Layer,
    LintKind::{Redundant, Shadowed, TooBroad, WithoutEffect},
    Origin, PolicyConfig, PolicyEngine, PolicyPlaces, PolicySources, Question,
};
use toolwright_tools::catalogue;

use crate::commands::{action, engine, engine_in_mode};

/// The kind of the built-in tool of that name.
pub(crate) fn kind(tool: &str) -> ToolKind {
    catalogue().find(tool).map(|it| it.kind).unwrap_or_default()
}

fn layered(layers: &[(Layer, Value)]) -> PolicyEngine {
    let layers = layers
        .iter()
        .map(|(layer, policy)| (*layer, PolicyConfig::from_json(policy, *layer).unwrap()))
        .collect();
    let places = PolicyPlaces::of_project("/repo");
    PolicyEngine::new(PolicySources {
        layers,
        places,
        tools: catalogue().into(),
        ..PolicySources::default()
    })
    .unwrap()
}

fn error(policy: &Value) -> String {
    let config = PolicyConfig::from_json(policy, Layer::User);
    let built = config.and_then(|it| {
        let places = PolicyPlaces::of_project("/repo");
        let layers = vec![(Layer::User, it)];
        PolicyEngine::new(PolicySources {
            layers,
            places,
            tools: catalogue().into(),
            ..PolicySources::default()
        })
    });
    built.err().unwrap().to_string()
}

#[test]
fn without_a_policy_reading_tools_run_and_others_ask() {
    let engine = engine(&json!({}));
    for tool in ["Read", "Glob", "Grep", "ls", "read_file", "file-reader", "git-status", "FileRead"]
    {
        assert_eq!(engine.evaluate(tool, &json!({ "path": "a" })).action, Allow, "{tool}");
    }
    for tool in ["Write", "Edit", "Bash", "shell", "WebFetch", "Agent", "TodoWrite", "mcp__a__b"] {
        assert_eq!(engine.evaluate(tool, &json!({ "path": "a" })).action, Ask, "{tool}");
    }
}

#[test]
fn a_rule_for_the_tool_overrides_a_rule_for_all() {
    let policy = json!({ "defaultAction": "ask", "rules": [
        { "tool": "*", "action": "deny" }, { "tool": "shell", "action": "allow" }
    ] });
    assert_eq!(action(&policy, "shell", &json!({})), Allow);
    assert_eq!(action(&policy, "other", &json!({})), Deny);
}

#[test]
fn a_project_cannot_allow_what_the_user_denies_for_all() {
    let denied_for_all = json!({ "rules": [{ "tool": "*", "action": "deny" }] });
    let allowed = json!({ "allow": ["Write"] });
    let question = json!({ "file_path": "/repo/a" });
    let engine =
        layered(&[(Layer::User, denied_for_all.clone()), (Layer::Project, allowed.clone())]);
    assert_eq!(engine.evaluate("Write", &question).action, Deny);
    let engine = layered(&[(Layer::Project, denied_for_all), (Layer::User, allowed)]);
    assert_eq!(engine.evaluate("Write", &question).action, Allow);
}

#[test]
fn deny_and_ask_rules_of_every_layer_apply() {
    let engine = layered(&[
        (Layer::Project, json!({ "deny": ["Bash(make:*)"], "ask": ["Bash(ls:*)"] })),
        (Layer::Session, json!({ "allow": ["Bash"] })),
    ]);
    let bash = |line: &str| engine.evaluate("Bash", &json!({ "command": line })).action;
    assert_eq!([bash("make"), bash("ls"), bash("id")], [Deny, Ask, Allow]);
}

#[test]
fn a_limit_on_reading_applies_to_every_tool() {
    let policy =
        json!({ "deny": ["Read(secrets/**)", "Read(.env)"], "allow": ["Edit", "Write", "Bash"] });
    let engine = engine(&policy);
    let secret =
        json!({ "file_path": "/repo/secrets/a", "path": "secrets/a", "paths": ["x", "secrets/a"] });
    for tool in ["Read", "Grep", "Glob", "ls", "read_many_files", "file-reader", "Edit", "Write"] {
        assert_eq!(engine.evaluate(tool, &secret).action, Deny, "{tool}");
    }
    assert_eq!(engine.evaluate("Bash", &json!({ "command": "cat secrets/a" })).action, Deny);
    assert!(engine.hides("Grep", &kind("Grep"), "/repo/secrets/a/b".as_ref()));
    assert!(engine.hides("Grep", &kind("Grep"), "/repo/sub/.env".as_ref()));
    assert!(!engine.hides("Grep", &kind("Grep"), "/repo/src/a".as_ref()));
    assert_eq!(
        engine.evaluate("Read", &json!({ "file_path": "/repo/secrets-not/a" })).action,
        Allow
    );
}

#[test]
fn rules_about_paths_hide_paths_from_walks() {
    let condition = json!({ "rules": [
        { "tool": "Grep", "action": "deny", "conditions": [{ "pathWithin": "secrets" }] }
    ], "ask": ["Read(private/**)"] });
    let engine = engine(&condition);
    assert!(engine.hides("Glob", &kind("Glob"), "/repo/private/a".as_ref()));
    assert!(engine.has_path_limits());
    assert!(engine.hides("Grep", &kind("Grep"), "/repo/secrets/a".as_ref()));
    // The condition means the same as the rule `Grep(secrets)`, which applies to every tool that reads.
    assert!(engine.hides("Glob", &kind("Glob"), "/repo/secrets/a".as_ref()));
    assert!(!engine.hides("Glob", &kind("Glob"), "/repo/a".as_ref()));
    assert!(!engine.hides("Grep", &kind("Grep"), "/repo/a".as_ref()));
}

#[test]
fn an_untrusted_policy_can_only_narrow() {
    let policy = json!({ "defaultAction": "allow", "allow": ["Bash"], "deny": ["Read(x)"], "rules": [
        { "tool": "a", "action": "allow" }, { "tool": "b", "action": "ask" }
    ] });
    let config = PolicyConfig::from_json(&policy, Layer::Project).unwrap().only_limits();
    let expected = json!({ "deny": ["Read(x)"], "rules": [{ "tool": "b", "action": "ask" }] });
    assert_eq!(serde_json::to_value(config).unwrap(), expected);
}

#[test]
fn patterns_of_paths_start_where_people_expect() {
    let edits = |pattern: &str, path: &str| {
        action(&json!({ "allow": [pattern] }), "Edit", &json!({ "file_path": path }))
    };
    for (pattern, path, expected) in [
        ("Edit(src/**)", "/repo/src/a/b.rs", Allow),
        ("Edit(/src/**)", "/repo/src/a/b.rs", Allow),
        ("Edit(./src/**)", "/repo/src/a/b.rs", Allow),
        ("Edit(src/**)", "/repo/src-evil/b.rs", Ask),
        ("Edit(src/**)", "/repo/src/../b.rs", Ask),
        ("Edit(src/**)", "/repo/other/src/b.rs", Ask),
        ("Edit(src/**)", "/elsewhere/src/b.rs", Ask),
        ("Edit(src/*)", "/repo/src/a.rs", Allow),
        ("Edit(src/*)", "/repo/src/a/b.rs", Ask),
        ("Edit(src)", "/repo/src/a/b.rs", Allow),
        ("Edit(*.md)", "/repo/docs/a.md", Allow),
        ("Edit(*.md)", "/repo/docs/a.mdx", Ask),
        ("Edit(//tmp/x/**)", "/tmp/x/y", Allow),
        ("Edit(//tmp/x/**)", "/repo/tmp/x/y", Ask),
        ("Edit(~/notes/**)", "/home/me/notes/a", Allow),
        ("Edit(~/notes/**)", "/repo/notes/a", Ask),
        ("Edit(src/{a,b}.rs)", "/repo/src/b.rs", Allow),
        ("Write(src/**)", "/repo/src/a.rs", Allow),
        ("Read(src/**)", "/repo/src/a.rs", Ask),
        ("Edit(**)", "/repo/.git/config", Ask),
        ("Edit(.git/config)", "/repo/.git/config", Allow),
        ("Edit", "/repo/.GIT/hooks/x", Ask),
        ("Edit", "/repo/.toolwright/policy.json", Ask),
        ("Edit", "/repo/.gitignore", Allow),
        ("Edit", "/repo/.bashrc", Ask),
    ] {
        assert_eq!(edits(pattern, path), expected, "{pattern} {path}");
    }
}

#[test]
fn hosts_are_compared_as_hosts() {
    let fetches = |policy: Value, url: &str| action(&policy, "WebFetch", &json!({ "url": url }));
    let allow = |pattern: &str, url: &str| {
        fetches(json!({ "allow": [format!("WebFetch(domain:{pattern})")] }), url)
    };
    for (pattern, url, expected) in [
        ("docs.rs", "https://docs.rs/serde", Allow),
        ("docs.rs", "HTTPS://DOCS.RS:443/", Allow),
        ("docs.rs", "https://docs.rs./", Allow),
        ("docs.rs", "https://evil-docs.rs/", Ask),
        ("docs.rs", "https://docs.rs.evil.com/", Ask),
        ("docs.rs", "https://docs.rs@evil.com/", Ask),
        ("docs.rs", "https://evil.com/docs.rs", Ask),
        ("docs.rs", "https://evil.com\\@docs.rs/", Ask),
        ("docs.rs", "https://a.docs.rs/", Ask),
        ("docs.rs", "ftp://docs.rs/", Ask),
        ("docs.rs", "https:docs.rs", Ask),
        ("*.docs.rs", "https://a.docs.rs/", Allow),
        ("*.docs.rs", "https://docs.rs/", Ask),
        ("*.docs.rs", "https://adocs.rs/", Ask),
        ("*", "https://x.y/", Allow),
    ] {
        assert_eq!(allow(pattern, url), expected, "{pattern} {url}");
    }
    let deny = json!({ "allow": ["WebFetch"], "deny": ["WebFetch(domain:evil.com)"] });
    assert_eq!(fetches(deny.clone(), "https://a.evil.com/"), Deny);
    assert_eq!(fetches(deny.clone(), "https://good.com/"), Allow);
    assert_eq!(fetches(deny, "https://[::1"), Ask);
}

#[test]
fn tools_of_servers_are_named_by_server() {
    for (rule, tool, expected) in [
        ("mcp__files", "mcp__files__read", Allow),
        ("mcp__files__*", "mcp__files__read", Allow),
        ("mcp__files__read", "mcp__files__read", Allow),
        ("mcp__files__read", "mcp__files__write", Ask),
        ("mcp__files", "mcp__files2__read", Ask),
        ("mcp__*", "mcp__x__y", Allow),
    ] {
        assert_eq!(
            action(&json!({ "allow": [rule] }), tool, &json!({})),
            expected,
            "{rule} {tool}"
        );
    }
}

#[test]
fn modes_decide_where_no_rule_does() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
    let policy =
        json!({ "deny": ["Bash(rm:*)"], "ask": ["Bash(git push:*)"], "allow": ["Bash(ls:*)"] });
    let edit = json!({ "file_path": "/repo/a" });
    let outside = json!({ "file_path": "/etc/a" });
    let protected = json!({ "file_path": "/repo/.git/config" });
    let run = |line: &str| json!({ "command": line });
    for (tool, params, expected) in [
        ("Read", &edit, [Allow, Allow, Allow, Allow, Allow]),
        ("Edit", &edit, [Ask, Allow, Deny, Deny, Allow]),
        ("Edit", &outside, [Ask, Ask, Deny, Deny, Allow]),
        ("Edit", &protected, [Ask, Ask, Deny, Deny, Ask]),
        ("Bash", &run("ls"), [Allow, Allow, Ask, Allow, Allow]),
        ("Bash", &run("ls > a"), [Ask, Allow, Ask, Deny, Allow]),
        ("Bash", &run("make"), [Ask, Ask, Ask, Deny, Allow]),
        ("Bash", &run("git push"), [Ask, Ask, Ask, Deny, Ask]),
        ("Bash", &run("rm x"), [Deny, Deny, Deny, Deny, Deny]),
        ("Bash", &run("$x"), [Ask, Ask, Ask, Deny, Ask]),
        ("ExitPlanMode", &edit, [Ask, Ask, Ask, Deny, Ask]),
        ("Agent", &edit, [Ask, Ask, Ask, Deny, Allow]),
    ] {
        let actual = [Default, AcceptEdits, Plan, DontAsk, BypassPermissions]
            .map(|mode| engine_in_mode(&policy, mode).evaluate(tool, params).action);
        assert_eq!(actual, expected, "{tool} {params}");
    }
}

#[test]
fn conditions_compare_parameters_and_what_a_call_touches() {
    let rule = |action: &str, condition: Value| {
        json!({ "defaultAction": "ask", "rules": [
            { "tool": "t", "action": action, "conditions": [condition.clone()] },
            { "tool": "Write", "action": action, "conditions": [condition.clone()] },
            { "tool": "Bash", "action": action, "conditions": [condition.clone()] },
            { "tool": "WebFetch", "action": action, "conditions": [condition] }
        ] })
    };
    let param = |operator: &str, value: Value| json!({ "param": "p", "operator": operator, "value": value });
    for (condition, tool, params, allow, deny) in [
        (param("equals", json!("a")), "t", json!({ "p": "a" }), Allow, Deny),
        (param("equals", json!("5")), "t", json!({ "p": 5 }), Allow, Deny),
        (param("equals", json!("true")), "t", json!({ "p": true }), Allow, Deny),
        (param("equals", json!(["x", "a"])), "t", json!({ "p": "a" }), Allow, Deny),
        (param("equals", json!("a")), "t", json!({}), Ask, Ask),
        (param("contains", json!("b")), "t", json!({ "p": "abc" }), Allow, Deny),
        (param("startsWith", json!("b")), "t", json!({ "p": "abc" }), Ask, Ask),
        (param("matches", json!("^a.c$")), "t", json!({ "p": "abc" }), Allow, Deny),
        (param("equals", json!("a")), "t", json!({ "p": ["a", "b"] }), Ask, Deny),
        (
            json!({ "pathWithin": "src" }),
            "Write",
            json!({ "file_path": "/repo/src/a" }),
            Allow,
            Deny,
        ),
        (json!({ "pathWithin": "src" }), "Write", json!({ "file_path": "/repo/srcs/a" }), Ask, Ask),
        (
            json!({ "pathWithin": ["/x", "~/notes"] }),
            "Write",
            json!({ "file_path": "/home/me/notes/a" }),
            Allow,
            Deny,
        ),
        (
            json!({ "pathGlob": "**/*.rs" }),
            "Write",
            json!({ "file_path": "/repo/a/b.rs" }),
            Allow,
            Deny,
        ),
        (
            json!({ "commandPrefix": "git status" }),
            "Bash",
            json!({ "command": "git status -s" }),
            Allow,
            Deny,
        ),
        (
            json!({ "commandPrefix": "git status" }),
            "Bash",
            json!({ "command": "git status; id" }),
            Ask,
            Deny,
        ),
        (
            json!({ "commandPrefix": "git status" }),
            "Bash",
            json!({ "command": "git status > x" }),
            Ask,
            Deny,
        ),
        (
            json!({ "commandPrefix": "git status" }),
            "Bash",
            json!({ "command": "git $x" }),
            Ask,
            Ask,
        ),
        (
            json!({ "urlHost": "docs.rs" }),
            "WebFetch",
            json!({ "url": "https://docs.rs/" }),
            Allow,
            Deny,
        ),
        (json!({ "riskAtLeast": "high" }), "Bash", json!({ "command": "ls" }), Allow, Deny),
        (json!({ "riskAtLeast": "high" }), "Write", json!({ "file_path": "/repo/a" }), Ask, Ask),
        (
            json!({ "param": "command", "operator": "startsWith", "value": "git " }),
            "Bash",
            json!({ "command": "git status; id" }),
            Ask,
            Deny,
        ),
    ] {
        let actual = [
            action(&rule("allow", condition.clone()), tool, &params),
            action(&rule("deny", condition.clone()), tool, &params),
        ];
        assert_eq!(actual, [allow, deny], "{condition} {tool} {params}");
    }
}

#[test]
fn a_bad_rule_is_named_when_the_policy_is_loaded() {
    for (policy, expected) in [
        (
            json!({ "allow": ["Bash(ls:*)", "Bash("] }),
            "the user's policy, allow[1] (`Bash(`): the closing `)` is missing",
        ),
        (
            json!({ "deny": ["Grok(x)"] }),
            "the user's policy, deny[0] (`Grok(x)`): `Grok` takes no pattern; write `Grok` alone",
        ),
        (json!({ "allow": ["WebFetch(docs.rs)"] }), "write `domain:docs.rs`"),
        (json!({ "allow": ["Edit(../x)"] }), "climbs with `..`"),
        (json!({ "allow": ["Bash(ls; rm:*)"] }), "every command is judged on its own"),
        (json!({ "allow": ["Bash(ls * | wc)"] }), "mixes `*` with operators"),
        (
            json!({ "rules": [{ "tool": "a", "action": "allow" }, { "tool": "b", "action": "maybe" }] }),
            "rules[1] (`b`): unknown variant `maybe`",
        ),
        (
            json!({ "rules": [{ "tool": "b", "action": "deny", "conditions": [{ "param": "p", "operator": "like", "value": "x" }] }] }),
            "unknown variant `like`",
        ),
        (
            json!({ "rules": [{ "tool": "b", "action": "deny", "conditions": [{ "param": "p", "operator": "matches", "value": "(" }] }] }),
            "is not a regular expression",
        ),
        (
            json!({ "rules": [{ "tool": "b", "action": "deny", "conditions": [{ "param": "p", "operator": "matches", "value": "(a{1000}){1000}" }] }] }),
            "is not a regular expression",
        ),
        (
            json!({ "rules": [{ "tool": "b", "action": "deny", "conditions": [{ "param": "p" }] }] }),
            "a condition is `param`, `operator` and `value`",
        ),
        (json!({ "rule": [] }), "unknown field `rule`"),
        (
            json!({ "allow": ["Bash", 5] }),
            "the user's policy, allow[1] (`5`): a rule of this list has to be text",
        ),
        (json!({ "deny": "Bash" }), "expected a sequence"),
        (
            json!({ "rules": [{ "tool": "b", "action": "deny", "conditions": [{ "param": "p", "operator": "equals", "value": 5 }] }] }),
            "rules[0] (`b`): a value has to be text, or a list of texts",
        ),
        (json!([]), "it has to be an object"),
    ] {
        let error = error(&policy);
        assert!(error.contains(expected), "{policy}: {error}");
    }
}

#[test]
fn the_narrowest_rule_allows_the_call_and_not_its_neighbour() {
    let asked = engine(&json!({}));
    for (tool, access, neighbour) in [
        ("Bash", Access::Run("git push origin".into()), Access::Run("git push".into())),
        (
            "Bash",
            Access::Run("ls *.rs | wc -l > out".into()),
            Access::Run("ls *.md | wc -l > out".into()),
        ),
        (
            "shell",
            Access::Run("find . -name \\*.rs".into()),
            Access::Run("find . -name \\*.md".into()),
        ),
        ("Bash", Access::Run("export A=1".into()), Access::Run("export A=2".into())),
        ("Bash", Access::Run("case x in x) ls;; esac".into()), Access::Run("ls".into())),
        ("Bash", Access::Run("git status:*".into()), Access::Run("git status".into())),
        ("Bash", Access::Run("cp a .git/hooks/x".into()), Access::Run("cp a .git/hooks/y".into())),
        ("Bash", Access::Run("cd $d && tee x".into()), Access::Run("cd $d && tee y".into())),
        ("Bash", Access::Run("echo x > .git/y".into()), Access::Run("echo x > .git/z".into())),
        (
            "Edit",
            Access::Write("/repo/src/a[1]*.rs".into()),
            Access::Write("/repo/src/a1.rs".into()),
        ),
        ("Write", Access::Write("/repo/x".into()), Access::Write("/repo/sub/x".into())),
        ("Write", Access::Write("/tmp/x".into()), Access::Write("/repo/tmp/x".into())),
        (
            "Write",
            Access::Write("/repo/.git/config".into()),
            Access::Write("/repo/.git/hooks/x".into()),
        ),
        (
            "WebFetch",
            Access::Connect("https://docs.rs/a".into()),
            Access::Connect("https://evil.rs/a".into()),
        ),
    ] {
        let accesses = [access];
        let neighbours = [neighbour];
        let question = Question {
            tool,
            origin: Origin::Builtin,
            side_effect: SideEffect::Network,
            kind: &kind(tool),
            annotations: &Annotations::default(),
            input: &json!({}),
            accesses: &accesses,
            directory: "/repo".as_ref(),
            follow_links: None,
        };
        let rules = asked.narrowest_rules(&question).unwrap();
        let config = PolicyConfig { allow: rules.clone(), ..PolicyConfig::default() };
        let granted = asked.with_layer(Layer::Session, config).unwrap();
        assert_eq!(asked.decide(&question).action, Ask, "{rules:?}");
        assert_eq!(granted.decide(&question).action, Allow, "{rules:?}");
        let other = Question { accesses: &neighbours, ..question };
        assert_eq!(granted.decide(&other).action, Ask, "{rules:?}");
    }
}

#[test]
fn a_verdict_says_which_rule_decides_and_why() {
    let engine = engine(&json!({ "allow": ["Bash(git:*)"], "deny": ["Bash(git push:*)"] }));
    let verdict = engine.evaluate("Bash", &json!({ "command": "git status && git push" }));
    assert_eq!(
        verdict.reason,
        "`git push` is decided by the deny rule `Bash(git push:*)` (deny[0] of the host's options)"
    );
    let parts: Vec<_> = verdict.parts.iter().map(|it| (it.part.as_str(), it.action)).collect();
    assert_eq!(parts, [("git status", Allow), ("git push", Deny)]);
    assert_eq!(verdict.rule.unwrap().place.as_ref(), "deny[0]");
}

#[test]
fn a_verdict_says_what_it_is_based_on() {
    let policy = json!({ "allow": ["Bash(ls:*)", "Write"], "ask": ["Bash(git push:*)"] });
    let engine = engine(&policy);
    let bash = |line: &str| engine.evaluate("Bash", &json!({ "command": line })).basis;
    assert_eq!(
        [bash("ls"), bash("make"), bash("git push"), bash("make; git $x"), bash("make; git push")],
        [Basis::Rule, Basis::Default, Basis::Rule, Basis::PossibleRule, Basis::Rule]
    );
    let hook = json!({ "file_path": "/repo/.git/hooks/x" });
    assert_eq!(engine.evaluate("Write", &hook).basis, Basis::ProtectedPlace);
    let plan = engine_in_mode(&policy, PermissionMode::Plan);
    assert_eq!(plan.evaluate("Write", &json!({ "file_path": "/repo/a" })).basis, Basis::Mode);
}

#[test]
fn reasons_make_invisible_characters_visible() {
    let line = "make \u{1b}[2K\u{202e}x\nls";
    let verdict = engine(&json!({})).evaluate("Bash", &json!({ "command": line }));
    let shown = verdict.parts.first().unwrap().part.clone();
    assert_eq!(shown, "make \\u{1b}[2K\\u{202e}x ls");
}

#[test]
fn risk_comes_from_the_tool_the_rules_or_the_hints_of_the_server() {
    let engine = engine(&json!({ "rules": [{ "tool": "odd", "action": "ask", "risk": "high" }] }));
    for (tool, expected) in [
        ("read_file", Risk::Low),
        ("ls", Risk::Low),
        ("glob", Risk::Low),
        ("write_file", Risk::Medium),
        ("edit_file", Risk::Medium),
        ("shell", Risk::High),
        ("unknown", Risk::Medium),
        ("odd", Risk::High),
        ("Agent", Risk::High),
        ("mcp__a__b", Risk::High),
    ] {
        assert_eq!(engine.risk_level(tool), expected, "{tool}");
    }
    let hints = |read_only_hint, destructive_hint| {
        let annotations =
            Annotations { read_only_hint, destructive_hint, ..Annotations::default() };
        let question = Question {
            tool: "mcp__a__b",
            origin: Origin::Mcp,
            side_effect: SideEffect::Network,
            kind: &kind("mcp__a__b"),
            annotations: &annotations,
            input: &json!({}),
            accesses: &[],
            directory: "/repo".as_ref(),
            follow_links: None,
        };
        engine.decide(&question).risk
    };
    assert_eq!(
        [
            hints(Some(true), None),
            hints(None, Some(true)),
            hints(None, None),
            hints(Some(true), Some(true))
        ],
        [Risk::Low, Risk::Critical, Risk::High, Risk::Critical]
    );
}

#[test]
fn the_linter_finds_rules_that_do_not_do_what_they_seem_to() {
    let engine = engine(&json!({
        "allow": [
            "Bash(env:*)", "Bash(git push --force)", "Bash(npm test:*)", "Bash(npm test -- x)", "Bash",
            "Edit(//**)", "WebFetch(domain:*)", "mcp__*", "Bash(python3:*)", "Bash(find:*)", "Read(a)"
        ],
        "deny": ["Bash(git push:*)", "Read(a)"]
    }));
    let found: Vec<_> =
        engine.lint().into_iter().map(|it| (it.rule.place.to_string(), it.kind)).collect();
    let expected = [
        (0, TooBroad),
        (0, Redundant),
        (1, Shadowed),
        (2, Redundant),
        (3, Redundant),
        (4, TooBroad),
        (5, TooBroad),
        (6, TooBroad),
        (7, TooBroad),
        (8, TooBroad),
        (8, Redundant),
        (9, TooBroad),
        (9, Redundant),
        (10, Shadowed),
    ];
    assert_eq!(found, expected.map(|(at, kind)| (format!("allow[{at}]"), kind)));
}

#[test]
fn the_linter_distinguishes_rules_without_effect_from_broad_ones() {
    for (rule, expected) in [
        ("Bash(time:*)", Some(WithoutEffect)),
        ("Bash(watch:*)", Some(WithoutEffect)),
        ("Bash(zsh:*)", Some(WithoutEffect)),
        ("Bash(/bin/zsh -c:*)", Some(WithoutEffect)),
        ("Bash(ssh host *)", Some(WithoutEffect)),
        ("Bash(export:*)", Some(WithoutEffect)),
        ("Bash(ssh host uptime)", None),
        ("Bash(env *)", Some(TooBroad)),
        ("Bash(/usr/bin/env:*)", Some(TooBroad)),
        ("Bash(python *)", Some(TooBroad)),
        ("Bash(python -c:*)", Some(TooBroad)),
        ("Bash(time -p:*)", Some(TooBroad)),
        ("Bash(tclsh:*)", Some(TooBroad)),
        ("Bash(psql:*)", Some(TooBroad)),
        ("Bash(pnpm:*)", Some(TooBroad)),
        ("Bash(cargo:*)", Some(TooBroad)),
        ("Bash(git -c:*)", Some(TooBroad)),
        ("Bash(git *)", Some(TooBroad)),
        ("Bash(g* status)", Some(TooBroad)),
        ("Bash(git status *)", None),
        ("Bash(git * main)", None),
        ("Bash(set:*)", None),
        ("Bash(ls *)", None),
    ] {
        let found = engine(&json!({ "allow": [rule] })).lint();
        assert_eq!(found.first().map(|it| it.kind), expected, "{rule}: {found:?}");
        assert!(found.len() < 2, "{found:?}");
        if expected == Some(WithoutEffect) {
            let command = rule.trim_start_matches("Bash(").trim_end_matches([':', '*', ')', ' ']);
            let line = json!({ "command": format!("{command} ls") });
            assert_eq!(action(&json!({ "allow": [rule] }), "Bash", &line), Ask, "{rule}");
        }
    }
}

#[test]
fn the_listed_ways_to_allow_a_call_work() {
    use PermissionMode::{AcceptEdits, Default, Plan};
    let run = |line: &str| Access::Run(line.into());
    for (policy, mode, tool, access, rule_helps, says) in [
        (json!({}), Default, "Bash", run("make"), true, "`Bash(make)`"),
        (
            json!({ "ask": ["Bash(make:*)"] }),
            Default,
            "Bash",
            run("make"),
            false,
            "ask rule `Bash(make:*)`",
        ),
        (
            json!({ "ask": ["Bash(git push:*)"], "allow": ["Bash"] }),
            Default,
            "Bash",
            run("git $x"),
            false,
            "changing the ask rule",
        ),
        (
            json!({ "deny": ["Read(x)"] }),
            Default,
            "Bash",
            run("cat $x"),
            false,
            "changing the deny rule",
        ),
        (
            json!({}),
            AcceptEdits,
            "Write",
            Access::Write("/repo/.git/x".into()),
            true,
            "`Edit(./.git/x)`",
        ),
        (
            json!({ "allow": ["Bash"] }),
            Default,
            "Bash",
            run("rm -r .git"),
            true,
            "`Bash(rm -r .git)`",
        ),
        (
            json!({ "allow": ["Bash"] }),
            Plan,
            "Bash",
            run("make"),
            false,
            "another `permissionMode`",
        ),
        (json!({}), Default, "Bash", run("make\u{a0}"), false, "bypassPermissions"),
    ] {
        let engine = engine_in_mode(&policy, mode);
        let accesses = [access];
        let question = Question {
            tool,
            origin: Origin::Builtin,
            side_effect: SideEffect::Network,
            kind: &kind(tool),
            annotations: &Annotations::default(),
            input: &json!({}),
            accesses: &accesses,
            directory: "/repo".as_ref(),
            follow_links: None,
        };
        let asking = match Decision::of(&engine, &question) {
            Decision::Ask(asking) => Some(asking),
            Decision::Allow | Decision::Deny(_) => None,
        };
        let asking = asking.unwrap();
        assert!(asking.ways_to_allow.contains(says), "{}", asking.ways_to_allow);
        assert!(asking.ways_to_allow.contains("listening"), "{}", asking.ways_to_allow);
        assert_eq!(!asking.suggested_rules.is_empty(), rule_helps, "{policy} {accesses:?}");
        let says_rule = asking.ways_to_allow.contains("by a rule such as");
        assert_eq!(says_rule, rule_helps, "{}", asking.ways_to_allow);
        // A suggested way allows the call, and a way that is not suggested does not.
        let narrowest = engine.narrowest_rules(&question).unwrap_or_default();
        let config = PolicyConfig { allow: narrowest, ..PolicyConfig::default() };
        let granted = engine.with_layer(Layer::Session, config).unwrap();
        assert_eq!(granted.decide(&question).action == Allow, rule_helps, "{policy} {accesses:?}");
        let bypass = engine.with_mode(PermissionMode::BypassPermissions).unwrap();
        let bypass_helps = bypass.decide(&question).action == Allow;
        assert_eq!(
            asking.ways_to_allow.contains("bypassPermissions") || mode == Plan,
            bypass_helps,
            "{}",
            asking.ways_to_allow
        );
    }
}

#[test]
fn the_schema_accepts_what_the_engine_accepts() {
    let schema = serde_json::to_value(PolicyConfig::schema()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let good = json!({ "defaultAction": "ask", "allow": ["Read"], "rules": [
        { "tool": "a", "action": "deny", "conditions": [{ "param": "p", "operator": "equals", "value": ["x"] }] },
        { "tool": "a", "action": "deny", "risk": "high", "message": "no", "conditions": [{ "pathWithin": "src" }] }
    ] });
    assert!(schema.is_valid(&good));
    assert!(!schema.is_valid(&json!({ "rules": [{ "tool": "a", "action": "maybe" }] })));
    assert!(!schema.is_valid(&json!({ "rulez": [] })));
}

#[test]
fn links_are_followed_if_the_caller_provides_it() {
    let engine = engine(&json!({ "allow": ["Bash(cat:*)"], "deny": ["Read(secret)"] }));
    let accesses = [Access::Run("cat link".into())];
    let follow = |path: &std::path::Path| {
        Some(if path.ends_with("link") { "/repo/secret".into() } else { path.to_owned() })
    };
    let question = Question {
        tool: "Bash",
        origin: Origin::Builtin,
        side_effect: SideEffect::Network,
        kind: &kind("Bash"),
        annotations: &Annotations::default(),
        input: &json!({}),
        accesses: &accesses,
        directory: "/repo".as_ref(),
        follow_links: Some(&follow),
    };
    assert_eq!(engine.decide(&question).action, Deny);
    assert_eq!(engine.decide(&Question { follow_links: None, ..question }).action, Allow);
}

#[cfg(unix)]
#[test]
fn paths_of_commands_are_resolved_like_the_system_does() {
    let dir = tempfile::TempDir::new().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("data/sub")).unwrap();
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(root.join("data/secret"), "").unwrap();
    std::os::unix::fs::symlink("data/sub", root.join("link")).unwrap();
    std::os::unix::fs::symlink("../.git/hooks/post-commit", root.join("src/log")).unwrap();
    let policy = json!({
        "allow": ["Bash(cat:*)", "Bash(echo:*)", "Bash(cd:*)", "Edit(src/**)"],
        "deny": ["Read(data/secret)"]
    });
    let layers = vec![(Layer::Options, PolicyConfig::from_json(&policy, Layer::Options).unwrap())];
    let places = PolicyPlaces::of_project(&root);
    let engine = PolicyEngine::new(PolicySources {
        layers,
        places,
        tools: catalogue().into(),
        ..PolicySources::default()
    })
    .unwrap();
    for (line, expected) in [
        ("cat data/secret", Deny),
        ("cat link/../secret", Deny),
        ("cat link/../none", Allow),
        ("cat none/../data/secret", Ask),
        ("cd link && cat ../secret", Ask),
        ("cd link/.. && cat secret", Ask),
        ("echo x > src/new", Allow),
        ("echo x > src/log", Ask),
    ] {
        let accesses = [Access::Run(line.into())];
        let verdict = engine.decide(&Question {
            tool: "Bash",
            origin: Origin::Builtin,
            side_effect: SideEffect::Network,
            kind: &kind("Bash"),
            annotations: &Annotations::default(),
            input: &json!({}),
            accesses: &accesses,
            directory: &root,
            follow_links: Some(&toolwright_files::real_place),
        });
        assert_eq!(verdict.action, expected, "{line}: {verdict:#?}");
    }
}

#[test]
fn a_condition_on_a_path_compares_the_place_it_leads_to() {
    let rule = |action: &str, operator: &str, value: &str| {
        json!({ "defaultAction": "ask", "rules": [
            { "tool": "Write", "action": action, "conditions": [{ "param": "file_path", "operator": operator, "value": value }] }
        ] })
    };
    let write = |policy: &Value, path: &str| action(policy, "Write", &json!({ "file_path": path }));
    for (value, path, expected) in [
        ("/repo/src/", "/repo/src/a", Allow),
        ("/repo/src/", "/repo/src/../outside.txt", Ask),
        ("src/", "src/a", Allow),
        ("src/", "src/../outside.txt", Ask),
        ("./src/", "./src/a", Allow),
        ("./src/", "src/a", Ask),
    ] {
        assert_eq!(write(&rule("allow", "startsWith", value), path), expected, "{value} {path}");
    }
    for (value, path) in [
        ("/repo/secret", "/repo/./secret"),
        ("/repo/secret", "secret"),
        ("secret", "/repo/sub/../secret"),
    ] {
        assert_eq!(write(&rule("deny", "equals", value), path), Deny, "{value} {path}");
    }
    // For a host's tool, `file_path` may mean anything.
    let accesses = [Access::Write("/repo/src/a".into())];
    let question = Question {
        tool: "Write",
        origin: Origin::Host,
        side_effect: SideEffect::Mutating,
        kind: &kind("Write"),
        annotations: &Annotations::default(),
        input: &json!({ "file_path": "x" }),
        accesses: &accesses,
        directory: "/repo".as_ref(),
        follow_links: None,
    };
    let engine = engine(&rule("deny", "equals", "src/a"));
    assert_eq!(engine.decide(&question).action, Ask);
}

#[test]
fn a_hosts_tool_with_a_built_in_name_is_not_the_built_in_tool() {
    let engine = engine(&json!({ "allow": ["Edit(src/**)"] }));
    let accesses = [Access::Write("/repo/src/a".into())];
    let question = Question {
        tool: "Read",
        origin: Origin::Host,
        side_effect: SideEffect::None,
        kind: &kind("Read"),
        annotations: &Annotations::default(),
        input: &json!({}),
        accesses: &accesses,
        directory: "/repo".as_ref(),
        follow_links: None,
    };
    assert_eq!(engine.decide(&question).action, Ask);
}

fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![Just(Allow), Just(Ask), Just(Deny)]
}

fn any_tool() -> impl Strategy<Value = String> {
    prop_oneof![
        "[abc_-]{1,4}",
        prop::sample::select(vec!["Bash", "shell", "Read", "Write", "WebFetch"])
            .prop_map(str::to_owned),
    ]
}

fn any_rule() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any_tool(),
        Just("*".to_owned()),
        prop::sample::select(vec![
            "Bash(git:*)",
            "Bash(git status:*)",
            "Bash(ls)",
            "Bash(rm:*)",
            "Edit(src/**)",
            "Read(src/a)",
            "WebFetch(domain:docs.rs)",
            "Bash(git * x)",
        ])
        .prop_map(str::to_owned),
    ];
    let condition = prop::option::of(prop::sample::select(vec![
        json!({ "param": "command", "operator": "contains", "value": "git" }),
        json!({ "pathWithin": "src" }),
        json!({ "commandPrefix": "git" }),
        json!({ "riskAtLeast": "medium" }),
    ]));
    (text, any_action(), condition).prop_map(|(tool, action, condition)| {
        let conditions: Vec<Value> = condition.into_iter().collect();
        json!({ "tool": tool, "action": action, "conditions": conditions })
    })
}

fn any_call() -> impl Strategy<Value = (String, Value)> {
    let params = prop::sample::select(vec![
        json!({ "command": "git status", "file_path": "src/a", "url": "https://docs.rs/x" }),
        json!({ "command": "git status; rm x", "file_path": "b", "url": "https://evil.com/x" }),
        json!({ "command": "ls > src/a", "file_path": ".git/config", "url": "odd" }),
        json!({ "command": "$x", "file_path": "/etc/passwd" }),
        json!({ "command": "git $x", "file_path": "src/b" }),
    ]);
    (any_tool(), params)
}

fn with_rules(rules: &[Value], default: Option<Action>) -> Value {
    json!({ "defaultAction": default.unwrap_or(Ask), "rules": rules })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // Seed property 33.
    #[test]
    fn a_single_rule_decides_or_else_the_default(tool in "[abc]{1,3}", other in "[abc]{1,3}", rule in any_action(), default in any_action()) {
        let policy = with_rules(&[json!({ "tool": tool, "action": rule })], Some(default));
        let expected = if tool == other { rule } else { default };
        prop_assert_eq!(action(&policy, &other, &json!({})), expected);
    }

    // Seed property 34.
    #[test]
    fn the_rule_for_the_tool_overrides_the_general_one(tool in "[abc_-]{1,20}", own in any_action(), general in any_action()) {
        let own = json!({ "tool": tool, "action": own });
        let general = json!({ "tool": "*", "action": general });
        for rules in [[own.clone(), general.clone()], [general, own.clone()]] {
            let expected: Action = serde_json::from_value(own.get("action").unwrap().clone()).unwrap();
            prop_assert_eq!(action(&with_rules(&rules, None), &tool, &json!({})), expected);
        }
    }

    // Seed property 35.
    #[test]
    fn a_rule_applies_only_when_all_conditions_hold(value in "[ab]{0,3}", equals in "[ab]{0,3}", contains in "[ab]{0,2}", starts in "[ab]{0,2}") {
        let policy = with_rules(&[json!({ "tool": "t", "action": "deny", "conditions": [
            { "param": "p", "operator": "equals", "value": [equals, "b"] },
            { "param": "p", "operator": "contains", "value": contains },
            { "param": "p", "operator": "startsWith", "value": starts },
            { "param": "p", "operator": "matches", "value": format!("^{}", starts) }
        ] })], None);
        let holds = (value == equals || value == "b") && value.contains(&contains) && value.starts_with(&starts);
        prop_assert_eq!(action(&policy, "t", &json!({ "p": value })), if holds { Deny } else { Ask });
    }

    // Seed property 36.
    #[test]
    fn every_tool_has_a_risk_of_three_levels(tool in any_tool(), rules in prop::collection::vec(any_rule(), 0..4)) {
        let risk = engine(&with_rules(&rules, None)).risk_level(&tool);
        prop_assert!(matches!(risk, Risk::Low | Risk::Medium | Risk::High));
    }

    #[test]
    fn a_further_deny_rule_never_widens(rules in prop::collection::vec(any_rule(), 0..6), mut deny in any_rule(), call in any_call(), default in any_action()) {
        let before = action(&with_rules(&rules, Some(default)), &call.0, &call.1);
        deny.as_object_mut().unwrap().insert("action".to_owned(), json!("deny"));
        let mut more = rules;
        more.push(deny);
        let after = action(&with_rules(&more, Some(default)), &call.0, &call.1);
        prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    #[test]
    fn the_order_of_rules_does_not_matter((rules, shuffled) in prop::collection::vec(any_rule(), 0..7).prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())), call in any_call()) {
        prop_assert_eq!(
            action(&with_rules(&rules, None), &call.0, &call.1),
            action(&with_rules(&shuffled, None), &call.0, &call.1)
        );
    }

    #[test]
    fn every_text_is_analysed(line in "(\\PC|[ \\n$(){}'\"`;&|<>\\\\*?~#!=-]){0,60}") {
        let first = toolwright_shell::analyse(&line, Some("/home/me"));
        prop_assert_eq!(first, toolwright_shell::analyse(&line, Some("/home/me")));
    }
}
