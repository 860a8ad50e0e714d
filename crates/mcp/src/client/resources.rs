//! The resources of connected servers, for the tools `ListMcpResources` and `ReadMcpResource`.
//!
//! If the host has handlers for resources, their answers are added.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use rmcp::{
    RoleClient,
    model::{
        ClientRequest, Extensions, ListResourceTemplatesRequest, ListResourcesRequest,
        PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, ServerResult,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{HandlerName, HostHandler, ToolContext};

use super::{
    McpServers,
    server_link::{ServerLink, one_line},
    status::McpServerState,
};

/// The maximum number of resources, and of templates, of one server.
const MAX_LISTED: usize = 2_000;
/// The maximum size of each of these two lists.
const MAX_LISTED_BYTES: usize = 4 * 1024 * 1024;
/// The maximum number of pages of each.
const MAX_PAGES: usize = 200;

/// Lists the resources of connected servers and of the host.
pub struct ResourceLister {
    /// The servers of the registry.
    pub servers: Arc<McpServers>,
    /// The host's handler.
    pub of_host: Option<Arc<dyn HostHandler>>,
}

/// Reads resources of connected servers and of the host.
pub struct ResourceReader {
    /// The servers of the registry.
    pub servers: Arc<McpServers>,
    /// The host's handler.
    pub of_host: Option<Arc<dyn HostHandler>>,
}

#[async_trait]
impl HostHandler for ResourceLister {
    async fn call(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let asked = input.get("server").and_then(Value::as_str);
        if let Some(link) = asked.and_then(|it| self.servers.find(it)) {
            return list_of(&link).await;
        }
        let all = if asked.is_none() { self.servers.all() } else { Vec::new() };
        if all.is_empty() {
            return match &self.of_host {
                Some(host) => host.call(input, facts, cx).await,
                None => Err(unknown(
                    asked.unwrap_or_default(),
                    &self.servers,
                    HandlerName::McpListResources,
                )),
            };
        }
        let of_host = match &self.of_host {
            Some(host) => Some(host.call(input, facts, cx).await),
            None => None,
        };
        let connected = all.iter().filter(|it| it.phase() == McpServerState::Connected);
        let of_servers = join_all(connected.map(|it| listed_in_time(it))).await;
        // If one server fails, the resources of the others are still listed.
        let (listed, failures): (Vec<_>, Vec<_>) =
            of_host.into_iter().chain(of_servers).partition(Result::is_ok);
        let lists: Vec<Value> = listed.into_iter().flatten().collect();
        let failures = failures.into_iter().filter_map(Result::err).map(|it| it.message);
        let unconnected = all.iter().filter(|it| it.phase() != McpServerState::Connected);
        let unconnected = unconnected.filter_map(|it| it.session().err()).map(|it| it.message);
        let problems: Vec<String> = failures.chain(unconnected).collect();
        Ok(merged(lists, &problems))
    }

    async fn call_until_stopped(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
        _stop: &CancellationToken,
    ) -> Result<Value, ToolError> {
        self.call(input, facts, cx).await
    }
}

#[async_trait]
impl HostHandler for ResourceReader {
    async fn call(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
        let (server, uri) = (text("server"), text("uri"));
        if let Some(link) = self.servers.find(server) {
            return read_of(&link, uri).await;
        }
        match &self.of_host {
            Some(host) => host.call(input, facts, cx).await,
            None => Err(unknown(server, &self.servers, HandlerName::McpReadResource)),
        }
    }

    async fn call_until_stopped(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
        _stop: &CancellationToken,
    ) -> Result<Value, ToolError> {
        self.call(input, facts, cx).await
    }
}

/// The error about an unknown server.
fn unknown(server: &str, servers: &McpServers, function: HandlerName) -> ToolError {
    let names: Vec<String> =
        servers.all().iter().take(20).map(|it| format!("`{}`", it.name())).collect();
    if names.is_empty() {
        let how = format!(
            "the host can configure servers in the option `mcpServers`, or pass the function `handlers.{}`",
            function.as_str()
        );
        let lack = "no MCP client is connected here, so there are no resources";
        return ToolError::new(ErrorKind::HandlerMissing, lack).allowed_by(&how);
    }
    let message =
        format!("no MCP server is named `{}`; there are {}", one_line(server), names.join(", "));
    ToolError::new(ErrorKind::Validation, message)
}

fn merged(lists: Vec<Value>, problems: &[String]) -> Value {
    let (mut resources, mut templates) = (Vec::new(), Vec::new());
    for list in lists {
        match list {
            Value::Array(items) => resources.extend(items),
            Value::Object(mut fields) => {
                let mut take = |key: &str| match fields.remove(key) {
                    Some(Value::Array(items)) => items,
                    _ => Vec::new(),
                };
                resources.extend(take("resources"));
                templates.extend(take("resourceTemplates"));
            }
            _ => {}
        }
    }
    json!({ "resources": resources, "resourceTemplates": templates, "problems": problems })
}

/// The two paginated lists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResourceKind {
    Resources,
    Templates,
}

