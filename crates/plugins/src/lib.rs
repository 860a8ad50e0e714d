//! Tools that a user defines in JSON files, without writing code: a command, a request or files to read.
//!
//! A [`PluginDirectory`] reads the files, `manifest` checks them, and each definition becomes a `PluginTool`
//! with one of three handlers. Calls of plugin tools take the same path as calls of all tools. So this crate
//! must not know policy or the pipeline.
//!
//! The invariant: a model's values never become code. Templates are parsed once, when the file is loaded, and
//! a value can only become a whole argument or one encoded part of a URL (see `command_template` and
//! `url_template`). A template that cannot guarantee this is refused.
//!
//! Start at [`PluginDirectory`], then `plugin_tool`.

mod command_template;
mod definition;
mod directory;
mod evaluators;
mod file_handler;
mod http_handler;
mod manifest;
mod marked_line;
mod parameter;
mod place;
mod placeholder;
mod plugin_tool;
mod shell_handler;
mod template_words;
mod url_template;
mod watch;

pub use definition::plugin_file_schema;
pub use directory::{PluginDirectory, PluginError};
pub use manifest::{check_file, check_tool};
pub use watch::PluginWatch;
