//! Agrees with a server on the version of the protocol.

use rmcp::{
    RoleClient,
    model::{ErrorCode, ProtocolVersion},
    service::{
        ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
    },
    transport::Transport,
};

use super::{server_link::shortened, server_requests::ServerRequests};

/// A connection that is agreed on.
pub(super) type AgreedConnection = RunningService<RoleClient, ServerRequests>;

/// The era of the protocol that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Up to 2025: the connection begins with `initialize`. Nearly every server understands it.
    WithInitialize,
    /// From 2026 on: every request says all that is needed.
    WithDiscovery,
}

/// Why there was no agreement.
#[derive(Debug)]
pub(super) enum HandshakeFailure {
    /// The server knows `initialize` no more, so the other era has to be tried.
    NoInitialize,
    /// Anything else, in words.
    Other(String),
}

/// Begins a connection.
pub(super) async fn agree<T>(
    transport: T,
    requests: ServerRequests,
    era: Era,
) -> Result<AgreedConnection, HandshakeFailure>
where
    T: Transport<RoleClient> + 'static,
{
    let mode = match era {
        Era::WithInitialize => ClientLifecycleMode::Initialize,
        Era::WithDiscovery => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let begun = serve_client_with_lifecycle(requests, transport, mode);
    Box::pin(begun).await.map_err(|error| failure_of(&error, era))
}

fn failure_of(error: &ClientInitializeError, era: Era) -> HandshakeFailure {
    let words = match error {
        ClientInitializeError::JsonRpcError(refusal) => {
            let is_unknown = matches!(
                refusal.code,
                ErrorCode::METHOD_NOT_FOUND | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
            );
            if is_unknown && era == Era::WithInitialize {
                return HandshakeFailure::NoInitialize;
            }
            format!("it refuses to begin: {}", shortened(&refusal.message))
        }
        ClientInitializeError::ConnectionClosed(_) => {
            "it closed the connection before it was ready".to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => shortened(&error.error.to_string()),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<String> =
                server_supported.iter().take(10).map(ToString::to_string).collect();
            format!("it speaks no version of the protocol that is known here, only {versions:?}")
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "its answer to the first request is not one of the protocol".to_owned()
        }
        other => shortened(&other.to_string()),
    };
    HandshakeFailure::Other(words)
}
