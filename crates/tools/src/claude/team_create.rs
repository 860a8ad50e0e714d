//! `TeamCreate`: makes a team of agents that the session leads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolwright_base::{Access, SideEffect, ToolError};
use toolwright_core::{CallPlan, ForModel as _, HandlerName, Tool, ToolContext, ToolOutput};
use toolwright_team::{LEAD_NAME, NewTeam, Teams};

use crate::team_sending::by_host;

#[derive(Default)]
pub(super) struct TeamCreate;

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The name of the team.
    #[schemars(length(min = 1, max = 64))]
    team_name: String,
    /// What the team is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// What kind of agent you are in the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_type: Option<String>,
}

/// The team that was made.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MadeTeam {
    team_name: String,
    /// The name by which members write to you; unknown where the host has its own coordinator.
    #[serde(skip_serializing_if = "Option::is_none")]
    lead_name: Option<String>,
}

impl Tool for TeamCreate {
    type Input = Input;
    type Plan = Input;

    const NAME: &'static str = "TeamCreate";
    const TITLE: &'static str = "Create Team";
    const DESCRIPTION: &'static str = include_str!("../description/team_create.md");
    // A coordinator of the host may start agents for it.
    const SIDE_EFFECT: SideEffect = SideEffect::Spawns;

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Input, ToolError> {
        Ok(input)
    }
}

impl CallPlan for Input {
    type Output = MadeTeam;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        let purpose = self.description.as_ref().map_or(String::new(), |it| format!(": {it}"));
        format!("Create the team {}{purpose}", self.team_name)
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<MadeTeam>, ToolError> {
        let made = format!("made the team `{}`", self.team_name);
        if let Some(words) = by_host(HandlerName::TeamCreate, &json!(self), &made, cx).await? {
            let facts = MadeTeam { team_name: self.team_name, lead_name: None };
            return Ok(ToolOutput::text(words).with_data(facts));
        }
        let team = NewTeam { name: self.team_name, description: self.description };
        let created = Teams::of(&cx.session.shared).create(&cx.session.id, team).for_model()?;
        let words = format!("{made}; you lead it as `{LEAD_NAME}`");
        let lead_name = Some(LEAD_NAME.to_owned());
        Ok(ToolOutput::text(words).with_data(MadeTeam { team_name: created.name, lead_name }))
    }
}
