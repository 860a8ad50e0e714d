//! Reads command lines of bash and similar shells. It must not run commands, read files, or decide what may
//! run.
//!
//! A line is read twice. The `grammar` of tree-sitter understands nearly all of bash but misreads some of it.
//! The strict `lexer` understands everyday constructs and gives up on the rest. Both return a
//! [`LineReading`]: the words of every simple command, and every redirection, assignment and evaluation, as
//! spans of the line. A caller that needs certainty compares the two.
//!
//! The invariant: the lexer never returns a reading that it is not certain of, and [`ReadingWork`] limits the
//! cost of reading any line.
//!
//! The supervisor has its own scanner (`shell_text`): it must handle all of bash, where the lexer gives up.
//!
//! Start at [`lex`] and [`Word`], the value of a word if it is known before the shell runs.

mod command;
mod dialect;
mod exit_meaning;
mod expansion;
mod grammar;
mod lexer;
mod line_reading;
mod plain_names;
mod reading_work;
pub mod running_programs;
mod side_by_side;
mod word;

pub use command::{
    Analysis, Destination, Doubt, Redirection, Role, Segment, Setting, analyse, analyse_counting,
    analyse_for, is_never_allowed, setting_of, trimmed,
};
pub use dialect::ShellDialect;
pub use exit_meaning::exit_meaning;
pub use expansion::may_become_name;
pub(crate) use grammar::read_by_grammar;
pub(crate) use lexer::is_variable_name;
pub use lexer::{LexedLine, lex};
pub use line_reading::{Direction, LineReading, TextSpan};
pub use plain_names::PlainNames;
pub(crate) use reading_work::TOO_COMPLEX;
pub use reading_work::{MAX_LINE_BYTES, ReadingWork};
pub use side_by_side::may_run_side_by_side;
pub use word::Word;
