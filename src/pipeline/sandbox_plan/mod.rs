//! From policy to a plan: what the kernel holds a command to, made when the command starts.
//!
//! Rules and protected places are patterns and names; a sandbox needs files. They are looked for on the disk,
//! within a bound, and what a permitted line names is left open to it.

mod explanation;
mod git_places;
mod opened_places;
mod plan_builder;
mod protected_places;
mod proxy_door;
mod tracked_files;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio_util::sync::CancellationToken;

pub use self::explanation::{ExplainedCall, SandboxExplanation};
use self::{plan_builder::PlanSources, proxy_door::ProxyDoor, tracked_files::TrackedFiles};
use super::Pipeline;
use crate::{
    error::{ErrorKind, ToolError},
    net::WebClient,
    policy::{
        CurrentPolicy, FileLimits, LimitedStart, LinkedStart, NamedPlaces, Origin, PolicyEngine,
        PolicyPlaces, Question,
    },
    process::{
        ProcessSettings, SandboxMode, SandboxNetwork, SandboxSettings, SandboxShare, SandboxWrites,
        TaskManager,
        sandbox::{SandboxLevel, SandboxPlan, SandboxRefusal},
    },
    registry::Entry,
    tool::{
        Access, Annotations, CommandSandbox, PlannedSandbox, Prepared, SandboxPlanner, SideEffect,
        ToolContext, ToolKind,
    },
    workspace::{place_finder::PlaceFinder, real_place},
};

/// What plans share: the listings of directories, and the limits of the policies that were used last.
#[derive(Debug, Default)]
pub(super) struct SandboxPlans {
    finder: PlaceFinder,
    tracked: TrackedFiles,
    policies: Mutex<Vec<KnownPolicy>>,
    next_policy: AtomicU64,
}

/// How many policies are kept: that of the registry, and those of a few sessions.
const MAX_POLICIES: usize = 4;

#[derive(Clone, Debug)]
struct KnownPolicy {
    engine: Arc<PolicyEngine>,
    limits: Arc<FileLimits>,
    /// Tells it apart from others.
    number: u64,
}

