//! Runs the calls of one model turn and returns their results in order.

use futures_util::future::join_all;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::ToolOutput;

use super::{Arrival, CallOptions, Pipeline, ToolCall};

/// One call of a turn: its id, and the call or its parse error.
pub type TurnCall = (Option<String>, Result<ToolCall, ToolError>);

/// The order in which the calls of a turn run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnOrder {
    /// One after the other.
    #[default]
    Serial,
    /// Neighbouring calls that only read run in parallel.
    ReadsInParallel,
}

/// How many calls run in parallel.
const MAX_PARALLEL: usize = 16;

impl Pipeline {
    /// Runs the calls of a turn. A call that could not be parsed fails alone. After a cancellation or
    /// an interruption the remaining calls get errors, so that every call has a result.
    pub async fn call_all(
        &self,
        first: Arrival,
        calls: Vec<TurnCall>,
        options: CallOptions,
        order: TurnOrder,
    ) -> Vec<ToolOutput> {
        let mut outputs: Vec<ToolOutput> = Vec::with_capacity(calls.len());
        let mut interrupted: Option<String> = None;
        let mut arrival = Some(first);
        let mut calls = calls.into_iter().peekable();
        while let Some(first) = calls.next() {
            let mut group = vec![first];
            while order == TurnOrder::ReadsInParallel
                && group.len() < MAX_PARALLEL
                && group.iter().all(|it| self.is_read_only(it))
                && let Some(next) = calls.next_if(|it| self.is_read_only(it))
            {
                group.push(next);
            }
            let answers = group
                .into_iter()
                .map(|it| self.turn_call(it, arrival.take(), &options, interrupted.as_deref()));
            let answers = join_all(answers).await;
            interrupted =
                interrupted.or_else(|| answers.iter().find_map(|it| it.interrupt.clone()));
            outputs.extend(answers);
        }
        outputs
    }

    async fn turn_call(
        &self,
        (tool_use_id, call): TurnCall,
        arrival: Option<Arrival>,
        options: &CallOptions,
        interrupted: Option<&str>,
    ) -> ToolOutput {
        if options.cancel.is_cancelled() {
            return ToolOutput::failure(ToolError::cancelled());
        }
        if let Some(reason) = interrupted {
            let message =
                format!("not run: an earlier call of the turn was interrupted ({reason})");
            return ToolOutput::failure(ToolError::new(ErrorKind::Cancelled, message));
        }
        match call {
            Err(error) => ToolOutput::failure(error),
            Ok(call) => {
                let arrival = arrival.unwrap_or_else(|| self.arrival(&call.name));
                let options = CallOptions { tool_use_id, ..options.clone() };
                self.call_arrived(arrival, call, options).await
            }
        }
    }

    fn is_read_only(&self, (_, call): &TurnCall) -> bool {
        let Ok(call) = call else { return false };
        let tools = self.registry.snapshot();
        tools.find_called(&call.name).is_some_and(|it| {
            let spec = it.tool.spec();
            spec.side_effect.is_read_only() && spec.annotations.read_only_hint != Some(false)
        })
    }
}
