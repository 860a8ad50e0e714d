//! `diagnostic_echo`: answers with the given text, repeated on request.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, SideEffect, ToolError};
use toolwright_core::{CallPlan, NoData, Tool, ToolContext, ToolOutput};

#[derive(Default)]
pub(super) struct Echo;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The text to give back.
    #[serde(default)]
    text: String,
    /// How many times in a row.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000_000))]
    repeat: Option<u32>,
}

impl Tool for Echo {
    type Input = Input;
    type Plan = Input;

    const NAME: &'static str = "diagnostic_echo";
    const TITLE: &'static str = "Echo";
    const DESCRIPTION: &'static str = "Gives its text back. For checking that calls arrive.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Input, ToolError> {
        Ok(input)
    }
}

impl CallPlan for Input {
    type Output = NoData;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        "Give a text back".to_owned()
    }

    async fn run(self, _cx: &ToolContext) -> Result<ToolOutput<NoData>, ToolError> {
        Ok(ToolOutput::text(match self.repeat {
            // No registry returns more than this, so more would only use memory.
            Some(times) => {
                self.text.repeat((times as usize).min(64 * 1024 * 1024 / self.text.len().max(1)))
            }
            None => self.text,
        }))
    }
}
