//! Gives agents that are started with `team_name` and `name` their place in the team.

use toolwright_base::ToolError;
use toolwright_core::{ForModel as _, HandlerName, NewAgent, ToolContext};
use toolwright_team::{Membership, NewMember, Teams};

/// The place in a team of an agent that the call starts or resumes, if it has one. A resumed agent keeps its
/// place without naming it again. If the host has its own coordinator, that one manages the members.
pub(super) fn membership_of(
    said: &NewAgent,
    session: &str,
    cx: &ToolContext,
) -> Result<Option<Membership>, ToolError> {
    if cx.handlers.get(HandlerName::TeamSend).is_some() {
        return Ok(None);
    }
    let teams = Teams::existing(&cx.session.shared);
    let (Some(team), Some(name)) = (said.team_name.clone(), said.name.clone()) else {
        return Ok(teams.rejoin(session));
    };
    let member = NewMember { team, name, session: session.to_owned() };
    Ok(Some(teams.join(&cx.session.id, member).for_model()?))
}
