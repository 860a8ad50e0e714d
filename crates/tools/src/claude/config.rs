//! `Config`: reads and changes settings, in the store or in one that the host keeps itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind, shortened};
use toolwright_core::{
    CallPlan, ForModel as _, HandlerName, Handlers, Tool, ToolContext, ToolOutput,
};
use toolwright_store::{
    ConfigChange, KnownSettings, SettingSpec, SettingValue, Settings, StateError, StateEvent,
};

use crate::failures::FailedState;

#[derive(Default)]
pub(super) struct Config;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The name of the setting.
    #[schemars(length(min = 1))]
    setting: String,
    /// The new value. Leave it out to read the setting.
    #[serde(default)]
    value: Option<SettingValue>,
}

/// The setting that was read or changed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SettingData {
    /// What was done.
    operation: SettingOperation,
    setting: String,
    /// The value it has now; absent if it is not set and has no default.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<SettingValue>,
    /// The value it had before it was set; absent if it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_value: Option<SettingValue>,
    /// Whether it is a known setting, with a type.
    known: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SettingOperation {
    Get,
    Set,
}

pub(super) struct Plan {
    setting: String,
    value: Option<SettingValue>,
}

impl Tool for Config {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "Config";
    const TITLE: &'static str = "Read or Change Settings";
    const DESCRIPTION: &'static str = include_str!("../description/config.md");
    const SIDE_EFFECT: SideEffect = SideEffect::ReadOnly;
    const IS_READ_ONLY: bool = false;
    const KIND: ToolKind = ToolKind::PLAIN;

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let setting = input.setting.trim().to_owned();
        if setting.is_empty() {
            let message = "parameter `setting`: expected a name, got blanks";
            return Err(ToolError::new(ErrorKind::Validation, message));
        }
        Settings::check_name(&setting).map_err(failed)?;
        let value = match input.value {
            None => None,
            Some(value) => {
                KnownSettings::check_open_to_models(&setting).for_model()?;
                Some(cx.session.shared.stored.known_settings.check(&setting, value).for_model()?)
            }
        };
        Ok(Plan { setting, value })
    }
}

impl CallPlan for Plan {
    type Output = SettingData;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        let Self { setting, value } = self;
        match value {
            None => format!("Read the setting {setting}"),
            Some(value) => format!("Set {setting} to {}", shortened(&value.to_string(), 200)),
        }
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<SettingData>, ToolError> {
        let display = self.describe();
        let Self { setting, value } = self;
        let known = &cx.session.shared.stored.known_settings;
        let spec = known.get(&setting);
        let data = |operation, value, previous_value| SettingData {
            operation,
            setting: setting.clone(),
            value,
            previous_value,
            known: spec.is_some(),
        };
        let Some(value) = value else {
            let found = read(&setting, cx).await?;
            let text = match (&found, spec.and_then(|it| it.default.as_ref())) {
                (Some(value), _) => format!("{setting} = {value}"),
                (None, Some(default)) => format!("{setting} = {default} (the default)"),
                (None, None) => not_set(&setting, known),
            };
            let value = found.or_else(|| spec.and_then(|it| it.default.clone()));
            return Ok(ToolOutput::text(text).with_data(data(SettingOperation::Get, value, None)));
        };
        let _turn = cx.session.shared.stored.events.turn(&format!("config/{setting}")).await;
        let previous = write(&setting, &value, cx).await?;
        if previous.as_ref() != Some(&value) {
            cx.session.shared.stored.events.send(&StateEvent::Config(ConfigChange {
                setting: setting.clone(),
                value: Some(value.clone()),
                previous: previous.clone(),
                session_id: Some(cx.session.id.clone()),
            }));
        }
        let mut text = format!("{setting} = {value}");
        if let Some(previous) = &previous {
            text.push_str(&format!(" (was {previous})"));
        }
        if spec.is_none() {
            let close = known.close_to(&setting);
            let meant = if close.is_empty() {
                String::new()
            } else {
                format!("; did you mean {}?", named(&close))
            };
            text.push_str(&format!("\n[`{setting}` is not a known setting{meant}]"));
        }
        Ok(ToolOutput::text(text)
            .with_data(data(SettingOperation::Set, Some(value), previous))
            .with_display(display))
    }
}

/// Reads a setting from the host's own store, or from ours.
async fn read(setting: &str, cx: &ToolContext) -> Result<Option<SettingValue>, ToolError> {
    match cx.handlers.get(HandlerName::ConfigGet) {
        Some(get) => {
            let input = json!({ "setting": setting });
            Handlers::call(get, HandlerName::ConfigGet, &input, json!({}), cx).await
        }
        None => cx.session.shared.stored.settings().get(setting).await.map_err(failed),
    }
}

/// Sets a setting there, and returns the previous value.
async fn write(
    setting: &str,
    value: &SettingValue,
    cx: &ToolContext,
) -> Result<Option<SettingValue>, ToolError> {
    let Some(set) = cx.handlers.get(HandlerName::ConfigSet) else {
        cx.commitment.commit()?;
        return cx.session.shared.stored.settings().set(setting, Some(value)).await.map_err(failed);
    };
    let previous = read(setting, cx).await?;
    let input = json!({ "setting": setting, "value": value });
    cx.commitment.commit()?;
    set.call(&input, json!({}), cx).await?;
    Ok(previous)
}

fn failed(error: StateError) -> ToolError {
    FailedState { error, tool_kind: ErrorKind::Config }.into()
}

fn not_set(setting: &str, known: &KnownSettings) -> String {
    if let Some(SettingSpec { description: Some(about), .. }) = known.get(setting) {
        return format!("`{setting}` ({about}) is not set");
    }
    let close = known.close_to(setting);
    if !close.is_empty() {
        return format!("`{setting}` is not set; close to it: {}", named(&close));
    }
    let names: Vec<&str> = known.all().map(|it| it.0).collect();
    let (shown, rest) = names.split_at_checked(MAX_NAMED).unwrap_or((&names, &[]));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    format!("`{setting}` is not set; known settings: {}{more}", named(shown))
}

/// The maximum number of known settings in an answer.
const MAX_NAMED: usize = 50;

fn named(names: &[&str]) -> String {
    names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
