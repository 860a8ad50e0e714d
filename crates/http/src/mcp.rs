//! The Model Context Protocol over streamable HTTP.

use axum::{
    body::Body,
    extract::{FromRequest as _, Request, State},
    response::Response,
};
use futures_util::StreamExt as _;
use http::Method;

use super::{answers::HttpRefusal, bodies::BodyBytes, service::ServiceState};

/// Passes a request to the MCP server, which answers as the protocol requires.
pub(super) async fn answer(
    State(state): State<ServiceState>,
    request: Request,
) -> Result<Response, HttpRefusal> {
    let (parts, body) = request.into_parts();
    let is_stream = parts.method == Method::GET;
    let BodyBytes(body) = BodyBytes::from_request(Request::new(body), &()).await?;
    let request = Request::from_parts(parts, body);
    let answer = state.registry.mcp_endpoint().answer(request).await.map(Body::new);
    if !is_stream {
        return Ok(answer);
    }
    // The stream of server-initiated messages never ends by itself.
    let ending = state.ending.cancelled_owned();
    Ok(answer.map(|body| Body::from_stream(body.into_data_stream().take_until(ending))))
}
