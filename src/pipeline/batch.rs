//! Several calls of one model turn, one after the other, answers in order.

use super::{CallOptions, Pipeline, ToolCall};
use crate::{error::ToolError, tool::ToolOutput};

impl Pipeline {
    /// Runs calls in order. Once cancelled, those that remain are answered with errors, so that every
    /// call of the turn has an answer.
    pub async fn call_all(
        &self,
        calls: Vec<(Option<String>, ToolCall)>,
        options: CallOptions,
    ) -> Vec<ToolOutput> {
        let mut outputs = Vec::with_capacity(calls.len());
        for (tool_use_id, call) in calls {
            outputs.push(if options.cancel.is_cancelled() {
                ToolOutput::failure(ToolError::cancelled())
            } else {
                self.call(call, CallOptions { tool_use_id, ..options.clone() }).await
            });
        }
        outputs
    }
}
