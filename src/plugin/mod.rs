//! Tools that a user defines in JSON files, without writing code: a command, a request or files to read.
//!
//! A [`PluginDirectory`] reads the files, [`manifest`] checks them, and each definition becomes a
//! [`plugin_tool::PluginTool`] with one of three handlers. A tool of a plugin takes the path of every other
//! tool: it declares what a call touches, policy judges it, hooks see it.
//!
//! What a model says never becomes code. Templates are read once, when the file is loaded, and a value takes
//! the place of a whole argument or of one encoded part of a URL (see [`command_template`] and
//! [`url_template`]). A template for which that cannot be made sure is refused.

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
mod running_programs;
mod shell_handler;
mod template_words;
mod url_template;
mod watch;

pub use definition::{
    FileReadHandlerConfig, HandlerConfig, HttpHandlerConfig, HttpMethod, PluginConfigFile,
    PluginToolDefinition, ShellHandlerConfig, plugin_file_schema,
};
pub use directory::{PluginDirectory, PluginError};
pub use manifest::{CheckedFile, check_file, check_tool};
pub use watch::PluginWatch;
