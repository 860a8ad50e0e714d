//! The table of programs that run other programs, or that interpret what they are given.
//!
//! Policy and plugins both need this knowledge: policy to find the commands inside a command, plugins to keep
//! a value from becoming code. It stands here once, so that a program that is added is known to both.

mod evaluating;
mod interpreters;
mod runners;
mod subcommands;
mod wrappers;

pub use evaluating::{
    RUN_ANY_VALUE, RUN_THEIR_ARGUMENTS, RUNNING_OPTIONS, RUNNING_WORDS, STANDARD_INPUT,
    WITHOUT_END_OF_OPTIONS,
};
pub use interpreters::{InterpreterProgram, interpreter};
pub use runners::is_runner;
pub use subcommands::has_subcommands;
pub(crate) use subcommands::may_run_another;
pub use wrappers::{WrapperProgram, wrapper};
