//! Turns policy into a sandbox plan: the limits that the kernel enforces on a command. The plan is made
//! when the command starts.
//!
//! Rules and protected places are patterns and names, but a sandbox needs paths. They are searched for
//! on the disk, up to a bound. Paths that a permitted command line names stay open to it.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use toolwright_base::{Access, Annotations, ErrorKind, SideEffect, ToolError, ToolKind};
use toolwright_command_protocol::{SandboxLevel, SandboxPlan};
use toolwright_core::{CommandSandbox, PlannedSandbox, SandboxPlanner, SharedState};
use toolwright_files::real_place;
use toolwright_policy::{
    CurrentPolicy, FileLimits, LimitedStart, LinkedStart, NamedPlaces, Origin, PolicyEngine,
    PolicyPlaces, Question,
};
use toolwright_process::{
    ProcessSettings, SandboxMode, SandboxNetwork, SandboxRefusal, SandboxSettings, SandboxShare,
    SandboxWrites, TaskManager,
};
use toolwright_web::WebClient;

use crate::{
    PermittedCall, SandboxExplanation,
    place_finder::PlaceFinder,
    plan_builder::{PlanSources, leads_around},
    proxy_starter::CommandProxyStarter,
    tracked_files::TrackedFiles,
};

/// State shared by all plans: directory listings, and the limits of the policies used last.
#[derive(Debug, Default)]
pub struct SandboxPlans {
    finder: PlaceFinder,
    tracked: TrackedFiles,
    policies: Mutex<Vec<KnownPolicy>>,
    next_policy: AtomicU64,
}

/// How many policies are kept: the registry's, and those of a few sessions.
const MAX_POLICIES: usize = 4;

#[derive(Clone, Debug)]
struct KnownPolicy {
    engine: Arc<PolicyEngine>,
    limits: Arc<FileLimits>,
    /// Identifies the policy.
    number: u64,
}

impl SandboxPlans {
    /// The policy with its limits.
    fn of(&self, engine: &Arc<PolicyEngine>) -> KnownPolicy {
        let mut policies = self.policies.lock();
        if let Some(known) = policies.iter().find(|it| Arc::ptr_eq(&it.engine, engine)) {
            return known.clone();
        }
        let known = KnownPolicy {
            engine: Arc::clone(engine),
            limits: Arc::new(FileLimits::of(engine)),
            number: self.next_policy.fetch_add(1, Ordering::Relaxed),
        };
        if policies.len() == MAX_POLICIES {
            policies.remove(0);
        }
        policies.push(known.clone());
        known
    }

    /// The same policy, with its limits updated for the current symbolic links. Reads the file system.
    fn following_links(&self, policy: &KnownPolicy) -> KnownPolicy {
        let links = links_now(&policy.limits, policy.engine.places());
        if policy.limits.links() == links {
            return policy.clone();
        }
        let mut policies = self.policies.lock();
        let same = policies.iter_mut().find(|it| Arc::ptr_eq(&it.engine, &policy.engine));
        if let Some(known) = same.as_ref().filter(|it| it.limits.links() == links) {
            return KnownPolicy::clone(known);
        }
        let current = KnownPolicy {
            engine: Arc::clone(&policy.engine),
            limits: Arc::new(policy.limits.with_links(links)),
            number: self.next_policy.fetch_add(1, Ordering::Relaxed),
        };
        if let Some(known) = same {
            *known = current.clone();
        }
        current
    }
}

/// The places that limits reach through symbolic links.
fn links_now(limits: &FileLimits, places: &PolicyPlaces) -> Vec<LinkedStart> {
    let starts = limits.starts().into_iter().filter_map(|start| {
        let written = start.path().to_owned();
        let place = real_place(&written).filter(|it| *it != written)?;
        let is_whole = matches!(start, LimitedStart::Place(_));
        (!is_whole || !leads_around(&written, &place, places))
            .then_some(LinkedStart { place, written })
    });
    starts.collect()
}

/// A call as policy judged it.
#[derive(Clone, Debug)]
struct PlannedLine {
    tool: String,
    kind: ToolKind,
    accesses: Vec<Access>,
    directory: PathBuf,
    /// True when a person confirmed it.
    is_confirmed: bool,
}

/// Plans the commands of one call.
struct CallPlanner {
    plans: Arc<SandboxPlans>,
    policy: KnownPolicy,
    settings: Arc<SandboxSettings>,
    web: WebClient,
    tasks: Arc<TaskManager>,
    /// The judged call; none before the judgement.
    line: Option<PlannedLine>,
}

impl SandboxPlans {
    /// The sandbox of a call's hooks, before policy has judged the call.
    pub fn before_judgement(
        self: &Arc<Self>,
        engine: &Arc<PolicyEngine>,
        shared: &SharedState,
    ) -> CommandSandbox {
        self.planner(engine, shared, None)
            .map_or_else(CommandSandbox::none, CommandSandbox::planned_by)
    }

