//! `diagnostic_sleep`: waits, and reports its progress.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, SideEffect, ToolError};
use toolwright_core::{CallPlan, NoData, Progress, Tool, ToolContext, ToolOutput};

#[derive(Default)]
pub(super) struct Sleep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// How long to wait, in milliseconds.
    #[schemars(range(max = 600_000))]
    ms: u32,
    /// In how many steps; progress is reported after each.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000))]
    steps: Option<u32>,
}

impl Tool for Sleep {
    type Input = Input;
    type Plan = Input;

    const NAME: &'static str = "diagnostic_sleep";
    const TITLE: &'static str = "Sleep";
    const DESCRIPTION: &'static str =
        "Waits and reports progress. For checking cancellation and progress.";
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
        format!("Wait {} ms", self.ms)
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<NoData>, ToolError> {
        let steps = self.steps.unwrap_or(1);
        let step = Duration::from_millis(u64::from(self.ms)) / steps;
        for done in 1..=steps {
            tokio::time::sleep(step).await;
            cx.progress.send(Progress::Step {
                progress: done.into(),
                total: Some(steps.into()),
                message: None,
            });
            cx.output(format!("step {done}\n"));
        }
        Ok(ToolOutput::text(format!("waited {} ms", self.ms)))
    }
}
