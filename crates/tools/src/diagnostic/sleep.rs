//! `diagnostic_sleep`: waits, and reports its progress.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, SideEffect, ToolError};
use toolwright_core::{NoData, Progress, Tool, ToolContext, ToolOutput};

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
    type Output = NoData;
    type Plan = Input;

    const NAME: &'static str = "diagnostic_sleep";
    const TITLE: &'static str = "Sleep";
    const DESCRIPTION: &'static str =
        "Waits and reports progress. For checking cancellation and progress.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Input, ToolError> {
        Ok(input)
    }

    fn accesses(&self, _plan: &Input) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self, plan: &Input) -> String {
        format!("Wait {} ms", plan.ms)
    }

    async fn run(&self, plan: Input, cx: &ToolContext) -> Result<ToolOutput<NoData>, ToolError> {
        let steps = plan.steps.unwrap_or(1);
        let step = Duration::from_millis(u64::from(plan.ms)) / steps;
        for done in 1..=steps {
            tokio::time::sleep(step).await;
            cx.progress.send(Progress::Step {
                progress: done.into(),
                total: Some(steps.into()),
                message: None,
            });
            cx.output(format!("step {done}\n"));
        }
        Ok(ToolOutput::text(format!("waited {} ms", plan.ms)))
    }
}
