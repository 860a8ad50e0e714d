//! Reads command lines of bash and of shells like it. Nothing here runs anything or knows what may run.
//!
//! A line is read twice. The [`grammar`] of tree-sitter understands nearly all of bash but misreads some of
//! it. The strict [`lexer`] understands what people write every day and gives up on the rest. Both give a
//! [`LineReading`]: the words of every simple command, and every redirection, assignment and evaluation, as
//! spans of the line. A caller that needs certainty compares the two.
//!
//! [`Word`] is the value of one word, if it is known before the shell runs. [`ReadingWork`] bounds the cost
//! of reading. [`exit_meaning`] tells answers such as "no line matched" from failures.
//!
//! The supervisor has its own scanner, which finds out whether a quote, a bracket or a here-document is
//! still open at the end of a text. It has to answer for all of bash, where the lexer gives up, and it is a
//! part of a small program that needs nothing else from here.

mod dialect;
mod exit_meaning;
mod expansion;
mod grammar;
mod lexer;
mod line_reading;
mod plain_names;
mod reading_work;
mod side_by_side;
mod word;

pub use dialect::ShellDialect;
pub(crate) use exit_meaning::exit_meaning;
pub(crate) use expansion::may_become_name;
pub(crate) use grammar::read_by_grammar;
pub(crate) use lexer::{LexedLine, is_variable_name, lex};
pub(crate) use line_reading::{Direction, LineReading, TextSpan};
pub(crate) use plain_names::PlainNames;
pub(crate) use reading_work::TOO_COMPLEX;
pub use reading_work::{MAX_LINE_BYTES, ReadingWork};
pub(crate) use side_by_side::may_run_side_by_side;
pub(crate) use word::Word;