/// The resources of a server, with a time limit, so that a server that does not answer cannot block the list.
async fn listed_in_time(link: &ServerLink) -> Result<Value, ToolError> {
    let limit = link.setup.startup;
    let too_late =
        |_| failed(link, &format!("it did not list them within {} ms", limit.as_millis()));
    tokio::time::timeout(limit, list_of(link)).await.map_err(too_late)?
}

async fn list_of(link: &ServerLink) -> Result<Value, ToolError> {
    let session = link.session()?;
    let peer = &session.peer;
    let has_resources = peer.peer_info().is_none_or(|it| it.capabilities.resources.is_some());
    if !has_resources {
        return Ok(json!({ "resources": [], "resourceTemplates": [] }));
    }
    let resources = pages(link, peer, ResourceKind::Resources).await?;
    // Many servers have resources but do not support templates.
    let templates = pages(link, peer, ResourceKind::Templates).await.unwrap_or_default();
    Ok(json!({ "resources": resources, "resourceTemplates": templates }))
}

async fn pages(
    link: &ServerLink,
    peer: &Peer<RoleClient>,
    kind: ResourceKind,
) -> Result<Vec<Value>, ToolError> {
    let mut all = Vec::new();
    let mut bytes = 0;
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let params = Some(PaginatedRequestParams::default().with_cursor(cursor.take()));
        let extensions = Extensions::default();
        let request = match kind {
            ResourceKind::Resources => ClientRequest::ListResourcesRequest(ListResourcesRequest {
                method: rmcp::model::ListResourcesRequestMethod,
                params,
                extensions,
            }),
            ResourceKind::Templates => {
                ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest {
                    method: rmcp::model::ListResourceTemplatesRequestMethod,
                    params,
                    extensions,
                })
            }
        };
        let (items, next) = match asked(link, peer, request).await? {
            ServerResult::ListResourcesResult(it) => (values(&it.resources), it.next_cursor),
            ServerResult::ListResourceTemplatesResult(it) => {
                (values(&it.resource_templates), it.next_cursor)
            }
            _ => return Err(failed(link, "its answer does not follow the protocol")),
        };
        for mut item in items {
            if let Some(fields) = item.as_object_mut() {
                fields.insert("server".to_owned(), json!(link.name()));
            }
            bytes += item.to_string().len();
            if bytes > MAX_LISTED_BYTES {
                return Ok(all);
            }
            all.push(item);
            if all.len() >= MAX_LISTED {
                return Ok(all);
            }
        }
        match next {
            None => break,
            next => cursor = next,
        }
    }
    Ok(all)
}

fn values<T: serde::Serialize>(items: &[T]) -> Vec<Value> {
    items.iter().filter_map(|it| serde_json::to_value(it).ok()).collect()
}

async fn read_of(link: &ServerLink, uri: &str) -> Result<Value, ToolError> {
    let session = link.session()?;
    let params = ReadResourceRequestParams::new(uri);
    let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
    match asked(link, &session.peer, request).await? {
        ServerResult::ReadResourceResult(it) => Ok(json!({ "contents": it.contents })),
        _ => Err(failed(link, "its answer does not follow the protocol")),
    }
}

async fn asked(
    link: &ServerLink,
    peer: &Peer<RoleClient>,
    request: ClientRequest,
) -> Result<ServerResult, ToolError> {
    let options = PeerRequestOptions::no_options();
    let answered = match peer.send_request_with_option(request, options).await {
        Ok(handle) => handle.await_response().await,
        Err(error) => Err(error),
    };
    answered.map_err(|error| match error {
        ServiceError::McpError(error) => failed(link, error.message.trim()),
        other => failed(link, &one_line(&other.to_string())),
    })
}

fn failed(link: &ServerLink, cause: &str) -> ToolError {
    let message = format!("MCP server `{}` does not return its resources: {cause}", link.name());
    ToolError::new(ErrorKind::McpServer, message)
}
