//! The table of programs that run other programs, or that interpret what they are given.
//!
//! Policy and plugins both need this knowledge: policy to find the commands inside a command, plugins to keep
//! a value from becoming code. It stands here once, so that a program that is added is known to both.

mod builtins;
mod evaluating;
mod interpreters;
mod runners;
mod subcommands;
mod wrappers;

pub use builtins::is_builtin;
pub use evaluating::{
    RUNNING_OPTIONS, STANDARD_INPUT, WITHOUT_END_OF_OPTIONS, begins_command, evaluates_any_value,
    evaluates_arguments, running_words, runs_code,
};
pub use interpreters::{BEFORE_SCRIPT, InterpreterProgram, interpreter, is_shell};
pub use runners::is_runner;
pub(crate) use subcommands::may_run_another;
pub use subcommands::{GIT_OPTIONS_WITH_VALUE, has_subcommands};
pub use wrappers::{WrapperProgram, wrapper};

/// True for a name that is in the table.
pub fn is_listed(name: &str) -> bool {
    wrapper(name).is_some()
        || runs_code(name)
        || is_runner(name)
        || has_subcommands(name)
        || is_builtin(name)
}
