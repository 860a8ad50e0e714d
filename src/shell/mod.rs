//! Reads command lines of bash and of shells like it. Nothing here runs anything or knows what may run.
//!
//! A line is read twice. The [`grammar`] of tree-sitter understands nearly all of bash and misreads some of
//! it; the strict [`lexer`] understands what people write every day and gives up on the rest. Both give a
//! [`Reading`]: the words of every simple command, and every redirection, assignment and evaluation, as
//! places in the line. Whoever needs certainty compares the two.
//!
//! [`Word`] is the value of one word, where it can be known before the shell runs. [`Work`] bounds what
//! reading costs. [`exit_meaning`] tells answers such as "no line matched" from failures.
//!
//! The supervisor has a scanner of its own (`supervisor/whole_text.rs`). It asks whether anything is open
//! at the end of a text, has to answer for all of bash, where the lexer gives up, and is a part of a small
//! program that has no other use for this module.

mod dialect;
mod exit_meaning;
mod grammar;
mod lexer;
mod reading;
mod word;
mod work;

pub use dialect::ShellDialect;
pub use exit_meaning::exit_meaning;
pub(crate) use grammar::read_by_grammar;
pub(crate) use lexer::{LexedLine, is_variable_name, lex, variable_of};
pub use reading::Direction;
pub(crate) use reading::{LineReading, TextSpan};
pub use word::Word;
pub(crate) use work::TOO_TANGLED;
pub use work::{MAX_LINE_BYTES, ReadingWork};
