//! Gives agents that are started with `team_name` and `name` their place in the team.

use crate::{
    agents::NewAgent,
    error::ToolError,
    team::{Membership, NewMember},
    tool::{HandlerName, ToolContext},
};

/// The place of an agent that the call starts or resumes, if it has one. An agent that is resumed keeps its
/// place without being told again. A coordinator of the host knows its members itself.
pub(super) fn membership_of(
    said: &NewAgent,
    session: &str,
    cx: &ToolContext,
) -> Result<Option<Membership>, ToolError> {
    if cx.handlers.get(HandlerName::TeamSend).is_some() {
        return Ok(None);
    }
    let teams = &cx.session.shared.teams;
    let (Some(team), Some(name)) = (said.team_name.clone(), said.name.clone()) else {
        return Ok(teams.rejoin(session));
    };
    let member = NewMember { team, name, session: session.to_owned() };
    Ok(Some(teams.join(&cx.session.id, member)?))
}
