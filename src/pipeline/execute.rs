//! Runs a permitted call within its time, until it is cancelled, behind the panic fence.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;

use super::panic_fence::panic_error;
use crate::{
    confirm::Permitted,
    error::{ErrorKind, ToolError},
    tool::{ToolContext, ToolOutput},
};

pub(super) async fn execute(
    call: Permitted,
    cx: &ToolContext,
    timeout: Duration,
    closed: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let run = AssertUnwindSafe(call.into_prepared().run(cx)).catch_unwind();
    tokio::select! {
        biased;
        () = cx.cancel.cancelled() => Err(ToolError::cancelled()),
        () = closed.cancelled() => Err(ToolError::new(
            ErrorKind::RegistryClosed,
            "the registry was closed while the call ran",
        )),
        ended = run => ended.unwrap_or_else(|payload| Err(panic_error(payload.as_ref()))),
        () = tokio::time::sleep(timeout) => Err(ToolError::new(
            ErrorKind::Timeout,
            format!("the call was stopped after its limit of {} ms", timeout.as_millis()),
        )),
    }
}
