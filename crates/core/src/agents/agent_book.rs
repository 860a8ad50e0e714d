//! Keeps track of agents: which run, which agent started which, and which can be resumed.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use toolwright_base::{SHOWN_NAME, shortened};

use parking_lot::Mutex;

use super::{AgentLimits, agent_id::new_agent_id};

/// How many ended agents can be resumed. The oldest are dropped first.
const MAX_ENDED: usize = 64;
/// How many agents an error names.
const MAX_NAMED: usize = 10;

/// The description of an agent to start.
#[derive(Clone, Debug, Default)]
pub struct NewAgent {
    /// Its task, in a few words.
    pub description: String,
    /// The kind of agent, such as `general-purpose`.
    pub subagent_type: String,
    /// Its name among the members of a team.
    pub name: Option<String>,
    /// The team it belongs to.
    pub team_name: Option<String>,
}

/// The record of an agent.
#[derive(Clone, Debug)]
pub struct AgentRecord {
    /// Its id, which is also the id of its session.
    pub id: String,
    /// The session that started it.
    pub parent_id: String,
    /// Its nesting depth, starting at 1.
    pub depth: u32,
    /// The description it was started with.
    pub said: NewAgent,
    /// The host's id for it, if the host gave one.
    pub host_id: Option<String>,
}

/// Why an agent cannot be started.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentRefusal {
    /// Agents are nested too deep.
    #[error("{}; do the work yourself", too_deep(*max))]
    TooDeep {
        /// The limit.
        max: u32,
    },
    /// Too many agents are running.
    #[error(
        "{max} agents are running already, which is the limit; wait for one to end, or stop one that runs \
         in the background"
    )]
    TooMany {
        /// The limit.
        max: u32,
    },
    /// No agent of this conversation has this id.
    #[error("no agent of this conversation has the id `{id}`; {}", known_agents(.known))]
    Unknown {
        /// The requested id.
        id: String,
        /// The latest agents of the conversation that can be resumed, with their tasks.
        known: Vec<(String, String)>,
    },
    /// The agent is running.
    #[error("agent `{0}` is still running; wait for it to end before you resume it")]
    Running(String),
}

fn too_deep(max: u32) -> String {
    match max {
        0 => "no agents can be started here".to_owned(),
        max => {
            format!("agents may be nested {max} deep at most, and you are an agent of that depth")
        }
    }
}

