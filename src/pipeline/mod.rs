//! The life of one call, top to bottom: [`Pipeline::call`].

mod batch;
mod bound;
mod call;
mod describe;
mod execute;
mod heed;
mod limits;
mod panic_fence;
mod permit;
mod start_order;
mod undo;
mod visibility;

pub use batch::{Order, TurnCall};
pub use call::{CallOptions, Pipeline, ToolCall};
pub use describe::Description;
pub use limits::Limits;
pub use panic_fence::quiet_panic_hook;
pub use start_order::Arrival;
pub use undo::{UndoAction, Undone};
