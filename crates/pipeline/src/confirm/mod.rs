//! Asks a person to confirm a call when policy says so. This step may wait for a long time. It is the
//! only one that makes a [`Permitted`].

mod bus_messages;
mod message_bus;

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolwright_base::{ErrorKind, Risk, ToolError, ToolSpec, shown_text};
use toolwright_core::{OwnConfirmation, Prepared, ShownFile, ToolContext, for_display};
use toolwright_policy::{Asking, Decision};

pub(crate) use bus_messages::RequestOutcome;
pub use bus_messages::{BusEvent, ConfirmationAnswer, RequestSpan, Unanswered, WaitingRequest};
pub use message_bus::{BusWatch, MessageBus, Responder, SharedBus};

/// A call that may run: policy allowed it, or a person approved it where policy asked. No other call
/// can run.
pub(crate) struct Permitted(Box<dyn Prepared>);

impl Permitted {
    pub(crate) fn prepared(&self) -> &dyn Prepared {
        self.0.as_ref()
    }

    pub(crate) fn into_prepared(self) -> Box<dyn Prepared> {
        self.0
    }
}

/// The outcome of this step.
pub(crate) enum SettledCall {
    /// The call may run. The second part is the approval, if a person was asked.
    Permitted(Permitted, Option<Approval>),
    /// A person changed the input. The new input must be judged like any other.
    Edited(Value, Approval),
}

/// A person's approval of a call.
pub(crate) struct Approval {
    /// True when calls like this one run without confirmation from now on.
    pub(crate) always_allow: bool,
    /// The rules that allow such calls, made from the call that the person was shown.
    pub(crate) rules: Vec<String>,
    /// The file whose diff the person was shown.
    pub(crate) shown_file: Option<ShownFile>,
}

/// Judges a call again by the current policy.
pub(crate) type JudgeAgain<'a> = &'a (dyn Fn(&dyn Prepared) -> Result<(), ToolError> + Sync);

/// A call that may not run.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: ToolError,
    /// Why the remaining calls of the turn are not made either; none when they are.
    pub(crate) interrupt: Option<String>,
    /// The outcome of the confirmation request, if a person was asked.
    pub(crate) asked: Option<RequestOutcome>,
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Self { error, interrupt: None, asked: None }
    }
}

/// Asks for confirmations over a message bus.
#[derive(Debug)]
pub struct Confirmations {
    bus: SharedBus,
    timeout: Duration,
}

impl Confirmations {
    /// Asks over this bus. Each request waits at most `timeout`.
    pub fn new(bus: SharedBus, timeout: Duration) -> Self {
        Self { bus, timeout }
    }

    /// The bus that requests are sent over.
    pub fn bus(&self) -> &SharedBus {
        &self.bus
    }

    /// The same with another bus.
    pub(crate) fn over(&self, bus: SharedBus) -> Self {
        Self::new(bus, self.timeout)
    }

