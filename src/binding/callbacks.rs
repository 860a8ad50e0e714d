//! JavaScript functions that Rust may call from any thread.
//!
//! All are weak: a registry that somebody keeps must not keep the process alive. Each is still a root
//! of JavaScript's garbage collector until it is dropped here, so the facade gives functions that refer
//! to its objects weakly, and whoever ends drops its own.

use napi::{Status, bindgen_prelude::FnArgs, threadsafe_function::ThreadsafeFunction};

/// Takes one JSON text, answers nothing.
pub(super) type Listener = ThreadsafeFunction<String, (), String, Status, false, true>;

/// What the facade is told of the host's functions: what happens, the call's key, the function's
/// number, and for a call the input and the context as JSON.
pub(super) type HostMessage = FnArgs<(&'static str, u32, u32, String, String)>;

/// The way to all functions of one host: tools' handlers and hooks. One for all, because every pass of
/// the event loop looks at each function that can be called from other threads. It answers through
/// `hostAnswer`: waiting for a promise from here would cost another round between the threads.
pub(super) type HostListener =
    ThreadsafeFunction<HostMessage, (), HostMessage, Status, false, true>;
