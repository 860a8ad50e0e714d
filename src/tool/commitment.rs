//! Decides whether a call was cancelled before it had an effect, or had its effect before it could be
//! cancelled.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use crate::error::ToolError;

const OPEN: u8 = 0;
const COMMITTED: u8 = 1;
const WITHDRAWN: u8 = 2;

/// The decision between a tool that is about to have an effect and a caller that cancels the call: whichever
/// comes first. So a call that is reported as cancelled has changed nothing.
#[derive(Clone, Debug, Default)]
pub struct Commitment(Arc<AtomicU8>);

impl Commitment {
    /// Called by the tool right before its effect. Fails when the call was cancelled.
    pub(crate) fn commit(&self) -> Result<(), ToolError> {
        match self.decide(COMMITTED) {
            WITHDRAWN => Err(ToolError::cancelled()),
            _ => Ok(()),
        }
    }

    /// Cancels the call. False when it has had its effect already.
    pub(crate) fn withdraw(&self) -> bool {
        self.decide(WITHDRAWN) != COMMITTED
    }

    fn decide(&self, wanted: u8) -> u8 {
        match self.0.compare_exchange(OPEN, wanted, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => wanted,
            Err(decided) => decided,
        }
    }
}
