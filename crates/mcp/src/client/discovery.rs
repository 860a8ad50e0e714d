//! Lists the tools of a server, within limits.

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{
        ClientRequest, CustomResult, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::Value;

use super::{handshake::ConnectFailure, server_link::one_line};

/// The maximum number of tools of one server.
pub(super) const MAX_TOOLS: usize = 1_000;
/// The maximum size of all definitions of one server.
const MAX_BYTES: usize = 1024 * 1024;
/// The maximum number of pages. A server may put a single tool on each page, or none.
const MAX_PAGES: usize = MAX_TOOLS + 100;

/// The tools of a server, and the problems of tools that were left out.
#[derive(Default)]
pub(super) struct Discovered {
    pub(super) tools: Vec<Tool>,
    pub(super) problems: Vec<String>,
    bytes: usize,
}

/// Lists the tools for which `wanted` returns true.
pub(super) async fn discover(
    peer: &Peer<RoleClient>,
    wanted: &(dyn Fn(&str) -> bool + Send + Sync),
) -> Result<Discovered, ConnectFailure> {
    let mut found = Discovered::default();
    let has_tools = peer.peer_info().is_none_or(|it| it.capabilities.tools.is_some());
    if !has_tools {
        return Ok(found);
    }
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let (page, next) = page(peer, cursor.take()).await?;
        for tool in page {
            if !found.take(tool, wanted) {
                return Ok(found);
            }
        }
        match next {
            None => return Ok(found),
            next => cursor = next,
        }
    }
    found
        .problems
        .push(format!("its list of tools has more than {MAX_PAGES} pages; the rest is left out"));
    Ok(found)
}

impl Discovered {
    /// Adds a tool. Returns false when a limit is reached.
    fn take(
        &mut self,
        tool: Result<Tool, String>,
        wanted: &(dyn Fn(&str) -> bool + Send + Sync),
    ) -> bool {
        let tool = match tool {
            Ok(tool) => tool,
            Err(problem) => {
                self.problems.push(problem);
                return self.problems.len() < MAX_TOOLS;
            }
        };
        if !wanted(&tool.name) {
            return true;
        }
        if self.tools.len() >= MAX_TOOLS {
            let problem = format!("it has more than {MAX_TOOLS} tools; the rest is left out");
            self.problems.push(problem);
            return false;
        }
        self.bytes += serde_json::to_string(&tool).map_or(0, |it| it.len());
        if self.bytes > MAX_BYTES {
            let taken = self.tools.len();
            self.problems.push(format!(
                "the definitions of its tools have more than {MAX_BYTES} bytes; those after the first \
                 {taken} are left out"
            ));
            return false;
        }
        self.tools.push(tool);
        true
    }
}

type ToolPage = (Vec<Result<Tool, String>>, Option<String>);

async fn page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<ToolPage, ConnectFailure> {
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    let request = ClientRequest::ListToolsRequest(ListToolsRequest {
        method: rmcp::model::ListToolsRequestMethod,
        params: Some(params),
        extensions: rmcp::model::Extensions::default(),
    });
    let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    let answered = match sent {
        Ok(handle) => handle.await_response().await,
        Err(error) => Err(error),
    };
    match answered {
        Ok(ServerResult::ListToolsResult(list)) => {
            Ok((list.tools.into_iter().map(Ok).collect(), list.next_cursor))
        }
        // If one tool is invalid, rmcp parses the whole list as a custom result.
        Ok(ServerResult::CustomResult(CustomResult(list))) => read_one_by_one(list),
        Ok(_) => Err(other("its list of tools does not follow the protocol")),
        Err(ServiceError::McpError(error)) => {
            Err(other(&format!("it does not list its tools: {}", one_line(&error.message))))
        }
        Err(error) => Err(ConnectFailure::BrokeOff(format!(
            "it did not list its tools: {}",
            one_line(&error.to_string())
        ))),
    }
}

fn other(words: &str) -> ConnectFailure {
    ConnectFailure::Other(words.to_owned())
}

fn read_one_by_one(mut list: Value) -> Result<ToolPage, ConnectFailure> {
    let cursor = list.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
    let Some(Value::Array(tools)) = list.get_mut("tools").map(Value::take) else {
        return Err(other("its list of tools does not follow the protocol"));
    };
    let read = |(number, tool): (usize, Value)| {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let name = one_line(name);
        serde_json::from_value(tool).map_err(|cause: serde_json::Error| {
            // The cause quotes the tool, which may be long.
            let cause = one_line(&cause.to_string());
            format!("tool {number} of its list, `{name}`, is left out: {cause}")
        })
    };
    Ok((tools.into_iter().enumerate().map(read).collect(), cursor))
}

/// The definition of a tool as text, to detect changes.
pub(super) fn fingerprint(tool: &Tool) -> Arc<str> {
    serde_json::to_string(tool).unwrap_or_default().into()
}
