//! `ExitPlanMode`: shows a person the plan, and leaves plan mode if they agree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_base::{
    Access, ErrorKind, InPlanMode, PermissionMode, PlanMode, SideEffect, ToolError, ToolKind,
};
use toolwright_core::{CallPlan, Tool, ToolContext, ToolOutput, for_display};

#[derive(Default)]
pub(super) struct ExitPlanMode;

/// The longest plan in bytes. A person has to read it.
const MAX_PLAN_BYTES: usize = 200_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The plan, in Markdown: what will be changed, in which order, and how it is checked.
    plan: String,
    /// What else the plan needs permission for, such as running the tests. The person sees it with the plan.
    #[serde(default)]
    #[schemars(rename = "allowedPrompts", length(max = 20))]
    #[serde(rename = "allowedPrompts")]
    allowed_prompts: Vec<AllowedPrompt>,
}

/// Something that the plan needs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AllowedPrompt {
    /// The tool that needs it.
    tool: String,
    /// What it is needed for.
    prompt: String,
}

/// How plan mode was left.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LeftPlanMode {
    /// The mode that holds now.
    mode: PermissionMode,
    /// The plan that was agreed to.
    plan: String,
}

impl Tool for ExitPlanMode {
    type Input = Input;
    type Plan = Input;

    const NAME: &'static str = "ExitPlanMode";
    const TITLE: &'static str = "Exit Plan Mode";
    const DESCRIPTION: &'static str = include_str!("../description/exit_plan_mode.md");
    const SIDE_EFFECT: SideEffect = SideEffect::ReadOnly;
    const KIND: ToolKind = ToolKind::PLAIN.in_plan_mode(InPlanMode::LeadsOut);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Input, ToolError> {
        let wrong = |what: String| {
            Err(ToolError::new(ErrorKind::Validation, format!("parameter `plan`: {what}")))
        };
        if input.plan.trim().is_empty() {
            return wrong("the plan is empty; say what you are going to do".to_owned());
        }
        if input.plan.len() > MAX_PLAN_BYTES {
            return wrong(format!(
                "the plan has {} bytes, and a person is shown at most {MAX_PLAN_BYTES}; write a shorter \
                 one",
                input.plan.len()
            ));
        }
        match cx.sessions.plan_mode(&cx.session.id) {
            PlanMode::Own => Ok(input),
            other @ (PlanMode::Off | PlanMode::OfParent) => Err(cannot_leave(other)),
        }
    }
}

impl CallPlan for Input {
    type Output = LeftPlanMode;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        let mut text = format!("Leave plan mode and carry out this plan:\n\n{}", self.plan.trim());
        if !self.allowed_prompts.is_empty() {
            text.push_str("\n\nThe plan needs:");
        }
        for needed in &self.allowed_prompts {
            text.push_str(&format!("\n- {}: {}", needed.tool, needed.prompt));
        }
        text
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<LeftPlanMode>, ToolError> {
        let mode = cx.sessions.leave_plan_mode(&cx.session.id).map_err(cannot_leave)?;
        // The user may have edited the plan.
        let mut output = ToolOutput::text(format!(
            "the user agreed to this plan, and plan mode is over; carry it out:\n\n{}",
            self.plan.trim()
        ))
        .with_display(for_display(&format!("The plan was agreed to.\n\n{}", self.plan.trim())));
        let mode_now: Value = json!(mode.as_str());
        output.meta.insert("toolwright/permissionMode".to_owned(), mode_now);
        Ok(output.with_data(LeftPlanMode { mode, plan: self.plan }))
    }
}

/// Why plan mode cannot be left.
fn cannot_leave(mode: PlanMode) -> ToolError {
    let message = match mode {
        PlanMode::OfParent => {
            "this agent is in plan mode because the conversation that started it is; give the plan back as \
             your answer"
        }
        PlanMode::Off | PlanMode::Own => {
            "this conversation is not in plan mode, so there is nothing to leave; continue with the work"
        }
    };
    ToolError::new(ErrorKind::PlanMode, message)
}
