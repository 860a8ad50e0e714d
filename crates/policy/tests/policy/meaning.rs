//! What rules mean: the same as text and as objects, for the named tool, for the same tool in other tool sets,
//! and for its family.

use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_base::{Access, Annotations, PermissionMode, SideEffect, ToolKind};
use toolwright_policy::{
    Action::{Allow, Ask, Deny},
    Layer,
    LintKind::{self, Shadowed, TooBroad, UnknownTool, WithoutEffect},
    Origin, PolicyConfig, PolicyEngine, PolicyPlaces, PolicySources, Question,
};
use toolwright_tools::catalogue;

use crate::commands::{action, engine, engine_in_mode};

/// Rules as text, and the same rules as objects. Each object means the same as all the texts together.
fn both_forms() -> Vec<(Vec<&'static str>, Vec<Value>)> {
    let object = |tool: &str, conditions: Value| json!({ "tool": tool, "conditions": conditions });
    let bare = |tool: &str| json!({ "tool": tool });
    vec![
        (vec!["*"], vec![bare("*")]),
        (vec!["mine"], vec![bare("mine")]),
        (vec!["mcp__a"], vec![bare("mcp__a"), bare("mcp__a__*")]),
        (vec!["Bash"], vec![bare("Bash"), bare("shell"), bare("Bash(*)")]),
        (vec!["Read"], vec![bare("Read"), bare("FileRead"), bare("read_file")]),
        (vec!["Write"], vec![bare("Write"), bare("write_file")]),
        (vec!["Edit"], vec![bare("Edit"), bare("FileEdit"), bare("edit_file")]),
        (vec!["NotebookEdit"], vec![bare("NotebookEdit")]),
        (vec!["WebFetch"], vec![bare("WebFetch"), bare("web_fetch")]),
        (vec!["TaskOutput"], vec![bare("TaskOutput")]),
        (
            vec!["Bash(yarn:*)"],
            vec![
                bare("shell(yarn:*)"),
                object("Bash", json!([{ "commandPrefix": "yarn" }])),
                object("shell", json!([{ "commandPrefix": ["yarn"] }])),
                object("shell", json!([{ "commandPrefix": "yarn:*" }])),
            ],
        ),
        (
            vec!["Bash(git status:*)", "Bash(ls:*)"],
            vec![object("shell", json!([{ "commandPrefix": ["git status", "ls"] }]))],
        ),
        (
            vec!["Read(**/.env)"],
            vec![
                bare("Grep(**/.env)"),
                object("Read", json!([{ "pathGlob": "**/.env" }])),
                object("read_many_files", json!([{ "pathGlob": ["**/.env"] }])),
                object("ls", json!([{ "pathGlob": "**/.env" }])),
            ],
        ),
        (
            vec!["Read(/secrets)"],
            vec![
                object("Read", json!([{ "pathWithin": "secrets" }])),
                object("Glob", json!([{ "pathWithin": "/repo/secrets" }])),
            ],
        ),
        (
            vec!["Edit(src/**)"],
            vec![
                object("Edit", json!([{ "pathGlob": "src/**" }])),
                object("Write", json!([{ "pathGlob": "src/**" }])),
                object("edit_file", json!([{ "pathGlob": ["src/**"] }])),
            ],
        ),
        (
            vec!["Edit(/src)", "Edit(/out)"],
            vec![object("NotebookEdit", json!([{ "pathWithin": ["src", "/repo/out"] }]))],
        ),
        (
            vec!["Edit(/src/*.rs)"],
            vec![bare("Write(/src/*.rs)"), object("Edit", json!([{ "pathGlob": "/src/*.rs" }]))],
        ),
        (
            vec!["WebFetch(domain:docs.rs)", "WebFetch(domain:*.rust-lang.org)"],
            vec![
                object("WebFetch", json!([{ "urlHost": ["docs.rs", "*.rust-lang.org"] }])),
                object("web_fetch", json!([{ "urlHost": ["docs.rs", "*.rust-lang.org"] }])),
            ],
        ),
    ]
}

fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for path in [
        ".env",
        "sub/.env",
        "src/a.rs",
        "src/deep/a.rs",
        "out/a",
        "secrets",
        "secrets/k",
        "a",
        "/etc/x",
        ".git/config",
    ] {
        for tool in [
            "Read",
            "read_file",
            "read_many_files",
            "Grep",
            "grep",
            "Glob",
            "ls",
            "file-reader",
            "Edit",
            "FileEdit",
            "edit_file",
            "Write",
            "write_file",
            "NotebookEdit",
        ] {
            calls.push((tool, json!({ "path": path })));
        }
        for line in ["cat", "rm", "echo x >", "yarn x; cat <"] {
            calls.push(("Bash", json!({ "command": format!("{line} {path}") })));
        }
    }
    for line in [
        "yarn",
        "yarn add x",
        "/usr/bin/yarn",
        "npm i && yarn",
        "$(yarn)",
        "env yarn",
        "yarn $x",
        "$x",
        "git status",
        "git status; ls",
        "git status | wc",
        "ls > out/a",
        "cp -r . /tmp/x",
        "rg key",
        "bash -c 'yarn install'",
        "yarnx",
        "'",
        "cat .en*",
    ] {
        calls.push(("shell", json!({ "command": line })));
    }
    for url in [
        "https://docs.rs/a",
        "https://a.docs.rs/",
        "https://doc.rust-lang.org/",
        "https://x.y/",
        "odd",
    ] {
        calls.push(("WebFetch", json!({ "url": url })));
        calls.push(("web_fetch", json!({ "url": url })));
    }
    for tool in
        ["mine", "other", "mcp__a__b", "mcp__ab__c", "TaskOutput", "TaskStop", "Agent", "TodoWrite"]
    {
        calls.push((tool, json!({})));
    }
    calls
}

/// The verdicts of an engine on the calls, and the paths that it hides.
fn answers(policy: &Value, mode: PermissionMode, calls: &[(&str, Value)]) -> Vec<String> {
    let engine = engine_in_mode(policy, mode);
    let verdicts = calls.iter().map(|(tool, params)| {
        let verdict = engine.evaluate(tool, params);
        let parts = verdict.parts.iter().map(|it| (&it.part, it.action, it.basis));
        let parts: Vec<_> = parts.collect();
        format!("{tool} {params}: {:?} {:?} {parts:?}", verdict.action, verdict.basis)
    });
    let paths = ["/repo/.env", "/repo/secrets/k", "/repo/src/a.rs", "/repo/a"];
    let known = catalogue();
    let hidden = ["Grep", "glob", "ls"].into_iter().flat_map(|tool| {
        let kind = known.find(tool).unwrap().kind;
        let engine = &engine;
        paths.map(|path| format!("{tool} {path}: {}", engine.hides(tool, &kind, path.as_ref())))
    });
    verdicts.chain(hidden).collect()
}

#[test]
fn text_and_objects_mean_the_same() {
    let others = json!({
        "allow": ["Bash", "Edit", "Write", "NotebookEdit"], "deny": ["mcp__ab"], "ask": ["WebFetch"]
    });
    let calls = calls();
    for (texts, objects) in both_forms() {
        for (action, beside, mode) in [
            ("allow", json!({}), PermissionMode::Default),
            ("allow", json!({}), PermissionMode::Plan),
            ("allow", others.clone(), PermissionMode::AcceptEdits),
            ("ask", others.clone(), PermissionMode::Default),
            ("ask", json!({}), PermissionMode::DontAsk),
            ("deny", others.clone(), PermissionMode::Default),
            ("deny", json!({}), PermissionMode::BypassPermissions),
        ] {
            let mut in_text = beside.clone();
            let list = in_text.as_object_mut().unwrap().entry(action).or_insert_with(|| json!([]));
            list.as_array_mut().unwrap().extend(texts.iter().map(|it| json!(it)));
            let expected = answers(&in_text, mode, &calls);
            for object in &objects {
                let (mut rule, mut in_objects) = (object.clone(), beside.clone());
                rule.as_object_mut().unwrap().insert("action".to_owned(), json!(action));
                in_objects.as_object_mut().unwrap().insert("rules".to_owned(), json!([rule]));
                let actual = answers(&in_objects, mode, &calls);
                let wrong =
                    expected.iter().zip(&actual).find(|(expected, actual)| expected != actual);
                assert_eq!(wrong, None, "{action} {texts:?}, {rule} beside {beside} in {mode:?}");
            }
        }
    }
}