    /// The sandbox of a permitted call's commands.
    pub fn of_call(
        self: &Arc<Self>,
        engine: &Arc<PolicyEngine>,
        call: &PermittedCall<'_>,
        shared: &SharedState,
    ) -> CommandSandbox {
        self.planner(engine, shared, Some(judged_line(call, shared)))
            .map_or_else(CommandSandbox::none, CommandSandbox::planned_by)
    }

    /// Explains the sandbox that the command of a call would get. Returns `None` if the call runs no
    /// command. Reads the file system.
    pub fn explained(
        self: &Arc<Self>,
        engine: &Arc<PolicyEngine>,
        call: &PermittedCall<'_>,
        shared: &SharedState,
        cancel: &CancellationToken,
    ) -> Result<Option<SandboxExplanation>, ToolError> {
        if !call.runs_commands() {
            return Ok(None);
        }
        let planner = self.planner(engine, shared, Some(judged_line(call, shared)));
        let sandbox = planner.map(|it| it.of_command(cancel)).transpose()?;
        Ok(Some(SandboxExplanation::of(&sandbox.unwrap_or_default())))
    }

    /// The sandbox of the programs of MCP servers, by the policy of the registry when they are started.
    pub fn of_servers(
        self: &Arc<Self>,
        policy: &Arc<CurrentPolicy>,
        shared: &SharedState,
    ) -> CommandSandbox {
        if !has_sandbox(&shared.sandbox) {
            return CommandSandbox::none();
        }
        CommandSandbox::planned_by(ServerPlanner {
            plans: Arc::clone(self),
            policy: Arc::clone(policy),
            settings: Arc::clone(&shared.sandbox),
            web: shared.web.clone(),
            tasks: Arc::clone(&shared.tasks),
        })
    }

    fn planner(
        self: &Arc<Self>,
        engine: &Arc<PolicyEngine>,
        shared: &SharedState,
        line: Option<PlannedLine>,
    ) -> Option<CallPlanner> {
        if !has_sandbox(&shared.sandbox) {
            return None;
        }
        Some(CallPlanner {
            plans: Arc::clone(self),
            policy: self.of(engine),
            settings: Arc::clone(&shared.sandbox),
            web: shared.web.clone(),
            tasks: Arc::clone(&shared.tasks),
            line,
        })
    }
}

fn judged_line(call: &PermittedCall<'_>, shared: &SharedState) -> PlannedLine {
    let directory = call.prepared.directory().unwrap_or_else(|| shared.files.roots.first());
    PlannedLine {
        tool: call.spec.name.clone(),
        kind: call.spec.kind,
        accesses: call.prepared.accesses().to_vec(),
        directory: directory.to_owned(),
        is_confirmed: call.is_confirmed,
    }
}

/// False when commands have no sandbox at all.
fn has_sandbox(settings: &SandboxSettings) -> bool {
    cfg!(target_os = "linux") && settings.mode != SandboxMode::Off
}

/// The directories for temporary files of commands.
fn temporary_directories(settings: &ProcessSettings) -> Vec<PathBuf> {
    let variable = settings.environment.iter().find(|it| it.0 == "TMPDIR");
    let of_commands = variable.map_or_else(|| PathBuf::from("/tmp"), |it| PathBuf::from(&it.1));
    vec![settings.temporary.clone(), of_commands]
}

impl CallPlanner {
    fn named(&self) -> NamedPlaces {
        let Some(line) = &self.line else { return NamedPlaces::default() };
        self.policy.engine.named_places(&Question {
            tool: &line.tool,
            origin: Origin::Builtin,
            side_effect: SideEffect::Network,
            kind: &line.kind,
            annotations: &Annotations::default(),
            input: &serde_json::Value::Null,
            accesses: &line.accesses,
            directory: &line.directory,
            follow_links: Some(&real_place),
        })
    }

    /// The sandbox level on this machine; none for no sandbox.
    fn level(&self) -> Result<Option<SandboxLevel>, ToolError> {
        let support = self.tasks.sandbox_support_now();
        match self.settings.level_on(&support) {
            Ok(SandboxLevel::None) => Ok(None),
            Ok(level) => Ok(Some(level)),
            Err(refusal) => Err(no_sandbox(&refusal)),
        }
    }

    /// The sandbox of a program, with the share of the commands' sandbox that the settings give it.
    fn of_program(
        &self,
        share: SandboxShare,
        cancel: &CancellationToken,
    ) -> Result<PlannedSandbox, ToolError> {
        match share {
            SandboxShare::Off => Ok(PlannedSandbox::default()),
            SandboxShare::Processes => {
                let with_level = |level| {
                    let limits = self.settings.limits;
                    Arc::new(SandboxPlan { level, limits, ..SandboxPlan::default() })
                };
                let level = self.level()?.unwrap_or_default();
                Ok(PlannedSandbox { plan: Some(with_level(level)), ..PlannedSandbox::default() })
            }
            SandboxShare::Commands => self.planned(&NamedPlaces::default(), cancel),
        }
    }

