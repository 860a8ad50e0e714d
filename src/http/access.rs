//! Who may ask: the token, and the names by which the server may be addressed.

/// What a request has to show before it is answered.
#[derive(Clone, Debug, Default)]
pub struct AccessRules {
    /// The bearer token. Without one, whoever serves the requests has checked who asks.
    pub token: Option<String>,
    /// The names, with or without port, by which the server may be addressed, besides those of this machine's
    /// loopback. A page of another site that has its own name point here is refused by this.
    pub hosts: Vec<String>,
}
