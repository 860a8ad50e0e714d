//! The web client: fetches pages over http and https within limits, and only from permitted addresses.
//!
//! 1. [`WebClient::fetch`] checks the cache and waits for its turn (`client`, `cache`, `turns`).
//! 2. `guard` checks the URL: its scheme, its port, and an address in place of a host name.
//! 3. `routes` chooses a direct connection or a proxy (`proxy`).
//! 4. `resolver` looks up the name and returns only addresses that `guard` permits.
//! 5. `redirects` follows a redirect on the same host from step 2 on, and returns any other to the caller.
//! 6. `body` reads and decompresses the body within limits (`decompress`); `charset` decodes it to text.
//!
//! `command_proxy` gives sandboxed commands network access through the same guard, and `search` asks search
//! services. This crate must not know tools or policy.
//!
//! The invariant: a connection is made only to an address that `guard` has permitted. A later change of the
//! name's address has no effect.
//!
//! Start at [`WebClient::fetch`].

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
mod proxy;
mod redirects;
mod request;
mod resolver;
mod routes;
mod search;
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
pub use service_client::{causes_in_words, service_client};
pub use settings::{WebLimits, WebSettings};

pub use search::{
    Domain, FoundPage, MAX_RESULTS, SearchOptions, SearchSetup, WebQuery, WebSearchError,
};
