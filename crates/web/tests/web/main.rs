//! Tests of `toolwright-web` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

mod answers;
mod command_proxy;
mod command_proxy_bounds;
mod command_proxy_client;
mod guard;
mod lifetime;
mod redirects;
mod server;
mod tls;
