//! Agents, and teams that are not used.

use std::sync::Arc;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{HandlerName, Handlers, HostHandler, ToolContext};
use toolwright_test_bed::{TestBed, kind};

/// A host's function that answers at once.
struct Done;

#[async_trait]
impl HostHandler for Done {
    async fn call(&self, _: &Value, _: Value, _: &ToolContext) -> Result<Value, ToolError> {
        Ok(json!("done"))
    }

    async fn call_until_stopped(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
        _: &CancellationToken,
    ) -> Result<Value, ToolError> {
        self.call(input, facts, cx).await
    }
}

#[tokio::test]
async fn mail_is_started_by_the_first_team_and_not_by_calls_without_one() {
    let mut bed = TestBed::new();
    let mut handlers = Handlers::default();
    handlers.insert(HandlerName::SpawnAgent, Arc::new(Done));
    bed.pipeline.handlers = Arc::new(handlers);
    let mail = &bed.pipeline.sessions.shared().mail;
    let alone = json!({ "description": "look", "prompt": "look", "subagent_type": "any" });
    let in_a_team = json!({
        "description": "look",
        "prompt": "look",
        "subagent_type": "any",
        "team_name": "red",
        "name": "anna",
    });
    let agent = bed.call("Agent", alone).await;
    assert_eq!((agent.error.as_ref(), agent.content.is_empty()), (None, false));
    let message = json!({ "type": "message", "recipient": "anna", "content": "hello" });
    for (name, input) in
        [("Agent", in_a_team.clone()), ("SendMessage", message), ("TeamDelete", json!({}))]
    {
        assert_eq!(kind(&bed.call(name, input).await), Some(ErrorKind::Team), "{name}");
    }
    assert!(mail.started().is_none());
    let made = bed.call("TeamCreate", json!({ "team_name": "red" })).await;
    assert_eq!(made.error, None);
    assert!(mail.started().is_some());
    assert_eq!(bed.call("Agent", in_a_team).await.error, None);
}
