//! What a sandbox will hold, in words, for `explain`.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    policy::PolicyVerdict,
    process::sandbox::{CommandNetwork, SandboxLevel, SandboxPlan, WritablePlaces},
    tool::{PlannedSandbox, shown_path},
};

/// How many places of one kind are listed.
const MAX_LISTED: usize = 200;

/// What policy says of a call, and what its command would be held to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainedCall {
    /// What policy says.
    #[serde(flatten)]
    pub verdict: PolicyVerdict,
    /// What the kernel holds the command to, if the call runs one and is not denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxExplanation>,
}

/// What the kernel holds a command to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxExplanation {
    /// `namespaces`, `landlock` or `none`.
    level: &'static str,
    /// What it cannot read. At most 200 are listed.
    hidden: Vec<String>,
    /// What it cannot change or make. At most 200 are listed.
    read_only: Vec<String>,
    /// `anywhere`, or the directories that it may write to.
    writable: WritableExplanation,
    /// `allow`, `deny` or `hosts`.
    network: &'static str,
    /// How much it may use.
    limits: LimitExplanation,
    /// What holds, in sentences.
    holds: Vec<String>,
    /// What policy says and this sandbox does not hold, in sentences.
    does_not_hold: Vec<String>,
}

/// Where a command may write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
enum WritableExplanation {
    /// `anywhere`.
    Anywhere(&'static str),
    /// Below these directories.
    Below(Vec<String>),
}

/// How much a command may use; without a value there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LimitExplanation {
    /// The CPU time of each process, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_seconds: Option<u32>,
    /// The memory, in megabytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_mb: Option<u64>,
    /// The number of processes and threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<u32>,
    /// The size of a file that it writes, in megabytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size_mb: Option<u64>,
}

impl SandboxExplanation {
    /// Explains a plan.
    pub(super) fn of(planned: &PlannedSandbox) -> Self {
        let none = SandboxPlan::default();
        let plan = planned.plan.as_deref().unwrap_or(&none);
        let limits = plan.limits;
        let megabytes = |it: u64| it >> 20;
        let mut does_not_hold: Vec<String> = planned.incomplete.iter().cloned().collect();
        does_not_hold.extend(planned.not_held.iter().cloned());
        does_not_hold.extend(general_gaps(plan.level).iter().map(|it| (*it).to_owned()));
        Self {
            level: plan.level.as_str(),
            hidden: listed(plan.hidden.iter().map(|it| it.path.as_path())),
            read_only: listed(
                plan.read_only
                    .iter()
                    .map(PathBuf::as_path)
                    .chain(plan.missing.iter().map(|it| it.path.as_path())),
            ),
            writable: match &plan.writable {
                WritablePlaces::Everywhere => WritableExplanation::Anywhere("anywhere"),
                WritablePlaces::Below(all) => {
                    WritableExplanation::Below(listed(all.iter().map(PathBuf::as_path)))
                }
            },
            network: match plan.network {
                CommandNetwork::Open => "allow",
                CommandNetwork::Closed => "deny",
                CommandNetwork::Proxied => "hosts",
            },
            limits: LimitExplanation {
                cpu_seconds: limits.cpu_seconds,
                memory_mb: limits.memory_bytes.map(megabytes),
                processes: limits.processes,
                file_size_mb: limits.file_bytes.map(megabytes),
            },
            holds: held(plan),
            does_not_hold,
        }
    }
}

fn listed<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<String> {
    paths.take(MAX_LISTED).map(shown_path).collect()
}

fn held(plan: &SandboxPlan) -> Vec<String> {
    let mut holds = Vec::new();
    let mut hold = |is_held: bool, words: String| holds.extend(is_held.then_some(words));
    let is_full = plan.level == SandboxLevel::Namespaces;
    let places =
        |count: usize| if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
    let (hidden, read_only, missing) =
        (plan.hidden.len(), plan.read_only.len(), plan.missing.len());
    hold(is_full, "the command sees and signals only its own processes".to_owned());
    hold(
        is_full && hidden > 0,
        format!("{} cannot be read, under any of their names", places(hidden)),
    );
    hold(is_full && read_only > 0, format!("{} cannot be changed", places(read_only)));
    hold(is_full && missing > 0, format!("{} that do not exist cannot be made", places(missing)));
    let is_bounded =
        plan.level != SandboxLevel::None && plan.writable != WritablePlaces::Everywhere;
    hold(is_bounded, "nothing outside of `writable` can be changed".to_owned());
    hold(
        plan.level != SandboxLevel::None && plan.network != CommandNetwork::Open,
        "the network is closed, but for what `network` says".to_owned(),
    );
    holds
}

/// What no sandbox of a level holds.
const fn general_gaps(level: SandboxLevel) -> &'static [&'static str] {
    match level {
        SandboxLevel::Namespaces => &[
            "files that are made while the command runs and that a pattern of a rule matches",
            "protected names that do not lie at the top of a root or of the home, unless a rule names them",
        ],
        SandboxLevel::Landlock => &[
            "rules about reading files, and protected places in directories that can be written to",
            "processes: the command sees and signals those of its user",
        ],
        SandboxLevel::None => &["anything: this machine or the host gives commands no sandbox"],
    }
}