    /// The plan on a machine without a sandbox: resource limits only.
    fn limits_alone(&self) -> PlannedSandbox {
        let settings = &self.settings;
        let wanted = [
            (!self.policy.limits.is_empty(), "rules about files"),
            (settings.network != SandboxNetwork::Allow, "the network"),
            (settings.writes == SandboxWrites::Workspace, "where commands may write"),
        ];
        let not_enforced = wanted.into_iter().filter(|it| it.0);
        PlannedSandbox {
            plan: Some(Arc::new(SandboxPlan { limits: settings.limits, ..SandboxPlan::default() })),
            not_enforced: not_enforced
                .map(|it| format!("{}: this machine has no sandbox", it.1))
                .collect(),
            ..PlannedSandbox::default()
        }
    }

    fn planned(
        &self,
        named: &NamedPlaces,
        cancel: &CancellationToken,
    ) -> Result<PlannedSandbox, ToolError> {
        let Some(level) = self.level()? else { return Ok(self.limits_alone()) };
        let places = self.policy.engine.places();
        let policy = self.plans.following_links(&self.policy);
        let sources = PlanSources {
            level,
            limits: &policy.limits,
            policy: policy.number,
            places,
            named,
            is_confirmed: self.line.as_ref().is_some_and(|it| it.is_confirmed),
            is_plan_mode: self.policy.engine.mode().is_plan(),
            settings: &self.settings,
            temporary: &temporary_directories(&self.tasks.settings),
            finder: &self.plans.finder,
            cancel,
        };
        let mut built = sources.plan();
        if cancel.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        if let Some(cause) = built.incomplete.as_ref()
            && self.settings.mode == SandboxMode::Required
        {
            return Err(refused(cause));
        }
        built.not_enforced.extend(self.plans.tracked.notes(&places.roots, &built.plan.hidden));
        Ok(PlannedSandbox {
            plan: Some(Arc::new(built.plan)),
            proxy: CommandProxyStarter::of(&self.settings.network, &self.policy.engine, &self.web)?,
            incomplete: built.incomplete,
            not_enforced: built.not_enforced,
            watched: built.watched,
            to_be_made: built.to_be_made,
        })
    }
}

impl SandboxPlanner for CallPlanner {
    fn of_command(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError> {
        self.planned(&self.named(), cancel)
    }

    fn of_hook(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError> {
        self.of_program(self.settings.hooks, cancel)
    }

    fn is_quick(&self) -> bool {
        const LONG_LINE: usize = 2_048;
        let is_long = |it: &Access| matches!(it, Access::Run(line) if line.len() > LONG_LINE);
        self.tasks.is_warm()
            && self.policy.limits.is_empty()
            && !self.line.iter().flat_map(|it| &it.accesses).any(is_long)
    }
}

/// Plans the programs of MCP servers.
struct ServerPlanner {
    plans: Arc<SandboxPlans>,
    policy: Arc<CurrentPolicy>,
    settings: Arc<SandboxSettings>,
    web: WebClient,
    tasks: Arc<TaskManager>,
}

impl SandboxPlanner for ServerPlanner {
    fn of_command(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError> {
        let planner = CallPlanner {
            plans: Arc::clone(&self.plans),
            policy: self.plans.of(&self.policy.get()),
            settings: Arc::clone(&self.settings),
            web: self.web.clone(),
            tasks: Arc::clone(&self.tasks),
            line: None,
        };
        planner.of_program(self.settings.mcp_servers, cancel)
    }

    fn of_hook(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError> {
        self.of_command(cancel)
    }

    fn is_quick(&self) -> bool {
        false
    }
}

/// The error of a command that needs a sandbox on a machine without one.
fn no_sandbox(refusal: &SandboxRefusal) -> ToolError {
    let message = "commands cannot be run here: they need a sandbox, and this machine has none that is good \
                   enough; tell the user";
    ToolError::new(ErrorKind::PolicyDenied, message).with_details(
        &refusal.to_string(),
        refusal.next_step(),
        Vec::new(),
    )
}

/// The error of a command whose sandbox would be incomplete, where a complete one is required.
fn refused(cause: &str) -> ToolError {
    let message = "the command needs a sandbox that enforces everything the user has limited, and that cannot be \
                   made here; ask the user";
    ToolError::new(ErrorKind::PolicyDenied, message).with_details(
        &format!("the sandbox of the command would not be complete: {cause}"),
        "a host can allow it by rules that name fewer places, such as `./dir/**` instead of `**/name`, or by \
         `sandbox: \"auto\"`",
        Vec::new(),
    )
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
