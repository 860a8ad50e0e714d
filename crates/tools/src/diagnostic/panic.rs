//! `diagnostic_panic`: panics, like a tool with a bug.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, SideEffect, ToolError};
use toolwright_core::{CallPlan, NoData, Tool, ToolContext, ToolOutput};

#[derive(Default)]
pub(super) struct Panic;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The message of the panic.
    message: String,
    /// When to panic.
    #[serde(default)]
    stage: Stage,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Stage {
    /// While the call is prepared.
    Prepare,
    /// While it runs.
    #[default]
    Run,
    /// While it runs on a blocking thread.
    Blocking,
}

#[expect(clippy::panic, reason = "this is what the tool is for")]
fn fail(message: &str) -> ! {
    panic!("{message}")
}

impl Tool for Panic {
    type Input = Input;
    type Plan = Input;

    const NAME: &'static str = "diagnostic_panic";
    const TITLE: &'static str = "Panic";
    const DESCRIPTION: &'static str =
        "Panics. For checking that a bug in one tool harms no other call.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Input, ToolError> {
        match input.stage {
            Stage::Prepare => fail(&input.message),
            Stage::Run | Stage::Blocking => Ok(input),
        }
    }
}

impl CallPlan for Input {
    type Output = NoData;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        "Panic".to_owned()
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<NoData>, ToolError> {
        match self.stage {
            Stage::Prepare | Stage::Run => fail(&self.message),
            Stage::Blocking => cx.blocking(move |_| fail(&self.message)).await,
        }
    }
}
