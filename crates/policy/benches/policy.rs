//! Measures a policy decision with 200 rules: `cargo bench -p toolwright-policy`.
//!
//! The bounds of the specification are 50 µs for a command line and 5 µs for any other call.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its results and may panic"
)]

use std::{hint::black_box, path::Path, time::Instant};

use serde_json::{Value, json};
use toolwright_base::{Access, Annotations, SideEffect};
use toolwright_policy::{
    Layer, Origin, PolicyConfig, PolicyEngine, PolicyPlaces, PolicySources, Question,
};
use toolwright_tools::catalogue;

const ROUNDS: u32 = 20_000;

/// 200 rules of the kinds that people write, half of them about commands.
fn engine() -> PolicyEngine {
    let mut config = PolicyConfig::default();
    for at in 0..60 {
        config.allow.push(format!("Bash(tool{at} run:*)"));
        config.allow.push(format!("Edit(src/module{at}/**)"));
    }
    for at in 0..30 {
        config.deny.push(format!("Bash(danger{at}:*)"));
        config.deny.push(format!("Read(secrets/{at}/*.key)"));
    }
    for at in 0..15 {
        config.allow.push(format!("WebFetch(domain:host{at}.example)"));
    }
    let listed = [
        "Bash(git status:*)",
        "Bash(git log:*)",
        "Bash(head:*)",
        "Bash(npm * test)",
        "mcp__docs__*",
    ];
    config.allow.extend(listed.map(str::to_owned));
    let places = PolicyPlaces::of_project("/repo");
    let layers = vec![(Layer::User, config)];
    PolicyEngine::new(PolicySources {
        layers,
        places,
        tools: catalogue().into(),
        ..PolicySources::default()
    })
    .unwrap()
}

fn measure(engine: &PolicyEngine, name: &str, tool: &str, input: &Value, accesses: &[Access]) {
    let kind = catalogue().find(tool).map(|it| it.kind).unwrap_or_default();
    let question = Question {
        tool,
        origin: Origin::Builtin,
        side_effect: SideEffect::Network,
        kind: &kind,
        annotations: &Annotations::default(),
        input,
        accesses,
        directory: Path::new("/repo"),
        follow_links: None,
    };
    let mut best = f64::MAX;
    for _ in 0..5 {
        let started = Instant::now();
        for _ in 0..ROUNDS {
            black_box(engine.decide(black_box(&question)));
        }
        best = best.min(started.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    let action = engine.decide(&question).action.as_str();
    println!("{name:<44} {best:>8.2} µs  {action}");
}

fn main() {
    let started = Instant::now();
    let engine = engine();
    println!("compiling 200 rules: {:.2} ms", started.elapsed().as_secs_f64() * 1e3);
    let run = |line: &str| vec![Access::Run(line.to_owned())];
    for line in [
        "git status",
        "git log --oneline | head -5 > /dev/null 2>&1",
        "timeout 5 env LANG=C git log && git status || true",
        "if git status; then for f in a b; do head \"$f\"; done; fi",
        "make $(git log) > out",
    ] {
        measure(&engine, line, "Bash", &json!({ "command": line }), &run(line));
    }
    let path = |it: &str| Path::new(it).to_owned();
    let read = [Access::Read(path("/repo/src/module3/deep/file.rs"))];
    measure(&engine, "Read", "Read", &json!({ "file_path": "x" }), &read);
    let write = [Access::Write(path("/repo/src/module59/deep/file.rs"))];
    measure(&engine, "Edit, allowed by a pattern", "Edit", &json!({ "file_path": "x" }), &write);
    let denied = [Access::Read(path("/repo/secrets/7/a.key"))];
    measure(&engine, "Read, denied by a pattern", "Read", &json!({ "file_path": "x" }), &denied);
    let fetch = [Access::Connect("https://host14.example/a".to_owned())];
    measure(&engine, "WebFetch", "WebFetch", &json!({ "url": "x" }), &fetch);
    measure(&engine, "a tool without accesses", "TodoWrite", &json!({ "todos": [] }), &[]);
}
