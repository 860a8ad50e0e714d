//! The moment from which on a call has an effect, and answers with it whatever comes.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use crate::error::ToolError;

const OPEN: u8 = 0;
const COMMITTED: u8 = 1;
const WITHDRAWN: u8 = 2;

/// Decides between whoever is about to take effect and whoever ends the call: the first one wins. So a
/// call that is reported as cancelled has changed nothing.
#[derive(Clone, Debug, Default)]
pub struct Commitment(Arc<AtomicU8>);

impl Commitment {
    /// Asked right before the effect; refused when the call has been ended.
    pub fn commit(&self) -> Result<(), ToolError> {
        match self.decide(COMMITTED) {
            WITHDRAWN => Err(ToolError::cancelled()),
            _ => Ok(()),
        }
    }

    /// Ends a call that has had no effect; false when it has.
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
