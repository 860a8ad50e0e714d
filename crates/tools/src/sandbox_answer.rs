//! The sandbox in the answer of a command: facts for programs, and notes for a model where they help it to
//! continue.

use std::{collections::BTreeSet, path::Path};

use schemars::JsonSchema;
use serde::Serialize;
use toolwright_base::{shown_path, shown_text};
use toolwright_command_protocol::{
    CommandNetwork, LimitKind, ResourceLimits, SandboxLevel, SandboxPlan, WritablePlaces,
};
use toolwright_process::{AppliedSandbox, CommandEnding, Task, readable};

/// The maximum number of paths in a note.
const MAX_NAMED: usize = 3;
/// The maximum number of output lines about refusals that are examined.
const MAX_LINES: usize = 50;
/// The maximum number of paths that are compared with these lines.
const MAX_PLACES: usize = 5_000;

/// The sandbox that the kernel enforced for a command.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SandboxFacts {
    /// How strict it is: `namespaces` restricts files, processes and network, `landlock` only writes and
    /// connections, `none` nothing.
    level: SandboxLevelName,
    /// Why the level is not higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// The network that it could use.
    network: NetworkName,
    /// The number of places that it could not read.
    hidden: usize,
    /// The number of places that it could not change or make.
    read_only: usize,
    /// Why the sandbox may enforce less than policy says: not every file was examined.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
    /// The limit that it is known to have reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_hit: Option<LimitName>,
    /// The rules of policy and options that the sandbox did not enforce.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_held: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SandboxLevelName {
    Namespaces,
    Landlock,
    None,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NetworkName {
    Allow,
    Deny,
    Hosts,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum LimitName {
    Cpu,
    Memory,
    Processes,
    FileSize,
}

impl SandboxFacts {
    /// The facts about a command that runs or has ended.
    pub(super) fn of(sandbox: &AppliedSandbox, ending: Option<&CommandEnding>) -> Self {
        let level = sandbox.level();
        let none = SandboxPlan::default();
        let plan = sandbox.plan.as_deref().unwrap_or(&none);
        // Landlock cannot hide anything, and cannot restrict single files.
        let holds_places = level == SandboxLevel::Namespaces;
        let count = |number| if holds_places { number } else { 0 };
        Self {
            level: match level {
                SandboxLevel::Namespaces => SandboxLevelName::Namespaces,
                SandboxLevel::Landlock => SandboxLevelName::Landlock,
                SandboxLevel::None => SandboxLevelName::None,
            },
            cause: sandbox.cause.clone(),
            network: match (plan.network, level) {
                (CommandNetwork::Open, _) | (_, SandboxLevel::None) => NetworkName::Allow,
                (CommandNetwork::Proxied, SandboxLevel::Namespaces) => NetworkName::Hosts,
                (CommandNetwork::Closed | CommandNetwork::Proxied, _) => NetworkName::Deny,
            },
            hidden: count(plan.hidden.len()),
            read_only: count(plan.read_only.len() + plan.missing.len()),
            incomplete: sandbox.incomplete.clone(),
            limit_hit: ending.and_then(|it| it.limit_hit).map(|it| match it {
                LimitKind::Cpu => LimitName::Cpu,
                LimitKind::Memory => LimitName::Memory,
                LimitKind::Processes => LimitName::Processes,
                LimitKind::FileSize => LimitName::FileSize,
            }),
            not_held: sandbox.not_held.clone(),
        }
    }
}

/// The notes about a command that has ended: the limit that it reached, or, if it failed, what was refused.
pub(super) fn sandbox_notes(task: &Task, ending: &CommandEnding) -> Vec<String> {
    let Some(plan) = task.sandbox().plan else { return Vec::new() };
    let reached = ending.limit_hit.and_then(|it| limit_words(it, &plan.limits));
    if reached.is_some() || ending.exit_code == Some(0) || ending.failure.is_some() {
        return reached.into_iter().collect();
    }
    let (first, last) = task.ends();
    let output = task.whole().unwrap_or_else(|| [first, last].concat());
    let output = readable(&output);
    let lines = |signs: &[&str]| -> Vec<&str> {
        let has_sign = |line: &&str| signs.iter().any(|it| line.contains(it));
        output.lines().rev().filter(has_sign).take(MAX_LINES).collect()
    };
    let mut notes = Vec::new();
    let refused = lines(&[
        "ermission denied",
        "ead-only file system",
        "peration not permitted",
        "esource busy",
        "EACCES",
        "EROFS",
        "EPERM",
        "EBUSY",
    ]);
    if !refused.is_empty() {
        notes.extend(place_note(&plan, &refused).or_else(|| writable_note(&plan, &refused)));
    }
    let unreached = [
        "resolve host",
        "ame resolution",
        "etwork is unreachable",
        "onnection refused",
        "ENETUNREACH",
        "EAI_AGAIN",
        "ENOTFOUND",
    ];
    if plan.network == CommandNetwork::Closed
        && plan.level != SandboxLevel::None
        && !lines(&unreached).is_empty()
    {
        notes.push("commands have no network here, except between their own processes".to_owned());
    }
    let is_out = |signs: &[&str], limit| {
        let words = limit_words(limit, &plan.limits).filter(|_| !lines(signs).is_empty());
        words.map(|it| it.replacen("it reached the limit", "there is a limit", 1))
    };
    let memory = [
        "MemoryError",
        "ut of memory",
        "emory exhausted",
        "annot allocate memory",
        "ENOMEM",
        "bad_alloc",
    ];
    notes.extend(is_out(&memory, LimitKind::Memory));
    notes.extend(is_out(&["esource temporarily unavailable", "EAGAIN"], LimitKind::Processes));
    notes
}

/// Says which limit was reached. `None` if the plan has no such limit.
fn limit_words(limit: LimitKind, limits: &ResourceLimits) -> Option<String> {
    let megabytes = |bytes: u64| bytes >> 20;
    let of = match limit {
        LimitKind::Cpu if limits.cpu_seconds == Some(1) => "1 second of CPU time".to_owned(),
        LimitKind::Cpu => format!("{} seconds of CPU time", limits.cpu_seconds?),
        LimitKind::Memory => format!("{} MB of memory", megabytes(limits.memory_bytes?)),
        LimitKind::Processes => format!("{} processes", limits.processes?),
        LimitKind::FileSize => format!("{} MB for one file", megabytes(limits.file_bytes?)),
    };
    Some(format!("it reached the limit of {of}"))
}

/// Names the paths of a plan that the output mentions.
fn place_note(plan: &SandboxPlan, lines: &[&str]) -> Option<String> {
    if plan.level != SandboxLevel::Namespaces {
        return None;
    }
    let is_named = |path: &&Path| {
        let name = path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|name| lines.iter().any(|it| names(it, name)))
    };
    let named = |paths: &mut dyn Iterator<Item = &Path>| -> BTreeSet<String> {
        paths.take(MAX_PLACES).filter(is_named).take(MAX_NAMED).map(shown_path).collect()
    };
    let hidden = named(&mut plan.hidden.iter().map(|it| it.path.as_path()));
    let missing = plan.missing.iter().map(|it| it.path.as_path());
    let closed = named(&mut plan.read_only.iter().map(std::path::PathBuf::as_path).chain(missing));
    let quoted = |places: &BTreeSet<String>| {
        places.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
    };
    let (what, places) = match (hidden.is_empty(), closed.is_empty()) {
        (true, true) => return None,
        (false, _) => ("read", hidden),
        (true, false) => ("change", closed),
    };
    Some(format!("commands cannot {what} {} here; ask the user if you need to", quoted(&places)))
}

