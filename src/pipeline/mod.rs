//! The life of one call, top to bottom: [`Pipeline::call`].

mod batch;
mod bound;
mod call;
mod execute;
mod limits;
mod panic_fence;
mod start_order;
mod undo;

pub use batch::{Order, TurnCall};
pub use call::{CallOptions, Judged, Pipeline, ToolCall};
pub use limits::Limits;
pub use panic_fence::quiet_panic_hook;
pub use start_order::Place;
pub use undo::{UndoAction, Undone};
