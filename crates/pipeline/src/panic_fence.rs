//! Turns a panic in a tool into an error of that call, with the panic's message. Other calls are not
//! affected.

use std::{
    any::Any,
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use toolwright_base::{ErrorKind, ToolError};

thread_local! {
    static LAST_PANIC_AT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics off the host's stderr. The fence reports them with their location instead.
pub fn quiet_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|it| format!("{}:{}", it.file(), it.line()));
        LAST_PANIC_AT.with_borrow_mut(|last| *last = place);
    }));
}

/// Runs synchronous work behind the fence.
pub(super) fn fenced<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|payload| Err(panic_error(payload.as_ref())))
}

/// The error that a caught panic becomes.
pub(super) fn panic_error(payload: &(dyn Any + Send)) -> ToolError {
    let message = payload
        .downcast_ref::<&str>()
        .map(|it| (*it).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    let place = LAST_PANIC_AT
        .with_borrow_mut(Option::take)
        .map(|place| format!(" at {place}"))
        .unwrap_or_default();
    ToolError::new(
        ErrorKind::Internal,
        format!(
            "the tool panicked{place}: {message}; this is a bug in toolwright, please report it"
        ),
    )
}
