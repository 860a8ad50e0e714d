//! Calls in the session of an agent, and the end of that session.

use pretty_assertions::assert_eq;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind};
use toolwright_core::{
    CallPlan, ChildSession, NoData, Tool, ToolContext, ToolOutput, ToolSource, Typed,
};
use toolwright_pipeline::CallOptions;
use toolwright_test_bed::{TestBed, kind};
use toolwright_tools::ToolSet;

const AGENT: &str = "agent-0123456789abcdef";

/// Opens the session of an agent. In that session it closes it, and fails at once, like a command that was
/// killed because the session was closed.
struct OpenOrClose;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Tool for OpenOrClose {
    type Input = Nothing;
    type Plan = Nothing;

    const NAME: &'static str = "open_or_close";
    const TITLE: &'static str = "Open or close";
    const DESCRIPTION: &'static str = "Opens or closes a session.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::PLAIN;

    fn plan(&self, input: Nothing, _cx: &ToolContext) -> Result<Nothing, ToolError> {
        Ok(input)
    }
}

impl CallPlan for Nothing {
    type Output = NoData;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        "Open or close".to_owned()
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<NoData>, ToolError> {
        if cx.session.id == AGENT {
            cx.sessions.close_child(AGENT);
            return Err(ToolError::new(ErrorKind::ShellExecution, "killed by SIGTERM"));
        }
        let (id, parent_id) = (AGENT.to_owned(), cx.session.id.clone());
        cx.sessions.open_child(ChildSession { id, parent_id, mode: None });
        Ok(ToolOutput::text("opened"))
    }
}

#[tokio::test]
async fn a_call_that_fails_because_its_session_was_closed_is_reported_as_cancelled() {
    let bed = TestBed::new();
    let source = ToolSource::Builtin(ToolSet::Claude.as_str());
    bed.pipeline.registry.register(Typed::erased(OpenOrClose), source).unwrap();
    assert_eq!(kind(&bed.call("open_or_close", json!({})).await), None);
    let as_agent = || CallOptions { session_id: Some(AGENT.into()), ..CallOptions::default() };
    let failed = bed.call_with("open_or_close", json!({}), as_agent()).await;
    assert_eq!(kind(&failed), Some(ErrorKind::Cancelled));
    let late = bed.call_with("open_or_close", json!({}), as_agent()).await;
    assert_eq!(kind(&late), Some(ErrorKind::Agent));
}
