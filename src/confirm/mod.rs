//! Asks a person where policy says so. This is the step that may wait for long, and the only one that makes
//! a [`Permitted`].

mod bus_messages;
mod message_bus;

pub use bus_messages::{
    BusEvent, ConfirmationAnswer, RequestOutcome, RequestSpan, Unanswered, WaitingRequest,
};
pub use message_bus::{Attendance, BusWatch, MessageBus, SharedBus};

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{
    error::{ErrorKind, ToolError},
    policy::{Asking, Decision},
    tool::{Prepared, Risk, ShownFile, Statement, ToolContext, ToolSpec, for_display, shown_text},
};

/// A call that may run: policy allowed it, or a person did where policy asked. Nothing else can run.
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
    /// The call may run. The second part is what a person agreed to, if one was asked.
    Permitted(Permitted, Option<Yes>),
    /// A person changed the input. The new input has to be judged like any other.
    Edited(Value, Yes),
}

/// What a person agreed to.
pub(crate) struct Yes {
    /// True when calls like this one are to run without a question from then on.
    pub(crate) always_allow: bool,
    /// The rules that allow such calls, made from the call as it was shown.
    pub(crate) rules: Vec<String>,
    /// The file whose change the person was shown.
    pub(crate) shown_file: Option<ShownFile>,
}

/// Judges a call again, by the policy that holds at that moment.
pub(crate) type JudgeAgain<'a> = &'a (dyn Fn(&dyn Prepared) -> Result<(), ToolError> + Sync);

/// A call that may not run.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: ToolError,
    /// Why the remaining calls of the turn are not made either, if they are not.
    pub(crate) interrupt: Option<String>,
    /// How the request to a person ended, if one was asked.
    pub(crate) asked: Option<RequestOutcome>,
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Self { error, interrupt: None, asked: None }
    }
}

/// Asks people over a message bus.
#[derive(Debug)]
pub struct Confirmations {
    bus: SharedBus,
    timeout: Duration,
}

impl Confirmations {
    /// Asks over this bus. Each request waits at most this long.
    pub fn new(bus: SharedBus, timeout: Duration) -> Self {
        Self { bus, timeout }
    }

    /// The bus it asks over.
    pub fn bus(&self) -> &SharedBus {
        &self.bus
    }

    /// The same over another bus.
    pub(crate) fn over(&self, bus: SharedBus) -> Self {
        Self::new(bus, self.timeout)
    }

