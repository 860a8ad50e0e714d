//! Answers `tools/call`: with the result, or with a question to the user.

use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, ProgressNotificationParam},
    service::RequestContext,
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use toolwright_base::{SHOWN_NAME, shortened};
use toolwright_core::{Progress, ProgressSink};
use toolwright_pipeline::{Arrival, SharedBus};

use super::{
    ServedTools,
    client_questions::{CallQuestions, ClientQuestion, OpenQuestions, QuestionDelivery},
};

/// How many progress steps are queued for a client that does not read. Later steps are dropped.
const MAX_STEPS: usize = 1_000;

/// Runs a call until its end, or until its client cancels it or has disconnected.
pub(super) async fn answered_call(
    tools: &ServedTools,
    disconnected: &CancellationToken,
    open: &OpenQuestions,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if !tools.has(&request.name) {
        let shown = shortened(&request.name, SHOWN_NAME);
        return Err(ErrorData::invalid_params(format!("no tool is named `{shown}`"), None));
    }
    let delivery = QuestionDelivery::of(context);
    let given = match delivery {
        Some(QuestionDelivery::CallAnswer) => open.take(&request)?,
        _ => None,
    };
    let cancel = disconnected.child_token();
    let (progress, forwarding) = forwarded_progress(context);
    let arrival = context.extensions.get::<KeptArrival>().and_then(KeptArrival::take);
    let arrival = arrival.unwrap_or_else(|| tools.arrival(&request.name));
    let mut questions = delivery.map(|_| CallQuestions::new());
    let bus = questions.as_ref().map(|it| SharedBus::clone(&it.bus));
    let run = tools.call(arrival, request, &context.meta.0, cancel.clone(), progress, bus);
    tokio::pin!(run);
    let cancelled = context.ct.cancelled();
    tokio::pin!(cancelled);
    let mut is_cancelled = false;
    // The question that the client is asking its user.
    let mut asking: Option<ClientQuestion> = None;
    let result = loop {
        let question = tokio::select! {
            result = &mut run => break result,
            () = &mut cancelled, if !is_cancelled => {
                is_cancelled = true;
                cancel.cancel();
                continue;
            }
            question = next_question(questions.as_mut(), asking.take(), context) => question,
        };
        let Some(questions) = &questions else { continue };
        if delivery == Some(QuestionDelivery::Request) {
            asking = Some(question);
        } else if let Some(answer) = given.as_ref().and_then(|it| it.to(&question)) {
            questions.respond(&question, answer);
        } else {
            let asked = open.put(&question, tools.question_time())?;
            // Nothing has run yet. The client calls again with the answer.
            cancel.cancel();
            drop(run.await);
            return Ok(CallToolResponse::InputRequired(asked));
        }
    };
    // Progress must not be sent after the result.
    if let Some(forwarding) = forwarding {
        drop(forwarding.await);
    }
    Ok(CallToolResponse::Complete(result))
}

/// The next question of a call, after the previous one was asked. Waits forever if the client cannot ask.
async fn next_question(
    questions: Option<&mut CallQuestions>,
    asking: Option<ClientQuestion>,
    context: &RequestContext<RoleServer>,
) -> ClientQuestion {
    let Some(questions) = questions else { return std::future::pending().await };
    if let Some(question) = asking {
        questions.ask(&question, &context.peer).await;
    }
    questions.next().await
}

/// The arrival of a call, attached to its request for the task that runs the call.
#[derive(Clone)]
pub(super) struct KeptArrival(Arc<Mutex<Option<Arrival>>>);

impl KeptArrival {
    pub(super) fn new(arrival: Arrival) -> Self {
        Self(Arc::new(Mutex::new(Some(arrival))))
    }

    fn take(&self) -> Option<Arrival> {
        self.0.lock().take()
    }
}

/// A sink for a call's progress, and the task that forwards the progress if the client asked for it. The task ends
/// when the call drops the sink.
fn forwarded_progress(
    context: &RequestContext<RoleServer>,
) -> (ProgressSink, Option<JoinHandle<()>>) {
    let Some(token) = context.meta.get_progress_token() else {
        return (ProgressSink::default(), None);
    };
    let (sender, mut steps) = mpsc::channel(MAX_STEPS);
    let sink = ProgressSink::new(move |news| {
        if let Progress::Step { progress, total, message } = news {
            let mut step = ProgressNotificationParam::new(token.clone(), progress);
            step.total = total;
            step.message = message;
            // Dropped if the client has disconnected or does not read.
            drop(sender.try_send(step));
        }
    });
    let peer = context.peer.clone();
    let forwarding = tokio::spawn(async move {
        while let Some(step) = steps.recv().await {
            if peer.notify_progress(step).await.is_err() {
                return;
            }
        }
    });
    (sink, Some(forwarding))
}
