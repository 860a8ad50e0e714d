//! The web client: fetches pages over http and https within limits, and only from addresses it may reach.
//!
//! One fetch, from top to bottom:
//!
//! 1. [`WebClient::fetch`] looks into the cache and waits for its turn (`client`, `cache`, `turns`).
//! 2. `guard` checks the URL: scheme, port, and addresses that are written into it.
//! 3. `routes` chooses how to get there: straight, or through a proxy (`proxy`).
//! 4. `resolver` looks the name up and passes on only addresses that `guard` lets through. The connection
//!    is made to one of these, so a name that means another address a moment later changes nothing.
//! 5. `redirects` decides about the answer: follow on the same host, which is a new hop from step 2, or
//!    give the target back to the caller.
//! 6. `body` reads within limits and unpacks (`decompress`); `charset` makes text of it.
//!
//! `command_proxy` lets commands out through the same guard.
//!
//! It knows nothing of tools and policy, and what is in a body means nothing to it: `page` reads HTML, and
//! `search` the JSON of search services.

mod address;
mod allow;
mod body;
mod cache;
mod causes;
mod charset;
mod client;
mod command_proxy;
mod deadline;
mod decompress;
mod failure;
mod guard;
pub mod page;
mod proxy;
mod redirects;
mod request;
mod resolver;
mod routes;
pub mod search;
mod service_client;
mod settings;
mod tls;
mod turns;

pub use address::AddressClass;
pub use allow::AllowedHost;
pub use charset::decode_text;
pub use client::WebClient;
pub use command_proxy::{CommandProxy, ProxyHosts, ProxyOrder, ProxyTimes, TargetJudge};
pub use failure::{FetchError, TimedPhase};
pub use guard::parse_web_url;
pub use request::{
    CacheUse, CrossHostRedirect, FetchMethod, FetchOutcome, FetchRequest, FetchedPage,
};
pub use resolver::NameLookup;
pub(crate) use service_client::{causes_in_words, service_client};
pub use settings::{WebLimits, WebSettings};
