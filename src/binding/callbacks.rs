//! JavaScript functions that Rust may call from any thread. All are weak: a registry that somebody
//! keeps must not keep the process alive.

use napi::{Status, bindgen_prelude::FnArgs, threadsafe_function::ThreadsafeFunction};

/// Takes one JSON text, answers nothing.
pub(super) type Listener = ThreadsafeFunction<String, (), String, Status, false, true>;

/// A host tool's handler: call key, input and context as JSON. It answers through `hostAnswer`: waiting
/// for a promise from here would cost another round between the threads.
pub(super) type Handler = ThreadsafeFunction<
    FnArgs<(u32, String, String)>,
    (),
    FnArgs<(u32, String, String)>,
    Status,
    false,
    true,
>;

/// Tells a host tool's handler, by call key, that its call has ended early.
pub(super) type Aborter = ThreadsafeFunction<u32, (), u32, Status, false, true>;
