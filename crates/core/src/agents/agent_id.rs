//! The ids of agents, which are also the ids of their sessions.

use uuid::Uuid;

/// The prefix of every id.
const PREFIX: &str = "agent-";
/// The number of hexadecimal digits after the prefix.
const DIGITS: usize = 16;

/// An id that is unique in this process and in others that share its store.
pub(super) fn new_agent_id() -> String {
    let random = Uuid::new_v4().simple().to_string();
    let digits: String = random.chars().take(DIGITS).collect();
    format!("{PREFIX}{digits}")
}

/// True for an id that only an agent can have. If no running agent has it, a session with such an id
/// accepts no calls: it would otherwise have the rights of the host's own sessions.
pub fn is_agent_id(id: &str) -> bool {
    let is_digit = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    id.strip_prefix(PREFIX).is_some_and(|it| it.len() == DIGITS && it.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_ids_are_recognized() {
        let (one, other) = (new_agent_id(), new_agent_id());
        assert!(is_agent_id(&one) && is_agent_id(&other));
        assert_ne!(one, other);
        for id in ["", "agent-", "agent-1", "agent-0123456789abcdeg", "x-0123456789abcdef"] {
            assert!(!is_agent_id(id), "{id}");
        }
    }
}
