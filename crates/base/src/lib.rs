//! The types that every other crate uses: errors, accesses, kinds of tools, and how paths and text are
//! shown to people.
//!
//! It must not know sessions, policy or any other crate of the workspace. Its only I/O is opening regular
//! files ([`regular_file`]).
//!
//! The invariant: a text that was made for people ([`shown_path`], [`shown_text`], [`visible`]) contains no
//! character that controls a terminal or disguises other characters.
//!
//! Start at [`ToolSpec`], which describes a tool, and [`ToolError`].

mod access;
mod catalogue;
mod error;
mod kind;
mod path_text;
mod permission_mode;
pub mod regular_file;
mod shortened;
mod spec;
mod terminal;
mod terminal_parser;

pub use access::{Access, shown_path, shown_text};
pub use catalogue::{KnownTool, ToolCatalogue};
pub use error::{ErrorKind, ToolError};
pub use kind::{InPlanMode, ToolFamily, ToolKind};
pub use path_text::{name_to_text, path_from_text, path_to_text};
pub use permission_mode::{PermissionMode, PlanMode};
pub use regular_file::{
    KERNEL_FILES_REFUSED, file_system, is_kernel_file_system, other_kind, refuse_kernel_files,
};
pub use shortened::{SHOWN_NAME, shortened, shortened_to_bytes};
pub use spec::{
    Annotations, DataScope, HintsFrom, NAME_RULE, OutputSpec, Risk, SideEffect, ToolSpec,
    is_valid_name,
};
pub use terminal::{is_confusing, visible, visible_text};
pub use terminal_parser::{TerminalAction, TerminalParser};
