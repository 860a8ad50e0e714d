//! The step that may wait for a person, and the only maker of [`Permitted`].

use crate::{
    error::{ErrorKind, ToolError},
    policy::Decision,
    tool::Prepared,
};

/// A call that policy, and a person where one was asked, let through. Nothing else can run.
pub struct Permitted(Box<dyn Prepared>);

impl Permitted {
    pub(crate) fn into_prepared(self) -> Box<dyn Prepared> {
        self.0
    }
}

/// Asks people. There is nobody to ask yet, so asking is refusing.
#[derive(Debug, Default)]
pub struct Confirmations;

impl Confirmations {
    /// Turns a decision into a permission or the reason why there is none.
    #[expect(clippy::unused_async, reason = "waits for a listener as soon as there can be one")]
    pub async fn settle(
        &self,
        decision: Decision,
        prepared: Box<dyn Prepared>,
    ) -> Result<Permitted, ToolError> {
        match decision {
            Decision::Allow => Ok(Permitted(prepared)),
            Decision::Deny(error) => Err(error),
            Decision::Ask { reason } => Err(ToolError::new(
                ErrorKind::PolicyDenied,
                format!("{reason}, and nobody listens for confirmation requests"),
            )),
        }
    }
}
