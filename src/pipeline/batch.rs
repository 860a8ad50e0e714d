//! Several calls of one model turn, one after the other, answers in order.

use super::{CallOptions, Pipeline, ToolCall};
use crate::{error::ToolError, tool::ToolOutput};

impl Pipeline {
    /// Runs calls in order; one that could not even be read fails alone. Once cancelled, those that remain are answered with errors, so that every
    /// call of the turn has an answer.
    pub async fn call_all(
        &self,
        calls: Vec<(Option<String>, Result<ToolCall, ToolError>)>,
        options: CallOptions,
    ) -> Vec<ToolOutput> {
        let mut outputs = Vec::with_capacity(calls.len());
        for (tool_use_id, call) in calls {
            outputs.push(match call {
                _ if options.cancel.is_cancelled() => ToolOutput::failure(ToolError::cancelled()),
                Err(error) => ToolOutput::failure(error),
                Ok(call) => self.call(call, CallOptions { tool_use_id, ..options.clone() }).await,
            });
        }
        outputs
    }
}
