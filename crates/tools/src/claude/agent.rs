//! `Agent`: starts another agent for a part of the work, in a separate conversation.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolwright_base::{
    Access, DataScope, ErrorKind, InPlanMode, PermissionMode, SideEffect, ToolError, ToolKind,
};
use toolwright_core::{CallPlan, NewAgent, Tool, ToolContext, ToolOutput};
use toolwright_process::RunMode;

use crate::{
    agent_answer::AgentFacts,
    agent_run::{self, AgentToRun},
};

#[derive(Default)]
pub(super) struct Agent;

/// The longest prompt in bytes.
const MAX_PROMPT_BYTES: usize = 1_000_000;
/// The longest of the other texts, in characters.
const MAX_NAME: usize = 200;
/// The most turns that a call can ask for.
const MAX_TURNS: u32 = 10_000;
/// Longer than any timeout that a host can set for agents (`limits.agentTimeoutMs`).
const CALL_LIMIT: Duration = Duration::from_secs(2_147_483 + 60);

/// The models that an agent can be given.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AgentModel {
    Sonnet,
    Opus,
    Haiku,
}

/// The permission modes, without doc comments, which models do not need.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum AgentMode {
    AcceptEdits,
    BypassPermissions,
    Default,
    DontAsk,
    Plan,
}

impl From<AgentMode> for PermissionMode {
    fn from(mode: AgentMode) -> Self {
        match mode {
            AgentMode::AcceptEdits => Self::AcceptEdits,
            AgentMode::BypassPermissions => Self::BypassPermissions,
            AgentMode::Default => Self::Default,
            AgentMode::DontAsk => Self::DontAsk,
            AgentMode::Plan => Self::Plan,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The task in three to five words, for the person who watches.
    #[schemars(length(min = 1, max = MAX_NAME))]
    description: String,
    /// The task, with everything the agent needs to know.
    #[schemars(length(min = 1, max = MAX_PROMPT_BYTES))]
    prompt: String,
    /// The kind of agent, such as general-purpose.
    #[schemars(length(min = 1, max = MAX_NAME))]
    subagent_type: String,
    /// The model of the agent. Default: chosen by the host.
    #[serde(default)]
    model: Option<AgentModel>,
    /// The id of an earlier agent, to continue it.
    #[serde(default)]
    resume: Option<String>,
    /// Answer at once with a task id, and let the agent work.
    #[serde(default)]
    run_in_background: Option<bool>,
    /// How many turns the agent may take.
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_TURNS))]
    max_turns: Option<u32>,
    /// The name of the agent in its team.
    #[serde(default)]
    #[schemars(length(min = 1, max = MAX_NAME))]
    name: Option<String>,
    /// The team that the agent joins.
    #[serde(default)]
    #[schemars(length(min = 1, max = MAX_NAME))]
    team_name: Option<String>,
    /// The permission mode of the agent, which can only be stricter than yours.
    #[serde(default)]
    mode: Option<AgentMode>,
}

impl Tool for Agent {
    type Input = Input;
    type Plan = AgentToRun;

    const NAME: &'static str = "Agent";
    const TITLE: &'static str = "Start Agent";
    const DESCRIPTION: &'static str = include_str!("../description/agent.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Spawns;
    const KIND: ToolKind = ToolKind::PLAIN.in_plan_mode(InPlanMode::Asked);
    const ALIASES: &'static [&'static str] = &["Task"];
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<AgentToRun, ToolError> {
        for (name, text) in [("description", &input.description), ("prompt", &input.prompt)] {
            if text.trim().is_empty() {
                let message = format!("parameter `{name}` is blank; say what the agent is to do");
                return Err(ToolError::new(ErrorKind::Validation, message));
            }
        }
        if input.team_name.is_some() && input.name.is_none() {
            let message = "parameter `name` is missing: a member of a team needs a name";
            return Err(ToolError::new(ErrorKind::Validation, message));
        }
        let mut request = json!({
            "description": input.description,
            "prompt": input.prompt,
            "subagent_type": input.subagent_type,
        });
        let optional = [
            ("model", json!(input.model)),
            ("run_in_background", json!(input.run_in_background)),
            ("max_turns", json!(input.max_turns)),
            ("name", json!(input.name)),
            ("team_name", json!(input.team_name)),
            ("mode", json!(input.mode)),
        ];
        if let Some(request) = request.as_object_mut() {
            let given = optional.into_iter().filter(|(_, value)| !value.is_null());
            request.extend(given.map(|(name, value)| (name.to_owned(), value)));
        }
        Ok(AgentToRun {
            request,
            prompt: input.prompt,
            said: NewAgent {
                description: input.description,
                subagent_type: input.subagent_type,
                name: input.name,
                team_name: input.team_name,
            },
            resume: input.resume,
            mode: input.mode.map(PermissionMode::from),
            run_mode: if input.run_in_background == Some(true) {
                RunMode::Background
            } else {
                RunMode::Foreground
            },
        })
    }
}

impl CallPlan for AgentToRun {
    type Output = AgentFacts;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        let AgentToRun { said, resume, run_mode, .. } = self;
        let what = match resume {
            Some(id) => format!("Resume agent {id}"),
            None => format!("Start {} agent", said.subagent_type),
        };
        let how = match run_mode {
            RunMode::Foreground => "",
            RunMode::Background => " in the background",
        };
        format!("{what}{how}: {}\n\n{}", said.description, self.prompt)
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<AgentFacts>, ToolError> {
        agent_run::run(self, cx).await
    }
}