    /// Turns a decision into a permission, or into the reason why there is none. A person may take their
    /// time, and policy may change meanwhile, so a call that they agreed to is judged again before it runs.
    pub(crate) async fn settle(
        &self,
        decision: Decision,
        prepared: Box<dyn Prepared>,
        statement: Option<&Statement>,
        spec: &ToolSpec,
        cx: &ToolContext,
        judge_again: JudgeAgain<'_>,
    ) -> Result<SettledCall, Refusal> {
        let asking = match decision {
            Decision::Allow => return Ok(SettledCall::Permitted(Permitted(prepared), None)),
            Decision::Deny(error) => return Err(error.into()),
            Decision::Ask(asking) => asking,
        };
        // Boxed because few calls get here: otherwise the future of every call would be as large as this
        // one.
        let ShownCall { prepared, file: shown_file, mut details } =
            Box::pin(details(prepared, statement, &asking, spec, cx)).await?;
        let identity = [prepared.input().clone(), json!(&*cx.tool_use_id), json!(cx.session.id)];
        details.extend(IDENTITY.map(str::to_owned).into_iter().zip(identity));
        // For as long as nobody has answered: the call may be dropped while it waits.
        prepared.given_up(RequestOutcome::Cancelled.as_str());
        let answer = match self.bus.request(details.into(), self.timeout, &cx.cancel).await {
            Ok(answer) => answer,
            Err(unanswered) => {
                if matches!(unanswered, Unanswered::Timeout(_)) {
                    prepared.given_up(RequestOutcome::Timeout.as_str());
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
            prepared.given_up(RequestOutcome::Denied.as_str());
            let why = answer.message.map(|it| format!(": {it}")).unwrap_or_default();
            let message = format!("the user said no to `{}`{why}", spec.name);
            let error = ToolError::new(ErrorKind::PolicyDenied, message);
            let interrupt = answer.interrupt.then(|| error.message.clone());
            return Err(Refusal { error, interrupt, asked: Some(RequestOutcome::Denied) });
        }
        let always_allow = answer.always_allow;
        let yes = Yes { always_allow, rules: asking.suggested_rules, shown_file };
        match answer.updated_input {
            // The rules were made from the input that the person replaced, so they are not granted here.
            Some(input) if input != *prepared.input() => Ok(SettledCall::Edited(input, yes)),
            _ => {
                let told = Box::pin(self.tell_agreed(prepared.as_ref(), spec, cx)).await;
                told.and_then(|()| judge_again(prepared.as_ref())).map_err(|error| Refusal {
                    asked: Some(RequestOutcome::Approved),
                    ..error.into()
                })?;
                Ok(SettledCall::Permitted(Permitted(prepared), Some(yes)))
            }
        }
    }

    /// Tells a tool that speaks for itself that a person agreed to its call. One that does not take notice
    /// may not be ready for what was agreed to, so the call is refused.
    pub(crate) async fn tell_agreed(
        &self,
        prepared: &dyn Prepared,
        spec: &ToolSpec,
        cx: &ToolContext,
    ) -> Result<(), ToolError> {
        if !prepared.speaks_for_itself() {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Err(ToolError::cancelled()),
            told = prepared.agreed() => told,
            () = tokio::time::sleep(self.timeout) => {
                let (name, within) = (&spec.name, self.timeout.as_millis());
                let message = format!(
                    "`{name}` took no notice within {within} ms that the user agreed, so it was not run; \
                     go on without it, or ask the user"
                );
                Err(ToolError::new(ErrorKind::Timeout, message))
            }
        }
    }
}

/// What tells a request which call it is about, beside what a person is shown.
const IDENTITY: [&str; 3] = ["input", "toolUseId", "sessionId"];

/// What a person is shown of a call.
pub(crate) struct ShownCall {
    /// The call.
    pub(crate) prepared: Box<dyn Prepared>,
    /// The file that a change of it is shown of.
    pub(crate) file: Option<ShownFile>,
    /// What a person is shown.
    pub(crate) details: Map<String, Value>,
}

/// What a person is shown, and the file it was made from. A preview may read files, so it is made on a
/// thread for blocking work.
pub(crate) async fn details(
    prepared: Box<dyn Prepared>,
    statement: Option<&Statement>,
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
    let own_description = statement.and_then(|it| it.description.as_deref());
    let own_locations = statement.and_then(|it| it.locations.as_ref());
    let shown = json!({
        "toolName": spec.name,
        "description": own_description.map_or_else(|| prepared.shown_description(), shown_text),
        "risk": shown_risk(statement, asking, spec).for_people(),
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
    // The names above are ours: a tool cannot pass for another one, or for another input.
    for (name, value) in statement.into_iter().flat_map(|it| &it.more) {
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

/// What the tool says of the risk of its call, unless a rule says that it is higher.
fn shown_risk(statement: Option<&Statement>, asking: &Asking, spec: &ToolSpec) -> Risk {
    let own = statement.and_then(|it| it.risk);
    let is_said_by_rule = asking.risk != spec.side_effect.risk();
    own.map_or(asking.risk, |own| if is_said_by_rule { own.max(asking.risk) } else { own })
}

/// A value of a tool's own with every text in it to be seen.
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

/// The error of a call that was not answered. Its message says what the model may do next, its details what
/// a person or the host can do.
fn unanswered_error(unanswered: &Unanswered, asking: &Asking, spec: &ToolSpec) -> ToolError {
    let name = &spec.name;
    let told = &asking.told_to_model;
    let next_step = match &asking.message {
        Some(words) => format!("{words}; ask the user, or go on without it"),
        None => "ask the user, or go on without it".to_owned(),
    };
    let ways = &asking.ways_to_allow;
    let (error, reason, how_to_allow) = match unanswered {
        Unanswered::NoListener(cause) => (
            ToolError::new(
                ErrorKind::PolicyDenied,
                format!("`{name}` needs a confirmation ({told}), but {cause}; {next_step}"),
            ),
            format!("`{name}` needs a confirmation ({}), but {cause}", asking.reason),
            ways.clone(),
        ),
        Unanswered::Timeout(after) => {
            let within = after.as_millis();
            (
                ToolError::new(
                    ErrorKind::ConfirmationTimeout,
                    format!("nobody confirmed `{name}` within {within} ms ({told}); {next_step}"),
                ),
                format!("nobody confirmed `{name}` within {within} ms ({})", asking.reason),
                format!(
                    "{ways}; `limits.confirmationTimeoutMs` is how long somebody has to answer"
                ),
            )
        }
        Unanswered::Cancelled => return ToolError::cancelled(),
    };
    error.with_details(&reason, &how_to_allow, asking.suggested_rules.clone())
}
