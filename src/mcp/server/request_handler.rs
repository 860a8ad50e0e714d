//! Answers the requests of one client.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
        Implementation, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::ServedTools;
use crate::{
    pipeline::Arrival,
    tool::{Progress, ProgressSink},
};

/// The methods that the server answers.
const KNOWN_METHODS: [&str; 5] =
    ["initialize", "ping", "server/discover", "tools/call", "tools/list"];

/// The server of one client.
#[derive(Clone)]
pub(super) struct McpServer {
    pub(super) tools: ServedTools,
    /// Cancelled when the client has disconnected.
    pub(super) disconnected: CancellationToken,
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let identity = self.tools.identity();
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new(identity.name, identity.version);
        info.instructions = identity.instructions;
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult { tools: self.tools.list(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.tools.find(&request.name).is_none() {
            return Err(ErrorData::invalid_params(
                format!("no tool is named `{}`", request.name),
                None,
            ));
        }
        let cancel = self.disconnected.child_token();
        let (progress, forwarding) = forwarded_progress(&context);
        let arrival = context.extensions.get::<KeptArrival>().and_then(KeptArrival::take);
        let arrival = arrival.unwrap_or_else(|| self.tools.arrival(&request.name));
        let meta = &context.meta.0;
        let run = self.tools.call(arrival, request, meta, cancel.clone(), progress);
        tokio::pin!(run);
        let result = tokio::select! {
            result = &mut run => result,
            () = context.ct.cancelled() => {
                cancel.cancel();
                run.await
            }
        };
        // Progress must not come after the result it belongs to.
        if let Some(forwarding) = forwarding {
            drop(forwarding.await);
        }
        Ok(CallToolResponse::Complete(result))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        // rmcp treats a known request with unfitting params as a request of an unknown method.
        Err(if KNOWN_METHODS.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the params of `{method}` do not fit"), None)
        } else {
            ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("no method is named `{method}`"),
                None,
            )
        })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.find(name)
    }
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
    let (sender, mut steps) = mpsc::unbounded_channel();
    let sink = ProgressSink::new(move |news| {
        if let Progress::Step { progress, total, message } = news {
            let mut step = ProgressNotificationParam::new(token.clone(), progress);
            step.total = total;
            step.message = message;
            // A client that has disconnected needs no progress.
            drop(sender.send(step));
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
