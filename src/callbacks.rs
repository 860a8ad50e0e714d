//! JavaScript functions that Rust may call from any thread.
//!
//! All are weak, so that an open registry does not keep the process alive. Each function is still a
//! root for JavaScript's garbage collector until it is dropped here. So the facade passes functions
//! that refer to its objects weakly, and every holder drops its function when it ends.

use napi::{Status, bindgen_prelude::FnArgs, threadsafe_function::ThreadsafeFunction};

/// Takes one JSON text and returns nothing.
pub(super) type Listener = ThreadsafeFunction<String, (), String, Status, false, true>;

/// A message to the facade about one of the host's functions: what happens, the call's key, the
/// function's number, and for a call the input and the context as JSON.
pub(super) type HostMessage = FnArgs<(&'static str, u32, u32, String, String)>;

/// Calls the functions of one host: the handlers of its tools, and its hooks. There is only one
/// threadsafe function for all of them, because every turn of the event loop checks each one. The
/// facade answers through `hostAnswer`, because waiting here for a promise would cost another round
/// trip between the threads.
pub(super) type HostListener =
    ThreadsafeFunction<HostMessage, (), HostMessage, Status, false, true>;
