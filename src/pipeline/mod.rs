//! The life of one call, top to bottom: [`Pipeline::call`].

mod batch;
mod bound;
mod call;
mod execute;
mod limits;
mod panic_fence;

pub use call::{CallOptions, Judged, Pipeline, ToolCall};
pub use limits::Limits;
pub use panic_fence::quiet_panic_hook;
