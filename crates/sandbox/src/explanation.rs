//! Describes a sandbox in words, for `explain`.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use toolwright_base::shown_path;
use toolwright_command_protocol::{CommandNetwork, SandboxLevel, SandboxPlan, WritablePlaces};
use toolwright_core::PlannedSandbox;
use toolwright_policy::PolicyVerdict;

/// How many places of one kind are listed.
const MAX_LISTED: usize = 200;

/// The policy verdict on a call, and the sandbox its command would run in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainedCall {
    /// The policy verdict.
    #[serde(flatten)]
    pub verdict: PolicyVerdict,
    /// The sandbox of the command, if the call runs one and is not denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxExplanation>,
}

/// The limits that the kernel enforces on a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxExplanation {
    /// `namespaces`, `landlock` or `none`.
    level: &'static str,
    /// The paths that it cannot read. At most 200 are listed.
    hidden: Vec<String>,
    /// The paths that it cannot change or create. At most 200 are listed.
    read_only: Vec<String>,
    /// `anywhere`, or the directories that it may write to.
    writable: WritableExplanation,
    /// `allow`, `deny` or `hosts`.
    network: &'static str,
    /// The resources it may use.
    limits: LimitExplanation,
    /// What is enforced, in sentences.
    holds: Vec<String>,
    /// What policy demands and this sandbox does not enforce, in sentences.
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

/// The resources a command may use. A missing value means no limit.
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
    /// Describes a plan.
    pub(super) fn of(planned: &PlannedSandbox) -> Self {
        let none = SandboxPlan::default();
        let plan = planned.plan.as_deref().unwrap_or(&none);
        let limits = plan.limits;
        let megabytes = |it: u64| it >> 20;
        let mut does_not_hold: Vec<String> = planned.incomplete.iter().cloned().collect();
        does_not_hold.extend(planned.not_enforced.iter().cloned());
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
        "the network is closed, except what `network` allows".to_owned(),
    );
    holds
}

/// What no sandbox of this level enforces.
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
