//! The host's say before and after a call.

use async_trait::async_trait;
use serde_json::Value;

use crate::tool::{ToolContext, ToolOutput};

/// What a hook says before a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Before {
    /// Go on.
    Proceed,
    /// Go on with this input, which is then prepared and judged anew.
    Rewrite(Value),
    /// Stop, for this reason.
    Block(String),
}

/// A look at every call.
#[async_trait]
pub trait Hook: Send + Sync {
    /// Before the call runs, after policy did not deny it.
    async fn before(&self, _tool: &str, _input: &Value, _cx: &ToolContext) -> Before {
        Before::Proceed
    }

    /// After the call ran, also when it failed.
    async fn after(&self, _tool: &str, _cx: &ToolContext, output: ToolOutput) -> ToolOutput {
        output
    }
}

/// The hooks of one registry, in order.
#[derive(Default)]
pub struct Hooks(Vec<Box<dyn Hook>>);

impl Hooks {
    /// Adds a hook behind those there are.
    pub fn push(&mut self, hook: Box<dyn Hook>) {
        self.0.push(hook);
    }

    /// Asks each hook in turn; a later one sees what an earlier one rewrote.
    pub(crate) async fn before(&self, tool: &str, input: &Value, cx: &ToolContext) -> Before {
        let mut rewritten: Option<Value> = None;
        for hook in &self.0 {
            match hook.before(tool, rewritten.as_ref().unwrap_or(input), cx).await {
                Before::Proceed => {}
                Before::Rewrite(input) => rewritten = Some(input),
                block @ Before::Block(_) => return block,
            }
        }
        rewritten.map_or(Before::Proceed, Before::Rewrite)
    }

    /// Lets each hook see and change the answer.
    pub(crate) async fn after(
        &self,
        tool: &str,
        cx: &ToolContext,
        output: ToolOutput,
    ) -> ToolOutput {
        let mut output = output;
        for hook in &self.0 {
            output = hook.after(tool, cx, output).await;
        }
        output
    }
}