    /// Turns a decision into a permission, or into the reason for refusing the call. An answer may take
    /// long and policy may change meanwhile, so an approved call is judged again before it runs.
    pub(crate) async fn settle(
        &self,
        decision: Decision,
        prepared: Box<dyn Prepared>,
        own_confirmation: Option<&OwnConfirmation>,
        spec: &ToolSpec,
        cx: &ToolContext,
        judge_again: JudgeAgain<'_>,
    ) -> Result<SettledCall, Refusal> {
        let asking = match decision {
            Decision::Allow => return Ok(SettledCall::Permitted(Permitted(prepared), None)),
            Decision::Deny(error) => return Err(error.into()),
            Decision::Ask(asking) => asking,
        };
        // Boxed because few calls get here. Otherwise the future of every call would be as large as
        // this one.
        let ShownCall { prepared, file: shown_file, mut details } =
            Box::pin(details(prepared, own_confirmation, &asking, spec, cx)).await?;
        let identity = [prepared.input().clone(), json!(&*cx.tool_use_id), json!(cx.session.id)];
        details.extend(IDENTITY.map(str::to_owned).into_iter().zip(identity));
        // The call may be dropped while it waits for the answer, and is then cancelled.
        prepared.abandoned(RequestOutcome::Cancelled.as_str());
        let answer = match self.bus.request(details.into(), self.timeout, &cx.cancel).await {
            Ok(answer) => answer,
            Err(unanswered) => {
                if matches!(unanswered, Unanswered::Timeout(_)) {
                    prepared.abandoned(RequestOutcome::Timeout.as_str());
                }
                let asked = match unanswered {
                    Unanswered::NoListener(_) => None,
                    Unanswered::Timeout(_) => Some(RequestOutcome::Timeout),
                    Unanswered::Cancelled => Some(RequestOutcome::Cancelled),
                };
                let error = unanswered_error(&unanswered, &asking, spec);
                return Err(Refusal { error, interrupt: None, asked });
            }
        };
        if !answer.approved {
            prepared.abandoned(RequestOutcome::Denied.as_str());
            let why = answer.message.map(|it| format!(": {it}")).unwrap_or_default();
            let message = format!("the user said no to `{}`{why}", spec.name);
            let error = ToolError::new(ErrorKind::PolicyDenied, message);
            let interrupt = answer.interrupt.then(|| error.message.clone());
            return Err(Refusal { error, interrupt, asked: Some(RequestOutcome::Denied) });
        }
        let always_allow = answer.always_allow;
        let approval = Approval { always_allow, rules: asking.suggested_rules, shown_file };
        match answer.updated_input {
            // The rules were made from the input that the person replaced, so they do not apply to the
            // new input.
            Some(input) if input != *prepared.input() => Ok(SettledCall::Edited(input, approval)),
            _ => {
                let confirmed = Box::pin(self.report_confirmed(prepared.as_ref(), spec, cx)).await;
                confirmed.and_then(|()| judge_again(prepared.as_ref())).map_err(|error| {
                    Refusal { asked: Some(RequestOutcome::Approved), ..error.into() }
                })?;
                Ok(SettledCall::Permitted(Permitted(prepared), Some(approval)))
            }
        }
    }

    /// Tells a tool with its own confirmation that a person approved the call. If the tool does not
    /// acknowledge it, it may not be ready to run what was approved, so the call is refused.
    pub(crate) async fn report_confirmed(
        &self,
        prepared: &dyn Prepared,
        spec: &ToolSpec,
        cx: &ToolContext,
    ) -> Result<(), ToolError> {
        if !prepared.has_own_confirmation() {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Err(ToolError::cancelled()),
            acknowledged = prepared.confirmed() => acknowledged,
            () = tokio::time::sleep(self.timeout) => {
                let (name, within) = (&spec.name, self.timeout.as_millis());
                let message = format!(
                    "`{name}` did not acknowledge the user's approval within {within} ms, so it was \
                     not run; continue without it, or ask the user"
                );
                Err(ToolError::new(ErrorKind::Timeout, message))
            }
        }
    }
}

/// The names of the details that identify the call of a request.
const IDENTITY: [&str; 3] = ["input", "toolUseId", "sessionId"];

/// A call and the details that a person is shown of it.
pub(crate) struct ShownCall {
    /// The call.
    pub(crate) prepared: Box<dyn Prepared>,
    /// The file that the shown diff changes.
    pub(crate) file: Option<ShownFile>,
    /// The details to show.
    pub(crate) details: Map<String, Value>,
}

