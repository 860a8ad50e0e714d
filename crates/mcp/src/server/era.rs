//! Distinguishes the two eras of the protocol: before and since version 2026-07-28.

use rmcp::{RoleServer, model::ProtocolVersion, service::RequestContext};

/// True if a request uses protocol 2026-07-28 or later, which has no sessions and no requests from the server to
/// the client.
pub(super) fn is_new_era(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}