/// True if a line contains a name that is not part of a longer one.
fn names(line: &str, name: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).and_then(|it| it.chars().next_back());
        let after = line.get(at + name.len()..).and_then(|it| it.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Says where commands may write, if not everywhere and a write was refused.
fn writable_note(plan: &SandboxPlan, lines: &[&str]) -> Option<String> {
    let WritablePlaces::Below(directories) = &plan.writable else { return None };
    let is_about_writing = plan.level == SandboxLevel::Landlock
        || lines.iter().any(|it| it.contains("ead-only file system") || it.contains("EROFS"));
    if !is_about_writing || plan.level == SandboxLevel::None {
        return None;
    }
    let shown: Vec<String> =
        directories.iter().take(MAX_NAMED).map(|it| format!("`{}`", shown_path(it))).collect();
    let more = if directories.len() > MAX_NAMED { " and a few more" } else { "" };
    Some(shown_text(&format!("commands can write only below {}{more}", shown.join(", "))))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use toolwright_command_protocol::{HiddenPlace, PlaceKind};

    use super::*;

    #[test]
    fn only_paths_that_the_output_mentions_are_named() {
        let hidden = |path: &str| HiddenPlace { path: path.into(), kind: PlaceKind::File };
        let plan = SandboxPlan {
            level: SandboxLevel::Namespaces,
            hidden: vec![hidden("/w/.env"), hidden("/w/other/key")],
            read_only: vec![PathBuf::from("/w/.git/hooks")],
            ..SandboxPlan::default()
        };
        let note = |line: &str| place_note(&plan, &[line]);
        assert_eq!(
            note("cat: .env: Permission denied").as_deref(),
            Some("commands cannot read `/w/.env` here; ask the user if you need to")
        );
        assert_eq!(
            note("touch: .git/hooks/x: Read-only file system").as_deref(),
            Some("commands cannot change `/w/.git/hooks` here; ask the user if you need to")
        );
        assert_eq!(note("cat: .env.local: Permission denied"), None);
        assert_eq!(note("cat: keys: Permission denied"), None);
    }

    #[test]
    fn a_limit_is_named_with_its_value() {
        let limits = ResourceLimits { memory_bytes: Some(512 << 20), ..ResourceLimits::default() };
        let words = limit_words(LimitKind::Memory, &limits);
        assert_eq!(words.as_deref(), Some("it reached the limit of 512 MB of memory"));
        assert_eq!(limit_words(LimitKind::Cpu, &limits), None);
    }
}