#[test]
fn a_rule_object_applies_where_people_expect_it() {
    let rule = |tool: &str, conditions: Value| {
        json!({
            "rules": [{ "tool": tool, "action": "deny", "conditions": conditions }],
            "allow": ["Bash", "Edit", "Write", "NotebookEdit", "WebFetch"]
        })
    };
    let run = |line: &str| json!({ "command": line });
    let path = |it: &str| json!({ "path": it });
    let yarn = rule("shell", json!([{ "commandPrefix": "yarn" }]));
    let env = rule("Read", json!([{ "pathGlob": "**/.env" }]));
    let edit = rule("Edit", json!([]));
    let evil = rule("web_fetch", json!([{ "urlHost": "evil.com" }]));
    for (policy, tool, params, expected) in [
        (&yarn, "Bash", run("yarn add x"), Deny),
        (&yarn, "Bash", run("npm i && env yarn add x"), Deny),
        (&yarn, "Bash", run("npm i"), Allow),
        (&yarn, "shell", run("yarn"), Deny),
        (&env, "Bash", run("cat .env"), Deny),
        (&env, "Bash", run("rg key"), Ask),
        (&env, "Bash", run("cat a"), Allow),
        (&env, "Grep", path("sub/.env"), Deny),
        (&env, "grep", json!({ "pattern": "x", "directory": "sub/.env" }), Deny),
        (&env, "Glob", path(".env"), Deny),
        (&env, "ls", path(".env"), Deny),
        (&env, "Edit", path(".env"), Deny),
        (&env, "Read", path("a"), Allow),
        (&edit, "Edit", path("a"), Deny),
        (&edit, "Write", path("a"), Deny),
        (&edit, "NotebookEdit", path("a"), Deny),
        (&edit, "write_file", path("a"), Deny),
        (&edit, "edit_file", path("a"), Deny),
        (&edit, "Read", path("a"), Allow),
        (&evil, "WebFetch", json!({ "url": "https://a.evil.com/" }), Deny),
        (&evil, "WebFetch", json!({ "url": "https://docs.rs/" }), Allow),
        // A limit on the shell with a condition on paths applies to the files that its commands touch.
        (&rule("Bash", json!([{ "pathGlob": ".env" }])), "Bash", run("rg key"), Ask),
        (&rule("Bash", json!([{ "pathGlob": ".env" }])), "shell", run("cat .env"), Deny),
        (&rule("Bash", json!([{ "pathGlob": ".env" }])), "Read", path(".env"), Allow),
        (&rule("*", json!([{ "pathWithin": "secrets" }])), "ls", path("secrets"), Deny),
        // A path has to meet every condition.
        (
            &rule("Read", json!([{ "pathWithin": "src" }, { "pathGlob": "**/*.rs" }])),
            "read_many_files",
            json!({ "paths": ["src/a.txt", "b.rs"] }),
            Allow,
        ),
        (
            &rule(
                "Read",
                json!([{ "pathWithin": ["x", "src"] }, { "pathGlob": ["*.md", "**/*.rs"] }]),
            ),
            "read_many_files",
            json!({ "paths": ["src/a.txt", "src/b.rs"] }),
            Deny,
        ),
        (
            &rule("Edit(src/**)", json!([{ "pathGlob": "**/*.rs" }])),
            "Write",
            path("src/a.rs"),
            Deny,
        ),
        (&rule("Edit(src/**)", json!([{ "pathGlob": "**/*.rs" }])), "Write", path("src/a"), Allow),
        (&rule("Edit", json!([{ "riskAtLeast": "medium" }])), "Write", path("a"), Deny),
        (&rule("Edit", json!([{ "riskAtLeast": "high" }])), "Write", path("a"), Allow),
    ] {
        assert_eq!(action(policy, tool, &params), expected, "{policy} {tool} {params}");
    }
    // A limit on all tools applies too, if no rule for the tool overrides it.
    let all = json!({ "rules": [{ "tool": "*", "action": "deny", "conditions": [{ "pathWithin": "secrets" }] }] });
    let all = engine_in_mode(&all, PermissionMode::BypassPermissions);
    for (line, expected) in [("cp -r . /tmp/x", Ask), ("cat secrets/a", Deny), ("cat a", Allow)] {
        assert_eq!(all.evaluate("Bash", &run(line)).action, expected, "{line}");
    }
}

