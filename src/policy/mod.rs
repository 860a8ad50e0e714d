//! May this call run? Pure: no I/O, no waiting, the same question gives the same answer.
//!
//! A call is a [`Question`]: a tool, its input, and everything it will touch. The [`PolicyEngine`]
//! answers with a [`PolicyVerdict`]. Every part of the call (each path, host and simple command of a command
//! line) is judged, and the strictest answer counts:
//!
//! 1. A rule that denies, whichever layer it comes from.
//! 2. A rule that asks, or a limit that may apply to what is only known while a command runs.
//! 3. A rule that allows. It has to be certain: what is not understood is never allowed by rule.
//! 4. The default action, or else the permission mode.
//!
//! The order of rules does not matter. A rule for `*` steps back behind a rule for the tool. A rule
//! names what people call by that name: `Bash` is also `shell`, `Edit(src/**)` is about every tool that
//! edits, `Read(.env)` as a limit about every door to the file. Rule objects mean the same: a condition
//! on paths, commands or hosts is the pattern of the rule.
//!
//! No tool is named here. What a tool is, its calls say ([`Question::kind`]); what a rule means by a name,
//! the [`PolicySources::tools`] say.
//!
//! The pipeline asks the [`CurrentPolicy`] for the policy of the session, and acts on a [`Decision`].

mod action;
pub mod command;
mod command_pattern;
mod command_words;
mod compile;
mod condition;
mod config;
mod current;
mod decision;
mod engine;
mod facts;
mod grant;
mod host_pattern;
mod judge;
mod judge_command;
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
mod touched_files;
mod verdict;

pub use action::{Action, Layer, PermissionMode};
pub use config::{
    ConditionConfig, Operator, PolicyConfig, PolicyError, RiskLevel, RuleConfig, Values,
};
pub use current::CurrentPolicy;
pub use decision::{Asking, Decision};
pub use engine::{PolicyEngine, PolicySources};
pub use lint::{Lint, LintKind};
pub use places::PolicyPlaces;
pub use question::{FollowLinks, Origin, Question};
pub use rule::RuleRef;
pub use verdict::{Basis, PartVerdict, PolicyVerdict};
