//! The two eras of the protocol.

use rmcp::{RoleServer, model::ProtocolVersion, service::RequestContext};

/// Whether a request is of the protocol of 2026-07-28 or later: without sessions, and without requests of the
/// server to the client.
pub(super) fn is_new_era(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}