#[test]
fn a_condition_on_a_parameter_applies_to_the_tool_and_its_twins() {
    let rule = |tool: &str, param: &str, value: &str, action: &str| {
        json!({ "defaultAction": "ask", "rules": [{
        "tool": tool, "action": action, "conditions": [{ "param": param, "operator": "startsWith", "value": value }]
    }] })
    };
    for (policy, tool, params, expected) in [
        (rule("shell", "command", "git", "deny"), "Bash", json!({ "command": "git push" }), Deny),
        (
            rule("Edit", "file_path", "/repo/src/", "deny"),
            "Edit",
            json!({ "file_path": "/repo/src/a" }),
            Deny,
        ),
        (
            rule("Edit", "file_path", "/repo/src/", "deny"),
            "Write",
            json!({ "file_path": "/repo/src/a" }),
            Ask,
        ),
        // In another tool set, the parameter has another name.
        (
            rule("Write", "file_path", "/repo/src/", "deny"),
            "write_file",
            json!({ "path": "src/a" }),
            Deny,
        ),
        (
            rule("Write", "file_path", "/repo/src/", "deny"),
            "write_file",
            json!({ "path": "a" }),
            Ask,
        ),
        (
            rule("write_file", "path", "src/", "allow"),
            "Write",
            json!({ "file_path": "/repo/src/a" }),
            Allow,
        ),
        (
            rule("write_file", "path", "src/", "allow"),
            "Write",
            json!({ "file_path": "/repo/src/../a" }),
            Ask,
        ),
        (rule("write_file", "content", "x", "deny"), "Write", json!({ "content": "xy" }), Deny),
        (rule("write_file", "content", "x", "deny"), "Write", json!({ "file_path": "x" }), Ask),
    ] {
        assert_eq!(action(&policy, tool, &params), expected, "{policy} {tool} {params}");
    }
}

/// A call of a host's tool, which does not declare what it touches.
fn asked_of_host<'a>(tool: &'a str, input: &'a Value) -> Question<'a> {
    Question {
        tool,
        origin: Origin::Host,
        side_effect: SideEffect::Network,
        kind: &ToolKind::PLAIN,
        annotations: const {
            &Annotations {
                title: None,
                read_only_hint: None,
                destructive_hint: None,
                idempotent_hint: None,
                open_world_hint: None,
            }
        },
        input,
        accesses: &[],
        directory: Path::new("/repo"),
        follow_links: None,
    }
}

#[test]
fn permissions_for_a_built_in_tool_do_not_apply_to_a_hosts_tool_of_that_name() {
    let judged = |layer: Layer, policy: Value, tool: &str| {
        let config = PolicyConfig::from_json(&policy, layer).unwrap();
        let (layers, places) = (vec![(layer, config)], PolicyPlaces::of_project("/repo"));
        let tools = catalogue().into();
        let sources = PolicySources { layers, places, tools, ..PolicySources::default() };
        PolicyEngine::new(sources).unwrap().decide(&asked_of_host(tool, &json!({}))).action
    };
    for (layer, policy, tool, expected) in [
        // That a built-in tool of that name is allowed does not allow the host's tool.
        (Layer::Options, json!({}), "read_file", Ask),
        (Layer::Options, json!({}), "TaskStop", Ask),
        (Layer::User, json!({ "allow": ["Read"] }), "Read", Ask),
        (Layer::User, json!({ "allow": ["Read", "read_file"] }), "read_file", Ask),
        (Layer::User, json!({ "allow": ["Re*"] }), "Read", Ask),
        (Layer::Project, json!({ "rules": [{ "tool": "Bash", "action": "allow" }] }), "Bash", Ask),
        (Layer::Options, json!({ "allow": ["Read"] }), "read_file", Ask),
        (Layer::Options, json!({ "allow": ["Read(**)", "Bash(ls:*)"] }), "Read", Ask),
        // A rule of the host that names the registered tool allows it.
        (Layer::Options, json!({ "allow": ["Read"] }), "Read", Allow),
        (Layer::User, json!({ "allow": ["mine"] }), "mine", Allow),
        // Limits apply.
        (Layer::User, json!({ "deny": ["Read"] }), "read_file", Deny),
        (Layer::User, json!({ "deny": ["Bash"] }), "shell", Deny),
        (Layer::User, json!({ "deny": ["Edit"] }), "write_file", Deny),
        (Layer::User, json!({ "ask": ["Write"], "allow": ["*"] }), "Write", Ask),
    ] {
        assert_eq!(judged(layer, policy.clone(), tool), expected, "{layer:?} {policy} {tool}");
    }
    // A grant for one tool is not a rule for another.
    let engine = engine(&json!({}));
    assert_eq!(engine.narrowest_rules(&asked_of_host("Bash", &json!({}))), None);
    let rules = engine.narrowest_rules(&asked_of_host("mine", &json!({})));
    assert_eq!(rules, Some(vec!["mine".to_owned()]));
}

