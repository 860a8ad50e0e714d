//! Wraps a typed [`Tool`] as a [`DynTool`] for the registry.

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::Deserialize as _;
use serde_json::Value;
use toolwright_base::{
    Access, Annotations, ErrorKind, OutputSpec, SideEffect, ToolError, ToolSpec,
};

use super::{
    CallPlan, DynTool, InputValidator, Prepared, Preview, Tool, ToolContext, ToolOutput, Words,
    derived_output_schema, derived_schema, shown_schema,
};

/// A built-in tool with its description and its compiled schema.
pub struct Typed<T> {
    tool: T,
    spec: ToolSpec,
    validator: InputValidator,
}

impl<T: Tool> Typed<T> {
    /// Wraps a tool for the registry.
    pub fn erased(tool: T) -> Arc<dyn DynTool> {
        Self::worded(tool, &str::to_owned)
    }

    /// The same for a tool of a tool set. `words` adapts its texts to that set.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "the schema is derived from a built-in type, and a test compiles each one"
    )]
    pub fn worded(tool: T, words: Words<'_>) -> Arc<dyn DynTool> {
        let schema = derived_schema::<T::Input>();
        let validator = InputValidator::new(&schema).expect("derived schemas compile");
        let spec = ToolSpec {
            name: T::NAME.to_owned(),
            title: T::TITLE.to_owned(),
            description: words(T::DESCRIPTION.trim()),
            input_schema: shown_schema(&schema, words),
            output: Some(OutputSpec {
                schema: derived_output_schema::<<T::Plan as CallPlan>::Output>(),
                scope: T::Plan::DATA_SCOPE,
            }),
            side_effect: T::SIDE_EFFECT,
            kind: T::KIND,
            annotations: Annotations {
                title: Some(T::TITLE.to_owned()),
                read_only_hint: Some(T::IS_READ_ONLY),
                ..Annotations::default()
            },
            always_load: None,
        };
        Arc::new(Self { tool, spec, validator })
    }
}

impl<T: Tool> DynTool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn aliases(&self) -> &'static [&'static str] {
        T::ALIASES
    }

    fn timeout(&self) -> Option<Duration> {
        T::TIMEOUT
    }

    fn prepare(
        self: Arc<Self>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        let input = self.validator.accept(input)?;
        let parsed = T::Input::deserialize(&input)
            .map_err(|err| ToolError::new(ErrorKind::Validation, err.to_string()))?;
        let plan = self.tool.plan(parsed, cx)?;
        let accesses = plan.accesses();
        Ok(Box::new(TypedCall { input, plan, accesses }))
    }
}

struct TypedCall<P> {
    input: Value,
    plan: P,
    accesses: Vec<Access>,
}

#[async_trait]
impl<P: CallPlan> Prepared for TypedCall<P> {
    fn input(&self) -> &Value {
        &self.input
    }

    fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    fn side_effect(&self) -> Option<SideEffect> {
        self.plan.side_effect()
    }

    fn locations(&self) -> Vec<String> {
        self.plan.locations(&self.accesses)
    }

    fn directory(&self) -> Option<&Path> {
        self.plan.directory()
    }

    fn description(&self) -> String {
        self.plan.describe()
    }

    fn preview(&self, cx: &ToolContext) -> Option<Preview> {
        self.plan.preview(cx)
    }

    async fn run(self: Box<Self>, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let output = self.plan.run(cx).await?;
        output.erased().map_err(|err| ToolError::new(ErrorKind::Internal, err.to_string()))
    }
}