/// Collects the details to show to a person, and the file they were made from. A preview may read
/// files, so it is made on a thread for blocking work.
pub(crate) async fn details(
    prepared: Box<dyn Prepared>,
    own_confirmation: Option<&OwnConfirmation>,
    asking: &Asking,
    spec: &ToolSpec,
    cx: &ToolContext,
) -> Result<ShownCall, ToolError> {
    let aside = cx.clone();
    let made_aside = cx.blocking(move |_| {
        let preview = prepared.preview(&aside);
        Ok((prepared, preview))
    });
    let (prepared, preview) = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => return Err(ToolError::cancelled()),
        made = made_aside => made?,
    };
    let (diff, file) = preview.map_or((None, None), |it| (it.diff, Some(it.file)));
    let own_description = own_confirmation.and_then(|it| it.description.as_deref());
    let own_locations = own_confirmation.and_then(|it| it.locations.as_ref());
    let shown = json!({
        "toolName": spec.name,
        "description": own_description.map_or_else(|| prepared.shown_description(), shown_text),
        "risk": shown_risk(own_confirmation, asking, spec).for_people(),
        "locations": own_locations.map_or_else(
            || prepared.locations(),
            |it| it.iter().map(|it| shown_text(it)).collect(),
        ),
        "reason": shown_text(&asking.reason),
        "suggestedRules": asking.suggested_rules,
    });
    let mut details = match shown {
        Value::Object(details) => details,
        _ => Map::new(),
    };
    // The names above are reserved, so that a tool cannot pretend to be another tool or to have another
    // input.
    for (name, value) in own_confirmation.into_iter().flat_map(|it| &it.more) {
        if !IDENTITY.contains(&name.as_str()) {
            details.entry(name.as_str()).or_insert_with(|| for_people(value));
        }
    }
    let diff = diff.map(|it| for_display(&it));
    let message = asking.message.as_deref().map(shown_text);
    details.extend(
        [("diff", diff), ("message", message)]
            .into_iter()
            .filter_map(|(key, it)| Some((key.to_owned(), Value::String(it?)))),
    );
    Ok(ShownCall { prepared, file, details })
}

/// The risk that the tool states for its call, unless a rule states a higher one.
fn shown_risk(
    own_confirmation: Option<&OwnConfirmation>,
    asking: &Asking,
    spec: &ToolSpec,
) -> Risk {
    let own = own_confirmation.and_then(|it| it.risk);
    let is_said_by_rule = asking.risk != spec.side_effect.risk();
    own.map_or(asking.risk, |own| if is_said_by_rule { own.max(asking.risk) } else { own })
}

/// A value from the tool, with every text in it made safe for display.
fn for_people(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(for_display(text)),
        Value::Array(items) => items.iter().map(for_people).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (for_display(name), for_people(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The error of a call whose request got no answer. Its message says what the model can do next. Its
/// details say what a person or the host can do.
fn unanswered_error(unanswered: &Unanswered, asking: &Asking, spec: &ToolSpec) -> ToolError {
    let name = &spec.name;
    let reason_for_model = &asking.reason_for_model;
    let next_step = match &asking.message {
        Some(words) => format!("{words}; ask the user, or continue without it"),
        None => "ask the user, or continue without it".to_owned(),
    };
    let ways = &asking.ways_to_allow;
    let (error, reason, how_to_allow) = match unanswered {
        Unanswered::NoListener(cause) => (
            ToolError::new(
                ErrorKind::PolicyDenied,
                format!(
                    "`{name}` needs a confirmation ({reason_for_model}), but {cause}; {next_step}"
                ),
            ),
            format!("`{name}` needs a confirmation ({}), but {cause}", asking.reason),
            ways.clone(),
        ),
        Unanswered::Timeout(after) => {
            let within = after.as_millis();
            (
                ToolError::new(
                    ErrorKind::ConfirmationTimeout,
                    format!(
                        "`{name}` was not confirmed within {within} ms ({reason_for_model}); {next_step}"
                    ),
                ),
                format!("`{name}` was not confirmed within {within} ms ({})", asking.reason),
                format!(
                    "{ways}; `limits.confirmationTimeoutMs` sets how long a request waits for an answer"
                ),
            )
        }
        Unanswered::Cancelled => return ToolError::cancelled(),
    };
    error.with_details(&reason, &how_to_allow, asking.suggested_rules.clone())
}