#[test]
fn only_rules_about_paths_hide_paths() {
    let hides = |policy: Value, path: &str| {
        engine(&policy).hides("Grep", &catalogue().find("Grep").unwrap().kind, path.as_ref())
    };
    let asked = json!({ "ask": ["Grep", "Read(private)"], "deny": ["Read(secret)"] });
    assert!(!hides(asked.clone(), "/repo/a"));
    assert!(hides(asked.clone(), "/repo/private/a"));
    assert!(hides(asked, "/repo/secret"));
    let general = json!({ "rules": [
        { "tool": "*", "action": "deny", "conditions": [{ "pathWithin": "x" }] }, { "tool": "Grep", "action": "allow" }
    ] });
    assert!(!hides(general, "/repo/x/a"));
}

#[test]
fn task_tools_run_without_asking_in_every_mode() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
    let in_modes = |policy: Value, tool: &str| {
        [Default, AcceptEdits, Plan, DontAsk, BypassPermissions].map(|mode| {
            engine_in_mode(&policy, mode).evaluate(tool, &json!({ "task_id": "t" })).action
        })
    };
    for tool in ["TaskOutput", "TaskStop"] {
        assert_eq!(in_modes(json!({}), tool), [Allow; 5], "{tool}");
        assert_eq!(in_modes(json!({ "deny": [tool] }), tool), [Deny; 5], "{tool}");
        assert_eq!(in_modes(json!({ "ask": [tool] }), tool), [Ask, Ask, Ask, Deny, Ask], "{tool}");
        assert_eq!(
            in_modes(json!({ "defaultAction": "ask" }), tool),
            in_modes(json!({ "defaultAction": "ask" }), "Read")
        );
    }
}

#[test]
fn the_linter_reports_tools_that_do_not_exist() {
    let lints = |policy: Value, registered: &[&str]| {
        let registered: Vec<String> = registered.iter().map(|it| (*it).to_owned()).collect();
        let found = engine(&policy).lint_with_tools(&registered);
        found
            .into_iter()
            .map(|it| (it.kind, it.rule.text.to_string(), it.message))
            .collect::<Vec<_>>()
    };
    for rule in ["Raed", "bash", "Writ", "mine", "zz*", "mcp__docs__serach"] {
        let found = lints(json!({ "deny": [rule] }), &["other", "mcp__docs__search"]);
        assert_eq!(
            found.iter().map(|it| it.0).collect::<Vec<_>>(),
            [UnknownTool],
            "{rule}: {found:?}"
        );
        let object = lints(
            json!({ "rules": [{ "tool": rule, "action": "ask", "conditions": [{ "pathGlob": ["a", "b"] }] }] }),
            &["other", "mcp__docs__search"],
        );
        assert_eq!(
            object.iter().map(|it| it.0).collect::<Vec<_>>(),
            [UnknownTool],
            "{rule}: {object:?}"
        );
    }
    for rule in [
        "Read",
        "FileRead",
        "shell",
        "WebFetch",
        "Task",
        "mine",
        "mi*",
        "mcp__docs__search",
        "mcp__absent__x",
        "mcp__docs",
        "Edit(src/**)",
        "git-status",
    ] {
        assert_eq!(lints(json!({ "deny": [rule] }), &["mine", "mcp__docs__search"]), [], "{rule}");
    }
    let (_, _, message) = lints(json!({ "deny": ["bash"] }), &[]).remove(0);
    assert_eq!(
        message,
        "no built-in tool is named `bash`, so the rule never applies; did you mean `Bash`?"
    );
}

