//! Answers one `tools/call`: with the result, or with what has to be asked first.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, ProgressNotificationParam},
    service::RequestContext,
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    ServedTools,
    client_questions::{AskingWay, CallQuestions, OpenQuestions, Question},
};
use crate::{
    confirm::SharedBus,
    pipeline::Arrival,
    tool::{Progress, ProgressSink},
};

/// How many steps wait for a client that takes none. Later ones are left out.
const MAX_STEPS: usize = 1_000;

/// Runs a call until its end, or until its client cancels it or has disconnected.
pub(super) async fn answered_call(
    tools: &ServedTools,
    disconnected: &CancellationToken,
    open: &OpenQuestions,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if tools.find(&request.name).is_none() {
        let shown: String = request.name.chars().take(80).collect();
        return Err(ErrorData::invalid_params(format!("no tool is named `{shown}`"), None));
    }
    let way = AskingWay::of(context);
    let given = match way {
        Some(AskingWay::Round) => open.take(&request)?,
        _ => None,
    };
    let cancel = disconnected.child_token();
    let (progress, forwarding) = forwarded_progress(context);
    let arrival = context.extensions.get::<KeptArrival>().and_then(KeptArrival::take);
    let arrival = arrival.unwrap_or_else(|| tools.arrival(&request.name));
    let mut questions = way.map(|_| CallQuestions::new());
    let bus = questions.as_ref().map(|it| SharedBus::clone(&it.bus));
    let run = tools.call(arrival, request, &context.meta.0, cancel.clone(), progress, bus);
    tokio::pin!(run);
    let cancelled = context.ct.cancelled();
    tokio::pin!(cancelled);
    let mut is_cancelled = false;
    // A question that the client is asking its user.
    let mut asking: Option<Question> = None;
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
        if way == Some(AskingWay::Request) {
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
    // Progress must not come after the result it belongs to.
    if let Some(forwarding) = forwarding {
        drop(forwarding.await);
    }
    Ok(CallToolResponse::Complete(result))
}

/// The next question of a call, once the client has asked the one before; never, if the client cannot ask.
async fn next_question(
    questions: Option<&mut CallQuestions>,
    asking: Option<Question>,
    context: &RequestContext<RoleServer>,
) -> Question {
    let Some(questions) = questions else { return std::future::pending().await };
    if let Some(question) = asking {
        questions.ask(&question, &context.peer).await;
    }
    questions.next().await
}

/// The arrival of a call, on its way from the connection to the task that answers the call.
#[derive(Clone)]
pub(super) struct KeptArrival(Arc<Mutex<Option<Arrival>>>);

impl KeptArrival {
    pub(super) fn new(arrival: Arrival) -> Self {
        Self(Arc::new(Mutex::new(Some(arrival))))
    }

    fn take(&self) -> Option<Arrival> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Takes the progress of a call, and the task that forwards it to a client that asked for it. The task ends
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
            // A client that has disconnected needs no progress, and one that takes none only the result.
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
