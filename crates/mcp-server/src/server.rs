//! Answers the requests of one client.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
        CustomResult, ErrorCode, Implementation, ListToolsResult, MetaObject,
        PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio::{
    sync::mpsc::{self, UnboundedSender},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::tools::{Answer, Arrived, Block, Call, Definition, Step, Tools};

/// The methods we answer.
const KNOWN_METHODS: [&str; 5] =
    ["initialize", "ping", "server/discover", "tools/call", "tools/list"];

/// What the server says of itself.
#[derive(Clone, Debug)]
pub struct ServerIdentity {
    /// Its name, which is part of the tools' names on the client's side.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What a client's model is told about the tools as a whole.
    pub instructions: Option<String>,
}

/// One client's view of the tools.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) tools: Arc<dyn Tools>,
    pub(crate) identity: ServerIdentity,
    /// Cancelled when the client is no longer there.
    pub(crate) gone: CancellationToken,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info =
            Implementation::new(self.identity.name.clone(), self.identity.version.clone());
        info.instructions.clone_from(&self.identity.instructions);
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.list().into_iter().map(told).collect();
        Ok(ListToolsResult { tools, ..ListToolsResult::default() })
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
        let cancel = self.gone.child_token();
        let (steps, forwarding) = forward_steps(&context).unzip();
        let arrived = context.extensions.get::<KeptArrival>().and_then(KeptArrival::take);
        let arrived = arrived.unwrap_or_else(|| self.tools.arrive(&request.name));
        let run = arrived.call(Call {
            name: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            meta: (*context.meta.0).clone(),
            cancel: cancel.clone(),
            steps,
        });
        tokio::pin!(run);
        let answer = tokio::select! {
            answer = &mut run => answer,
            () = context.ct.cancelled() => {
                cancel.cancel();
                run.await
            }
        };
        // Progress must not come after the answer it belongs to.
        if let Some(forwarding) = forwarding {
            drop(forwarding.await);
        }
        Ok(CallToolResponse::Complete(result(answer)))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        // rmcp takes a known request whose params do not fit for one of a method it does not know.
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
        self.tools.find(name).map(told)
    }
}

/// What was noted when a call was read off the line, on its way to the task that answers it.
#[derive(Clone)]
pub(crate) struct KeptArrival(Arc<Mutex<Option<Box<dyn Arrived>>>>);

impl KeptArrival {
    pub(crate) fn new(arrived: Box<dyn Arrived>) -> Self {
        Self(Arc::new(Mutex::new(Some(arrived))))
    }

    fn take(&self) -> Option<Box<dyn Arrived>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Where steps go for a client that wants them, and the task that sends them until nobody makes more.
fn forward_steps(
    context: &RequestContext<RoleServer>,
) -> Option<(UnboundedSender<Step>, JoinHandle<()>)> {
    let token = context.meta.get_progress_token()?;
    let (sender, mut steps) = mpsc::unbounded_channel();
    let peer = context.peer.clone();
    let task = tokio::spawn(async move {
        while let Some(Step { progress, total, message }) = steps.recv().await {
            let mut step = ProgressNotificationParam::new(token.clone(), progress);
            step.total = total;
            step.message = message;
            if peer.notify_progress(step).await.is_err() {
                return;
            }
        }
    });
    Some((sender, task))
}

fn told(tool: Definition) -> Tool {
    let Definition { name, title, description, input_schema, output_schema, annotations, meta } =
        tool;
    let mut told = Tool::new(Cow::Owned(name), Cow::Owned(description), Arc::new(input_schema));
    told.title = Some(title);
    told.output_schema = output_schema.map(Arc::new);
    told.annotations = serde_json::from_value(annotations).ok();
    told.meta = Some(MetaObject::from(meta));
    told
}

fn result(answer: Answer) -> CallToolResult {
    let content = answer.content.into_iter().map(block).collect();
    let mut result = if answer.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = answer.structured;
    result.meta = (!answer.meta.is_empty()).then(|| MetaObject::from(answer.meta));
    result
}

fn block(block: Block) -> ContentBlock {
    match block {
        Block::Text(text) => ContentBlock::text(text),
        Block::Image { data, mime_type } => ContentBlock::image(data, mime_type),
        Block::Other(block) => {
            let block = Value::Object(block);
            serde_json::from_value(block.clone())
                .unwrap_or_else(|_| ContentBlock::text(block.to_string()))
        }
    }
}
