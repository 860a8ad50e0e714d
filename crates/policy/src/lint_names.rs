//! Finds rules about tools that do not exist.

use toolwright_base::{SHOWN_NAME, is_valid_name, shortened};

use super::{
    engine::PolicyEngine,
    lint::{Lint, LintKind},
    rule::Rule,
    rule_tools::ToolReach,
};

impl PolicyEngine {
    /// Finds rules that name neither a built-in tool nor one of these registered tools.
    pub fn unknown_tools(&self, registered: &[String]) -> Vec<Lint> {
        let lint = |rule: &Rule| {
            let message = self.unknown_tool(rule, registered)?;
            Some(Lint { kind: LintKind::UnknownTool, rule: rule.shown.clone(), message })
        };
        let mut found: Vec<Lint> = self.rules.iter().filter_map(lint).collect();
        // A rule object with several values was compiled to several rules.
        found.dedup();
        found
    }

    /// The finding, if the rule applies to no tool.
    pub(super) fn unknown_tool(&self, rule: &Rule, registered: &[String]) -> Option<String> {
        let among = if registered.is_empty() { "built-in tool" } else { "tool" };
        let starts = |start: &str| {
            let mut registered = registered.iter().map(String::as_str);
            registered.any(|it| it.starts_with(start))
                || self.sources.tools.names().any(|it| it.starts_with(start))
        };
        match (&rule.tools.reach, &rule.tools.named) {
            (ToolReach::StartingWith(start), _) => {
                // A server may be connected later.
                let is_server = start.starts_with("mcp__") || "mcp__".starts_with(start.as_str());
                (!is_server && !starts(start)).then(|| {
                    format!(
                        "no {among} has a name that begins with `{}`",
                        shortened(start, SHOWN_NAME)
                    )
                })
            }
            (_, Some(tool)) => {
                let name = &tool.as_written;
                let is_known = tool.is_known || registered.contains(name);
                // The tools of a server that is not connected are not known.
                let server = name.strip_prefix("mcp__").and_then(|it| it.split_once("__"));
                let is_absent = server.is_some_and(|(it, _)| !starts(&format!("mcp__{it}__")));
                (!is_known && !is_absent).then(|| {
                    let closest = self.closest_name(name, registered);
                    let hint = closest.map(|it| format!("; did you mean `{it}`?"));
                    let (shown, hint) = (shortened(name, SHOWN_NAME), hint.unwrap_or_default());
                    format!("no {among} is named `{shown}`, so the rule never applies{hint}")
                })
            }
            (_, None) => None,
        }
    }

    fn closest_name<'a>(&'a self, name: &str, registered: &'a [String]) -> Option<&'a str> {
        // Text that cannot be a name has no similar names.
        if !is_valid_name(name) {
            return None;
        }
        let names = self.sources.tools.names().chain(registered.iter().map(String::as_str));
        let written = name.to_lowercase();
        let distance = |it: &str| strsim::osa_distance(&it.to_lowercase(), &written);
        let (closest, distance) = names.map(|it| (it, distance(it))).min_by_key(|it| it.1)?;
        (distance <= (name.len() / 3).max(1)).then_some(closest)
    }
}
