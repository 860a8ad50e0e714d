//! Why a connection of a command was refused or failed. The texts reach the command and so the model: they
//! name no options.

use std::io;

use http::StatusCode;

/// Why a connection of a command was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProxyRefusal {
    /// The target is not permitted.
    Forbidden(String),
    /// The request is invalid.
    BadRequest(String),
    /// The name has no address.
    NotFound(String),
    /// The connection failed, for this reason.
    Unreachable(String, io::ErrorKind),
    /// It took too long.
    TimedOut(String),
}

impl ProxyRefusal {
    /// The reason for people and models.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Forbidden(words)
            | Self::BadRequest(words)
            | Self::NotFound(words)
            | Self::Unreachable(words, _)
            | Self::TimedOut(words) => words,
        }
    }

    /// The status of an HTTP answer.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) | Self::Unreachable(..) => StatusCode::BAD_GATEWAY,
            Self::TimedOut(_) => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// The code of a SOCKS answer.
    pub(super) fn socks_code(&self) -> u8 {
        match self {
            Self::Forbidden(_) => 2,
            Self::Unreachable(_, io::ErrorKind::NetworkUnreachable) => 3,
            Self::NotFound(_) | Self::Unreachable(_, io::ErrorKind::HostUnreachable) => 4,
            Self::Unreachable(_, io::ErrorKind::ConnectionRefused) => 5,
            Self::TimedOut(_) => 6,
            Self::BadRequest(_) | Self::Unreachable(..) => 1,
        }
    }
}
