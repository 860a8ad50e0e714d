//! Decides whether a call was cancelled before its effect, or had its effect before the cancellation.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use toolwright_base::ToolError;

const OPEN: u8 = 0;
const COMMITTED: u8 = 1;
const WITHDRAWN: u8 = 2;

/// Shared by the tool, which is about to have an effect, and the caller, which may cancel the call. The
/// first of them decides. So a call that is reported as cancelled has changed nothing.
#[derive(Clone, Debug, Default)]
pub struct Commitment(Arc<AtomicU8>);

impl Commitment {
    /// Called by the tool right before its effect. Fails if the call was cancelled.
    pub fn commit(&self) -> Result<(), ToolError> {
        match self.decide(COMMITTED) {
            WITHDRAWN => Err(ToolError::cancelled()),
            _ => Ok(()),
        }
    }

    /// Cancels the call. Returns false if it already had its effect.
    pub fn withdraw(&self) -> bool {
        self.decide(WITHDRAWN) != COMMITTED
    }

    fn decide(&self, wanted: u8) -> u8 {
        match self.0.compare_exchange(OPEN, wanted, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => wanted,
            Err(decided) => decided,
        }
    }
}
