//! `TeamDelete`: ends the team that the session leads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolwright_base::{Access, SideEffect, ToolError, ToolKind};
use toolwright_core::{CallPlan, ForModel as _, HandlerName, Tool, ToolContext, ToolOutput};
use toolwright_team::Teams;

use crate::team_sending::by_host;

#[derive(Default)]
pub(super) struct TeamDelete;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

/// The team that was ended; empty if the host has its own coordinator.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndedTeam {
    #[serde(skip_serializing_if = "Option::is_none")]
    team_name: Option<String>,
    /// The members that it had, without its lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<Vec<String>>,
}

/// A call has no parameters.
pub(super) struct Plan;

impl Tool for TeamDelete {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "TeamDelete";
    const TITLE: &'static str = "End Team";
    const DESCRIPTION: &'static str = include_str!("../description/team_delete.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Blocking;
    // It only ends a team that the session itself created.
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();

    fn plan(&self, _input: Input, _cx: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan)
    }
}

impl CallPlan for Plan {
    type Output = EndedTeam;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        "End the team".to_owned()
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<EndedTeam>, ToolError> {
        let ended = "the team has ended";
        if let Some(words) = by_host(HandlerName::TeamDelete, &json!({}), ended, cx).await? {
            let facts = EndedTeam { team_name: None, members: None };
            return Ok(ToolOutput::text(words).with_data(facts));
        }
        let deleted = Teams::existing(&cx.session.shared).delete(&cx.session.id).for_model()?;
        let members = match deleted.members.as_slice() {
            [] => "it had no members".to_owned(),
            names => format!("its members were `{}`", names.join("`, `")),
        };
        let words = format!("the team `{}` has ended; {members}", deleted.name);
        let facts = EndedTeam { team_name: Some(deleted.name), members: Some(deleted.members) };
        Ok(ToolOutput::text(words).with_data(facts))
    }
}
