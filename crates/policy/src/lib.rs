//! Decides whether a call may run.
//!
//! A call is a [`Question`]: a tool, its input, and everything it will touch. The [`PolicyEngine`] answers
//! with a [`PolicyVerdict`]. Every part of the call (each path, each host, and each simple command of a
//! command line) is judged, and the strictest answer counts:
//!
//! 1. A rule that denies, whichever layer it comes from.
//! 2. A rule that asks, or a limit that may apply to something that is only known while a command runs.
//! 3. A rule that allows. It must certainly match: no rule allows a command that is not understood.
//! 4. The default action, or else the permission mode.
//!
//! It must not know a particular tool: [`PolicySources::tools`] maps the names in rules to tools.
//!
//! The invariant: the same question always has the same answer. Policy does no I/O and does not wait.
//!
//! Start at [`PolicyEngine`], then `judge`. The pipeline asks the [`CurrentPolicy`] of a session.

mod action;
mod command_pattern;
mod command_words;
mod compile;
mod condition;
mod config;
mod current;
mod decision;
mod engine;
mod facts;
mod file_limits;
mod git_settings;
mod grant;
mod host_limits;
mod host_pattern;
mod judge;
mod judge_command;
mod kept_grants;
mod lint;
mod lint_conditions;
mod lint_names;
mod path_pattern;
mod places;
mod programs;
mod question;
mod risk;
mod rule;
mod rule_text;
mod rule_tools;
mod ruling;
mod session_policy;
mod touched_files;
mod verdict;

pub use action::{Action, Layer};
pub use config::{PolicyConfig, PolicyError};
pub use current::{CurrentPolicy, TooManyModes};
pub use decision::{Asking, Decision};
pub use engine::{PolicyEngine, PolicySources};
pub use file_limits::{FileLimits, LimitedStart, LinkedStart, NamedPlaces};
pub use grant::is_about_project;
pub use host_limits::HostLimits;
pub use lint::LintKind;
pub use places::{PROTECTED_DIRECTORIES, PROTECTED_FILES, PolicyPlaces};
pub use question::{Origin, Question};
pub use verdict::{Basis, PolicyVerdict};