impl SandboxPlans {
    /// The limits of a policy.
    fn of(&self, engine: &Arc<PolicyEngine>) -> KnownPolicy {
        let mut policies = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// The same policy, with its limits by the links as they are now. It looks at files.
    fn following_links(&self, policy: &KnownPolicy) -> KnownPolicy {
        let links = links_now(&policy.limits, policy.engine.places());
        if policy.limits.links() == links {
            return policy.clone();
        }
        let mut policies = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
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

/// The places of limits that links lead to.
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

/// True for a link to a directory that contains the workspace. If all of it were closed, nothing would be left to work
/// with; whoever writes `~` means just that.
fn leads_around(written: &Path, place: &Path, places: &PolicyPlaces) -> bool {
    let contains = |directory: &Path, it: &PathBuf| it.starts_with(directory);
    written != place
        && places.roots.iter().chain(&places.home).any(|it| contains(place, it))
        && !places.home.iter().any(|it| contains(written, it))
}

/// A call as policy judged it.
#[derive(Clone, Debug)]
struct PlannedLine {
    tool: String,
    kind: ToolKind,
    accesses: Vec<Access>,
    directory: PathBuf,
    /// True when a person agreed to it.
    is_agreed: bool,
}

/// Plans the commands of one call.
struct CallPlanner {
    plans: Arc<SandboxPlans>,
    policy: KnownPolicy,
    settings: Arc<SandboxSettings>,
    web: WebClient,
    tasks: Arc<TaskManager>,
    /// The call; none before it was judged.
    line: Option<PlannedLine>,
}

impl Pipeline {
    /// What the commands of a call are held to that policy has not judged: those of its hooks.
    pub(super) fn sandbox_before_judgement(&self, cx: &ToolContext) -> CommandSandbox {
        self.planner(&self.engine(cx), None)
            .map_or_else(CommandSandbox::none, CommandSandbox::planned_by)
    }

    /// What the commands of a call are held to that may run.
    pub(super) fn sandbox(
        &self,
        entry: &Entry,
        prepared: &dyn Prepared,
        is_agreed: bool,
        cx: &ToolContext,
    ) -> CommandSandbox {
        let line = judged_line(entry, prepared, is_agreed, cx);
        self.planner(&self.engine(cx), Some(line))
            .map_or_else(CommandSandbox::none, CommandSandbox::planned_by)
    }

    /// What the command of a call would be held to; none if it runs none. It looks at files.
    pub(super) fn explained_sandbox(
        &self,
        entry: &Entry,
        prepared: &dyn Prepared,
        cx: &ToolContext,
    ) -> Result<Option<SandboxExplanation>, ToolError> {
        if !prepared.accesses().iter().any(|it| matches!(it, Access::Run(_))) {
            return Ok(None);
        }
        let planner = self.planner(&self.engine(cx), Some(judged_line(entry, prepared, false, cx)));
        let sandbox = planner.map(|it| it.of_command(&cx.cancel)).transpose()?;
        Ok(Some(SandboxExplanation::of(&sandbox.unwrap_or_default())))
    }

    /// What the programs of MCP servers are held to: by the policy of the registry, when they are started.
    pub(crate) fn server_sandbox(&self) -> CommandSandbox {
        let shared = self.sessions.shared();
        if !has_sandbox(&shared.sandbox) {
            return CommandSandbox::none();
        }
        CommandSandbox::planned_by(ServerPlanner {
            plans: Arc::clone(&self.sandbox_plans),
            policy: Arc::clone(&self.policy),
            settings: Arc::clone(&shared.sandbox),
            web: shared.web.clone(),
            tasks: Arc::clone(&shared.tasks),
        })
    }

    fn planner(
        &self,
        engine: &Arc<PolicyEngine>,
        line: Option<PlannedLine>,
    ) -> Option<CallPlanner> {
        let shared = self.sessions.shared();
        if !has_sandbox(&shared.sandbox) {
            return None;
        }
        Some(CallPlanner {
            plans: Arc::clone(&self.sandbox_plans),
            policy: self.sandbox_plans.of(engine),
            settings: Arc::clone(&shared.sandbox),
            web: shared.web.clone(),
            tasks: Arc::clone(&shared.tasks),
            line,
        })
    }
}

fn judged_line(
    entry: &Entry,
    prepared: &dyn Prepared,
    is_agreed: bool,
    cx: &ToolContext,
) -> PlannedLine {
    let spec = entry.tool.spec();
    let directory = prepared.directory().unwrap_or_else(|| cx.session.shared.roots.first());
    PlannedLine {
        tool: spec.name.clone(),
        kind: spec.kind,
        accesses: prepared.accesses().to_vec(),
        directory: directory.to_owned(),
        is_agreed,
    }
}

/// False where no command has a sandbox.
fn has_sandbox(settings: &SandboxSettings) -> bool {
    cfg!(target_os = "linux") && settings.mode != SandboxMode::Off
}

/// Where commands put temporary files.
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

    /// The level that commands get here; none for no sandbox.
    fn level(&self) -> Result<Option<SandboxLevel>, ToolError> {
        let support = self.tasks.sandbox_support_now();
        match self.settings.level_on(&support) {
            Ok(SandboxLevel::None) => Ok(None),
            Ok(level) => Ok(Some(level)),
            Err(refusal) => Err(no_sandbox(&refusal)),
        }
    }

    /// The sandbox of a program, as far as it shares that of commands.
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

    /// What commands are held to on a machine without a sandbox.
    fn limits_alone(&self) -> PlannedSandbox {
        let settings = &self.settings;
        let wanted = [
            (!self.policy.limits.is_empty(), "rules about files"),
            (settings.network != SandboxNetwork::Allow, "the network"),
            (settings.writes == SandboxWrites::Workspace, "where commands may write"),
        ];
        let not_held = wanted.into_iter().filter(|it| it.0);
        PlannedSandbox {
            plan: Some(Arc::new(SandboxPlan { limits: settings.limits, ..SandboxPlan::default() })),
            not_held: not_held.map(|it| format!("{}: this machine has no sandbox", it.1)).collect(),
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
            is_agreed: self.line.as_ref().is_some_and(|it| it.is_agreed),
            only_looks: self.policy.engine.mode().is_plan(),
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
        built.not_held.extend(self.plans.tracked.told(&places.roots, &built.plan.hidden));
        Ok(PlannedSandbox {
            plan: Some(Arc::new(built.plan)),
            door: ProxyDoor::of(&self.settings.network, &self.policy.engine, &self.web)?,
            incomplete: built.incomplete,
            not_held: built.not_held,
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

/// The error of a command that must not run without a sandbox.
fn no_sandbox(refusal: &SandboxRefusal) -> ToolError {
    let message = "commands cannot be run here: they need a sandbox, and this machine has none that is good \
                   enough; tell the user";
    ToolError::new(ErrorKind::PolicyDenied, message).with_details(
        &refusal.to_string(),
        refusal.next_step(),
        Vec::new(),
    )
}

/// The error of a command whose files cannot all be looked at, where a sandbox is required.
fn refused(cause: &str) -> ToolError {
    let message = "the command needs a sandbox that holds everything the user has limited, and that cannot be \
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
