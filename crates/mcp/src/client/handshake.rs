//! Negotiates the version of the protocol with a server.

use rmcp::{
    RoleClient,
    model::{ErrorCode, ProtocolVersion},
    service::{
        ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
    },
    transport::Transport,
};

use super::{
    server_link::{one_line, transport_words},
    server_requests::ServerRequests,
};

/// A connection after the handshake.
pub(super) type AgreedConnection = RunningService<RoleClient, ServerRequests>;

/// The two generations of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Up to 2025: the connection starts with `initialize`. Nearly every server supports it.
    WithInitialize,
    /// From 2026 on: there is no handshake, and every request carries its own metadata.
    WithDiscovery,
}

/// Why a handshake failed.
#[derive(Debug)]
pub(super) enum HandshakeFailure {
    /// The server no longer supports `initialize`, so the newer era has to be tried.
    NoInitialize,
    /// Anything else.
    Other(ConnectFailure),
}

/// Why a server is not connected.
#[derive(Debug)]
pub(super) enum ConnectFailure {
    /// It closed the connection. If it is a program, its exit status explains more than this message.
    BrokeOff(String),
    /// Any other reason.
    Other(String),
}

/// Performs the handshake.
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
            format!("it refuses to begin: {}", one_line(&refusal.message))
        }
        ClientInitializeError::ConnectionClosed(_) => {
            let words = "it closed the connection before it was ready".to_owned();
            return HandshakeFailure::Other(ConnectFailure::BrokeOff(words));
        }
        ClientInitializeError::TransportError { error, .. } => {
            let words = transport_words(&*error.error);
            return HandshakeFailure::Other(ConnectFailure::BrokeOff(words));
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<String> =
                server_supported.iter().take(10).map(ToString::to_string).collect();
            format!("it supports no known version of the protocol, only {versions:?}")
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "its answer to the first request does not follow the protocol".to_owned()
        }
        other => one_line(&other.to_string()),
    };
    HandshakeFailure::Other(ConnectFailure::Other(words))
}