fn known_agents(known: &[(String, String)]) -> String {
    let name = |(id, description): &(String, String)| format!("`{id}` ({description})");
    match known {
        [] => "no agent can be resumed; start a new one without `resume`".to_owned(),
        known => format!(
            "the latest are {}",
            known.iter().take(MAX_NAMED).map(name).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// All agents of a registry.
#[derive(Debug, Default)]
pub struct AgentBook {
    /// The limits of the registry.
    pub limits: AgentLimits,
    agents: Mutex<KnownAgents>,
}

#[derive(Debug, Default)]
struct KnownAgents {
    running: HashMap<String, AgentRecord>,
    /// Agents that can be resumed, oldest first.
    ended: VecDeque<AgentRecord>,
}

/// A running agent. It ends when this is dropped.
#[derive(Debug)]
pub struct BegunAgent {
    /// Its record.
    pub record: AgentRecord,
    /// The agents that were dropped to make room for it. They can no longer be resumed.
    pub forgotten: Vec<String>,
    book: Arc<AgentBook>,
}

impl AgentBook {
    /// An empty book.
    pub fn new(limits: AgentLimits) -> Self {
        Self { limits, agents: Mutex::default() }
    }

    /// Records an agent that a session starts.
    pub fn begin(
        self: &Arc<Self>,
        parent_id: &str,
        said: NewAgent,
    ) -> Result<BegunAgent, AgentRefusal> {
        let mut agents = self.agents.lock();
        let depth = agents.depth_below(parent_id);
        let id = new_agent_id();
        let parent_id = parent_id.to_owned();
        self.start(&mut agents, AgentRecord { id, parent_id, depth, said, host_id: None })
    }

    /// Records that a session resumes an agent that it started before. The id is the agent's, or the
    /// host's id for it.
    pub fn resume(
        self: &Arc<Self>,
        parent_id: &str,
        id: &str,
        said: NewAgent,
    ) -> Result<BegunAgent, AgentRefusal> {
        let mut agents = self.agents.lock();
        let is_meant = |it: &AgentRecord| {
            it.parent_id == parent_id && (it.id == id || it.host_id.as_deref() == Some(id))
        };
        if let Some(running) = agents.running.values().find(|it| is_meant(it)) {
            return Err(AgentRefusal::Running(running.id.clone()));
        }
        let Some(index) = agents.ended.iter().position(is_meant) else {
            return Err(agents.unknown(parent_id, id));
        };
        let Some(record) = agents.ended.remove(index) else {
            return Err(agents.unknown(parent_id, id));
        };
        // If the start is refused, the agent can still be resumed later.
        let resumed = AgentRecord { said, ..record.clone() };
        self.start(&mut agents, resumed).inspect_err(|_| agents.ended.insert(index, record))
    }

    fn start(
        self: &Arc<Self>,
        agents: &mut KnownAgents,
        record: AgentRecord,
    ) -> Result<BegunAgent, AgentRefusal> {
        let AgentLimits { max_depth, max_running, .. } = self.limits;
        if record.depth > max_depth {
            return Err(AgentRefusal::TooDeep { max: max_depth });
        }
        if agents.running.len() >= max_running as usize {
            return Err(AgentRefusal::TooMany { max: max_running });
        }
        agents.running.insert(record.id.clone(), record.clone());
        let surplus = agents.ended.len().saturating_sub(MAX_ENDED);
        let forgotten = agents.ended.drain(..surplus).map(|it| it.id).collect();
        Ok(BegunAgent { record, forgotten, book: Arc::clone(self) })
    }
}

impl KnownAgents {
    /// The depth of an agent that a session starts.
    fn depth_below(&self, session_id: &str) -> u32 {
        self.running.get(session_id).map_or(0, |it| it.depth).saturating_add(1)
    }

    fn unknown(&self, parent_id: &str, id: &str) -> AgentRefusal {
        let own = self.ended.iter().rev().filter(|it| it.parent_id == parent_id);
        let known = own.take(MAX_NAMED).map(|it| (it.id.clone(), it.said.description.clone()));
        AgentRefusal::Unknown { id: shortened(id, SHOWN_NAME).into_owned(), known: known.collect() }
    }
}

impl BegunAgent {
    /// Drops an agent whose start failed: there is nothing to resume.
    pub fn discard(self) {
        self.book.agents.lock().running.remove(&self.record.id);
    }

    /// Stores the host's id for the agent, by which it can be resumed.
    pub fn keep_host_id(&mut self, host_id: String) {
        self.record.host_id = Some(host_id);
    }
}

impl Drop for BegunAgent {
    fn drop(&mut self) {
        let mut agents = self.book.agents.lock();
        if agents.running.remove(&self.record.id).is_some() {
            agents.ended.push_back(self.record.clone());
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn book(max_depth: u32, max_running: u32) -> Arc<AgentBook> {
        let limits = AgentLimits { max_depth, max_running, ..AgentLimits::default() };
        Arc::new(AgentBook::new(limits))
    }

    fn said(description: &str) -> NewAgent {
        NewAgent { description: description.to_owned(), ..NewAgent::default() }
    }

    #[test]
    fn agents_are_nested_up_to_the_limit() {
        let book = book(2, 9);
        let first = book.begin("main", said("a")).unwrap();
        let second = book.begin(&first.record.id, said("b")).unwrap();
        assert_eq!((first.record.depth, second.record.depth), (1, 2));
        let third = book.begin(&second.record.id, said("c"));
        assert_eq!(third.unwrap_err(), AgentRefusal::TooDeep { max: 2 });
    }

    #[test]
    fn an_agent_that_was_not_started_cannot_be_resumed() {
        let book = book(1, 1);
        let begun = book.begin("main", said("a")).unwrap();
        let id = begun.record.id.clone();
        begun.discard();
        let refused = book.resume("main", &id, said("a")).unwrap_err();
        assert_eq!(refused, AgentRefusal::Unknown { id, known: Vec::new() });
        assert!(book.begin("main", said("b")).is_ok());
    }

    #[test]
    fn the_number_of_running_agents_is_limited() {
        let book = book(1, 2);
        let one = book.begin("main", said("a")).unwrap();
        let _two = book.begin("other", said("b")).unwrap();
        let refused = book.begin("main", said("c"));
        assert_eq!(refused.unwrap_err(), AgentRefusal::TooMany { max: 2 });
        drop(one);
        assert!(book.begin("main", said("c")).is_ok());
    }

    #[test]
    fn an_agent_is_resumed_only_by_its_conversation_and_after_it_has_ended() {
        let book = book(1, 2);
        let mut agent = book.begin("main", said("a")).unwrap();
        agent.keep_host_id("sdk-7".to_owned());
        let id = agent.record.id.clone();
        let refused = book.resume("main", &id, said("again"));
        assert_eq!(refused.unwrap_err(), AgentRefusal::Running(id.clone()));
        drop(agent);
        let foreign = book.resume("other", &id, said("again")).unwrap_err();
        assert_eq!(foreign, AgentRefusal::Unknown { id: id.clone(), known: Vec::new() });
        let wrong = book.resume("main", "agent-x", said("again")).unwrap_err().to_string();
        assert!(wrong.contains(&format!("`{id}` (a)")), "{wrong}");
        let again = book.resume("main", "sdk-7", said("again")).unwrap();
        assert_eq!(again.record.id, id);
        assert_eq!(again.record.said.description, "again");
        drop(again);
        assert!(book.resume("main", &id, said("third")).is_ok());
    }

    #[test]
    fn a_refused_resume_can_be_retried() {
        let book = book(1, 1);
        let id = book.begin("main", said("a")).unwrap().record.id.clone();
        let other = book.begin("main", said("b")).unwrap();
        assert!(book.resume("main", &id, said("again")).is_err());
        drop(other);
        assert!(book.resume("main", &id, said("again")).is_ok());
    }

    #[test]
    fn ended_agents_are_dropped_oldest_first() {
        let book = book(1, 1);
        let mut forgotten = Vec::new();
        let mut ids = Vec::new();
        for _ in 0..MAX_ENDED + 10 {
            let agent = book.begin("main", said("a")).unwrap();
            ids.push(agent.record.id.clone());
            forgotten.extend(agent.forgotten.iter().cloned());
        }
        assert_eq!(forgotten, ids.iter().take(9).cloned().collect::<Vec<_>>());
    }
}
