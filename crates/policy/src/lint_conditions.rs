//! Finds conditions that do not mean what they seem to: prefixes that end in the middle of a name, and
//! conditions on things that the tool never touches.

use toolwright_base::{ToolCatalogue, ToolFamily};

use super::{
    compile::PatternTarget, condition::ConditionForm, config::Operator, lint::LintKind, rule::Rule,
};

/// The findings about the conditions of a rule.
pub(super) fn findings(rule: &Rule, tools: &ToolCatalogue) -> Vec<(LintKind, String)> {
    let forms = rule.shown.conditions.iter().filter_map(|it| ConditionForm::of(it).ok());
    forms
        .flat_map(|form| match form {
            ConditionForm::Param { name, operator, value } => {
                let touched = touched_by(rule, name, tools);
                let found = value.as_slice().iter().filter_map(|value| {
                    let message = open_end(operator, value, touched)?;
                    Some((LintKind::TooBroad, message))
                });
                found.collect()
            }
            form => never_holds(rule, &form)
                .map(|it| (LintKind::WithoutEffect, it))
                .into_iter()
                .collect::<Vec<_>>(),
        })
        .collect()
}

/// What the rule's tool touches, if the parameter names it.
fn touched_by(rule: &Rule, param: &str, tools: &ToolCatalogue) -> Option<PatternTarget> {
    let known = tools.find(&rule.tools.named.as_ref()?.as_written)?;
    let family = known.kind.family.filter(|_| known.kind.inputs.contains(&param))?;
    Some(PatternTarget::of_family(family))
}

/// A prefix that also matches something else, such as `https://docs.rs`, which matches
/// `https://docs.rs.evil.com`.
fn open_end(operator: Operator, value: &str, touched: Option<PatternTarget>) -> Option<String> {
    let (operator, start) = match operator {
        Operator::StartsWith => ("startsWith", value.to_owned()),
        Operator::Matches => ("matches", start_of(value)?),
        Operator::Equals | Operator::Contains => return None,
    };
    let is_url = start.starts_with("http://") || start.starts_with("https://");
    let is_path = ["/", "./", "../", "~/"].iter().any(|it| start.starts_with(it));
    let (also, instead) = match touched {
        Some(PatternTarget::Hosts) | None if is_url => {
            let is_open = !start.split_once("://")?.1.contains(['/', '?', '#']);
            is_open.then(|| (format!("{start}.evil.com"), format!("`{start}/`, or `urlHost`")))
        }
        Some(PatternTarget::Commands) => {
            let is_open = start.ends_with(|it: char| it.is_alphanumeric());
            is_open.then(|| (format!("{start}-x"), "`commandPrefix`".to_owned()))
        }
        Some(PatternTarget::Paths) | None if is_path || touched.is_some() => {
            let is_open = !start.is_empty() && !start.ends_with('/');
            is_open.then(|| (format!("{start}-evil"), format!("`{start}/`, or `pathWithin`")))
        }
        _ => None,
    }?;
    Some(format!("`{operator}: {value}` also matches `{also}`; write {instead}"))
}

/// The literal prefix of a regular expression after which anything may follow.
fn start_of(expression: &str) -> Option<String> {
    let mut rest = expression.strip_prefix('^')?.chars();
    let mut start = String::new();
    while let Some(next) = rest.next() {
        match next {
            '\\' => start.push(rest.next().filter(|it| !it.is_alphanumeric())?),
            '.' => return rest.as_str().starts_with('*').then_some(start),
            it if "$*+?()[]{}|".contains(it) => return None,
            it => start.push(it),
        }
    }
    Some(start)
}

/// The finding about a condition on something that the rule's tool never touches.
fn never_holds(rule: &Rule, form: &ConditionForm) -> Option<String> {
    let named = rule.tools.named.as_ref().filter(|it| it.is_known)?;
    let touched = PatternTarget::of_condition(form)?;
    let may_hold = match (named.family, touched) {
        (Some(ToolFamily::ReadsFiles | ToolFamily::EditsFiles), PatternTarget::Paths)
        | (Some(ToolFamily::RunsCommands), PatternTarget::Paths | PatternTarget::Commands)
        | (Some(ToolFamily::Fetches), PatternTarget::Hosts) => true,
        (_, PatternTarget::Paths | PatternTarget::Commands | PatternTarget::Hosts) => false,
    };
    let (condition, what) = match touched {
        PatternTarget::Paths => ("a condition on paths", "touches no path that it names"),
        PatternTarget::Commands => ("`commandPrefix`", "runs no commands"),
        PatternTarget::Hosts => ("`urlHost`", "names no URL that policy can see"),
    };
    (!may_hold).then(|| format!("`{}` {what}, so {condition} never holds", named.as_written))
}
