//! The Model Context Protocol.

use axum::{
    body::Body,
    extract::{FromRequest as _, Request, State},
    response::Response,
};
use futures_util::StreamExt as _;
use http::Method;

use super::{answers::HttpRefusal, bodies::BodyBytes, service::ServiceState};

/// Hands a request to the MCP server, which answers in the protocol's own forms.
pub(super) async fn answer(
    State(state): State<ServiceState>,
    request: Request,
) -> Result<Response, HttpRefusal> {
    let (parts, body) = request.into_parts();
    let is_stream = parts.method == Method::GET;
    let BodyBytes(body) = BodyBytes::from_request(Request::new(body), &()).await?;
    let request = Request::from_parts(parts, body);
    let answer = state.registry.http_door().answer(request).await.map(Body::new);
    if !is_stream {
        return Ok(answer);
    }
    // A stream of what the server sends by itself has no end of its own.
    let ending = state.ending.cancelled_owned();
    Ok(answer.map(|body| Body::from_stream(body.into_data_stream().take_until(ending))))
}
