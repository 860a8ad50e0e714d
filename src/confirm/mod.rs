//! The step that may wait for a person, and the only maker of [`Permitted`].

mod bus;

pub use bus::{Answer, BusEvent, DEFAULT_TIMEOUT, MessageBus, Outcome, SharedBus, Unanswered};

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    error::{ErrorKind, ToolError},
    policy::{Asking, Decision},
    tool::{Prepared, ToolContext, ToolSpec},
};

/// A call that policy, and a person where one was asked, let through. Nothing else can run.
pub struct Permitted(Box<dyn Prepared>);

impl Permitted {
    pub(crate) fn prepared(&self) -> &dyn Prepared {
        self.0.as_ref()
    }

    pub(crate) fn into_prepared(self) -> Box<dyn Prepared> {
        self.0
    }
}

/// How a call came out of this step.
pub(crate) enum Settled {
    /// It may run.
    Permitted(Permitted),
    /// A person wants it with another input, which has to be judged like any other.
    Edited {
        /// The input.
        input: Value,
        /// True when what runs in the end is to run without a question from then on.
        always_allow: bool,
    },
}

/// A call that may not run.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: ToolError,
    /// Why the calls that follow in the turn are not to be made either.
    pub(crate) interrupt: Option<String>,
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Self { error, interrupt: None }
    }
}

/// Asks people over a message bus.
#[derive(Debug)]
pub struct Confirmations {
    bus: SharedBus,
    timeout: Duration,
}

impl Confirmations {
    /// Asks over a bus; each request waits so long.
    pub fn new(bus: SharedBus, timeout: Duration) -> Self {
        Self { bus, timeout }
    }

    /// Turns a decision into a permission or the reason why there is none.
    pub(crate) async fn settle(
        &self,
        decision: Decision,
        prepared: Box<dyn Prepared>,
        spec: &ToolSpec,
        cx: &ToolContext,
    ) -> Result<Settled, Refusal> {
        let asking = match decision {
            Decision::Allow => return Ok(Settled::Permitted(Permitted(prepared))),
            Decision::Deny(error) => return Err(error.into()),
            Decision::Ask(asking) => asking,
        };
        // Kept aside, like whatever few calls wait for: every call has room for what it may wait for.
        let (prepared, details) = Box::pin(details(prepared, &asking, spec, cx)).await?;
        let answer = match self.bus.request(details, self.timeout, &cx.cancel).await {
            Ok(answer) => answer,
            Err(unanswered) => return Err(unanswered_error(&unanswered, &asking, spec).into()),
        };
        if !answer.approved {
            let why = answer.message.map(|it| format!(": {it}")).unwrap_or_default();
            let message = format!("the user said no to `{}`{why}", spec.name);
            let error = ToolError::new(ErrorKind::PolicyDenied, message);
            let interrupt = answer.interrupt.then(|| error.message.clone());
            return Err(Refusal { error, interrupt });
        }
        let always_allow = answer.always_allow;
        Ok(match answer.updated_input {
            // Nothing is granted of what the person did not want.
            Some(input) if input != *prepared.input() => Settled::Edited { input, always_allow },
            _ => {
                if always_allow {
                    cx.session.grants.add(&asking.suggested_rules);
                }
                Settled::Permitted(Permitted(prepared))
            }
        })
    }
}

/// What a person is shown. A preview may read files, so it is made aside.
async fn details(
    prepared: Box<dyn Prepared>,
    asking: &Asking,
    spec: &ToolSpec,
    cx: &ToolContext,
) -> Result<(Box<dyn Prepared>, Value), ToolError> {
    let aside = cx.clone();
    let (prepared, preview) = cx
        .blocking(move |_| {
            let preview = prepared.preview(&aside);
            Ok((prepared, preview))
        })
        .await?;
    let mut details = json!({
        "toolName": spec.name,
        "description": prepared.description(),
        "risk": asking.risk.for_people(),
        "locations": prepared.locations(),
        "reason": asking.reason,
        "suggestedRules": asking.suggested_rules,
        "input": prepared.input(),
        "toolUseId": &*cx.tool_use_id,
        "sessionId": cx.session.id,
    });
    if let Value::Object(details) = &mut details {
        let optional = [("diff", preview), ("message", asking.message.clone())];
        details.extend(
            optional.into_iter().filter_map(|(key, it)| Some((key.to_owned(), Value::String(it?)))),
        );
    }
    Ok((prepared, details))
}

fn unanswered_error(unanswered: &Unanswered, asking: &Asking, spec: &ToolSpec) -> ToolError {
    let (name, reason) = (&spec.name, &asking.reason);
    match unanswered {
        Unanswered::NoListener(cause) => ToolError::new(
            ErrorKind::PolicyDenied,
            format!(
                "`{name}` needs a confirmation ({reason}), but {cause}; {}",
                asking.ways_to_allow
            ),
        ),
        Unanswered::Timeout(after) => ToolError::new(
            ErrorKind::ConfirmationTimeout,
            format!("nobody confirmed `{name}` within {} ms ({reason})", after.as_millis()),
        ),
        Unanswered::Cancelled => ToolError::cancelled(),
    }
}