#[test]
fn the_linter_finds_conditions_that_do_not_mean_what_they_seem_to() {
    let kinds = |tool: &str, condition: Value| -> Vec<LintKind> {
        ["allow", "deny"]
            .into_iter()
            .flat_map(|action| {
                let rule =
                    json!({ "tool": tool, "action": action, "conditions": [condition.clone()] });
                engine(&json!({ "rules": [rule] })).lint()
            })
            .map(|it| it.kind)
            .collect()
    };
    let starts = |param: &str, value: &str| json!({ "param": param, "operator": "startsWith", "value": value });
    let matches =
        |param: &str, value: &str| json!({ "param": param, "operator": "matches", "value": value });
    for (tool, condition, is_found) in [
        ("Write", starts("file_path", "/srv"), true),
        ("Write", starts("file_path", "src"), true),
        ("write_file", starts("path", "./src"), true),
        ("*", starts("anything", "/srv"), true),
        (
            "Write",
            json!({ "param": "file_path", "operator": "startsWith", "value": ["/a/", "/srv"] }),
            true,
        ),
        ("Write", matches("file_path", "^/srv"), true),
        ("Write", matches("file_path", "^/srv\\.d.*"), true),
        ("Bash", starts("command", "git"), true),
        ("WebFetch", starts("url", "https://docs.rs"), true),
        ("Write", starts("file_path", "/srv/"), false),
        ("Write", starts("content", "src"), false),
        ("Write", matches("file_path", "^/srv/"), false),
        ("Write", matches("file_path", "^/srv(/|$)"), false),
        ("Write", matches("file_path", "^/srv$"), false),
        ("Write", matches("file_path", "srv"), false),
        ("Write", json!({ "param": "file_path", "operator": "equals", "value": "/srv" }), false),
        ("Bash", starts("command", "git "), false),
        ("WebFetch", starts("url", "https://docs.rs/"), false),
    ] {
        let expected = if is_found { vec![TooBroad; 2] } else { Vec::new() };
        assert_eq!(kinds(tool, condition.clone()), expected, "{tool} {condition}");
    }
    for (tool, condition) in [
        ("Read", json!({ "commandPrefix": "cat" })),
        ("Bash", json!({ "urlHost": "docs.rs" })),
        ("WebFetch", json!({ "pathGlob": "x" })),
        ("TodoWrite", json!({ "pathWithin": "src" })),
    ] {
        assert_eq!(kinds(tool, condition.clone()), [WithoutEffect; 2], "{tool} {condition}");
    }
}

#[test]
fn the_linter_compares_objects_with_text() {
    let engine = engine(&json!({
        "rules": [
            { "tool": "shell", "action": "allow", "conditions": [{ "commandPrefix": ["git push", "git push -f"] }] },
            { "tool": "Write", "action": "allow", "conditions": [{ "pathGlob": "a" }] }
        ],
        "deny": ["Bash(git push:*)", "Edit(a)"]
    }));
    let found: Vec<_> =
        engine.lint().into_iter().map(|it| (it.rule.place.to_string(), it.kind)).collect();
    assert_eq!(found, [("rules[0]".to_owned(), Shadowed), ("rules[1]".to_owned(), Shadowed)]);
}

#[test]
fn a_verdict_shows_the_rule_as_written() {
    let rule = json!({ "tool": "shell", "action": "deny", "message": "use npm", "conditions": [{ "commandPrefix": "yarn" }] });
    let verdict =
        engine(&json!({ "rules": [rule] })).evaluate("Bash", &json!({ "command": "yarn" }));
    assert_eq!(verdict.message.as_deref(), Some("use npm"));
    assert_eq!(
        verdict.reason,
        "`yarn` is decided by the deny rule `shell` with its conditions (rules[0] of the host's options)"
    );
    assert_eq!(
        serde_json::to_value(verdict.rule).unwrap(),
        json!({
            "layer": "options", "place": "rules[0]", "text": "shell", "action": "deny",
            "conditions": [{ "commandPrefix": "yarn" }]
        })
    );
}

#[test]
fn lists_of_values_are_bounded() {
    let values: Vec<String> = (0..40).map(|it| format!("d{it}")).collect();
    let rule = json!({ "tool": "Read", "action": "deny", "conditions": [
        { "pathWithin": values }, { "pathGlob": values }
    ] });
    let config = PolicyConfig::from_json(&json!({ "rules": [rule] }), Layer::User).unwrap();
    let sources = PolicySources {
        layers: vec![(Layer::User, config)],
        tools: catalogue().into(),
        ..PolicySources::default()
    };
    let error = PolicyEngine::new(sources).unwrap_err().to_string();
    assert!(error.contains("rules[0] (`Read`): its lists of paths have more than 1000"), "{error}");
    let empty = json!({ "rules": [{ "tool": "Bash", "action": "allow", "conditions": [{ "commandPrefix": " " }] }] });
    let config = PolicyConfig::from_json(&empty, Layer::User).unwrap();
    let sources = PolicySources {
        layers: vec![(Layer::User, config)],
        tools: catalogue().into(),
        ..PolicySources::default()
    };
    assert!(PolicyEngine::new(sources).is_err());
    // A host's tool has no family, so a rule about files does not allow its call.
    let host = [Access::Write("/repo/a".into())];
    let question = Question { accesses: &host, ..asked_of_host("mine", &Value::Null) };
    assert_eq!(engine(&json!({ "allow": ["Edit(a)"] })).decide(&question).action, Ask);
}
