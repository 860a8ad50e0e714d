//! Calls whose input is JSON text, as they arrive from JavaScript.

use serde::Deserialize;
use serde_json::Value;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::ToolOutput;
use toolwright_pipeline::{Arrival, CallOptions, Description, Pipeline, ToolCall, TurnCall};

use super::parsed_input;

/// A call whose input was not parsed yet.
#[derive(Clone, Debug)]
pub struct TextCall {
    /// The tool's name or alias.
    pub name: String,
    /// The input as JSON.
    pub input: String,
}

impl TextCall {
    /// Runs a call that was received earlier. A failure is returned as an output. Only a call that its
    /// caller has cancelled returns an error, so that the caller's promise rejects.
    pub async fn run(
        &self,
        pipeline: &Pipeline,
        arrival: Arrival,
        options: CallOptions,
    ) -> Result<ToolOutput, ToolError> {
        let cancel = options.cancel.clone();
        let output = match self.parsed() {
            Ok(call) => pipeline.call_arrived(arrival, call, options).await,
            Err(error) => ToolOutput::failure(error),
        };
        match &output.error {
            Some(error) if error.kind == ErrorKind::Cancelled && cancel.is_cancelled() => {
                Err(error.clone())
            }
            _ => Ok(output),
        }
    }

    /// Describes the call. An invalid input is reported when the call runs.
    pub fn describe(
        &self,
        pipeline: &Pipeline,
        options: CallOptions,
    ) -> Result<Description, ToolError> {
        pipeline.describe(&self.parsed_or_without_input(), options)
    }

    /// The confirmation that the call would need. An invalid input is reported when the call runs.
    pub async fn question(
        &self,
        pipeline: &Pipeline,
        options: CallOptions,
    ) -> Result<Option<Value>, ToolError> {
        pipeline.question(self.parsed_or_without_input(), options).await
    }

    fn parsed(&self) -> Result<ToolCall, ToolError> {
        Ok(ToolCall { name: self.name.clone(), input: parsed_input(&self.input)? })
    }

    fn parsed_or_without_input(&self) -> ToolCall {
        let input = parsed_input(&self.input).unwrap_or_default();
        ToolCall { name: self.name.clone(), input }
    }
}

/// One call of a turn. Its input is a separate JSON text, so that an invalid input fails only this
/// call.
#[derive(Clone, Debug, Deserialize)]
pub struct TextTurnCall {
    /// The id that its result has to name.
    pub id: String,
    /// The tool's name or alias.
    pub name: String,
    #[serde(default)]
    input: String,
    /// The error that the facade found, if any.
    #[serde(default)]
    problem: Option<String>,
}

impl TextTurnCall {
    /// The call for the pipeline, or why it cannot run.
    pub fn parsed(self) -> TurnCall {
        let Self { id, name, input, problem } = self;
        let call = match problem {
            Some(problem) => Err(ToolError::new(ErrorKind::Validation, problem)),
            None => TextCall { name, input }.parsed(),
        };
        (Some(id), call)
    }
}
