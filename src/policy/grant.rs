//! "Always allow": the narrowest rule that lets the same call through again.

use crate::tool::{Access, ToolFamily};

use super::{
    command::is_confusing,
    command_pattern,
    engine::PolicySources,
    host_pattern::host_of,
    path_pattern,
    places::Places,
    question::{Origin, Question},
    verdict::{Basis, Verdict},
};

/// The rules that allow this call and as little else as rules can say; `None` when no rule could.
///
/// A command is granted word by word, a file by its path, a fetch by its host; other tools by name. A
/// tool of the host's that has the name of a built-in one is not granted: the rule would be about both.
pub(super) fn narrowest(question: &Question, sources: &PolicySources) -> Option<Vec<String>> {
    let PolicySources { places, tools, .. } = sources;
    let Some(family) = question.family() else {
        let borrows = question.origin != Origin::Builtin && tools.find(question.tool).is_some();
        return (!borrows).then(|| vec![question.tool.to_owned()]);
    };
    let name = tools.family_name(family)?;
    let mut rules = Vec::new();
    for access in question.accesses {
        let pattern = match (family, access) {
            // No rule allows a line that is not what it looks like.
            (ToolFamily::RunsCommands, Access::Run(line)) if line.chars().any(is_confusing) => {
                return None;
            }
            (ToolFamily::RunsCommands, Access::Run(line)) => command_pattern::escaped(line),
            (ToolFamily::EditsFiles, Access::Write(path) | Access::Read(path))
            | (ToolFamily::ReadsFiles, Access::Read(path)) => path_text(path.to_str()?, places),
            (ToolFamily::Fetches, Access::Connect(url)) => format!("domain:{}", host_of(url)?),
            // A rule about something else would not allow the call.
            _ => return None,
        };
        let rule = format!("{name}({pattern})");
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    if rules.is_empty() { Some(vec![question.tool.to_owned()]) } else { Some(rules) }
}

/// The path as a pattern of itself, from the project where it lies there.
fn path_text(path: &str, places: &Places) -> String {
    let project = places.project.to_str().unwrap_or("/");
    let below =
        path.strip_prefix(project.trim_end_matches('/')).and_then(|it| it.strip_prefix('/'));
    match below {
        Some(below) if !below.is_empty() => format!("./{}", path_pattern::escaped(below)),
        _ => format!("/{}", path_pattern::escaped(path)),
    }
}

/// The rules that would let a call through which asks, where rules can: not over a rule that asks, nor
/// over a mode that does.
pub(super) fn helping(question: &Question, sources: &PolicySources, basis: Basis) -> Vec<String> {
    let helps = match basis {
        Basis::Default => true,
        // Only a rule about the place itself lifts this, and such rules are about files and commands.
        Basis::ProtectedPlace => question.family().is_some(),
        Basis::Rule | Basis::PossibleRule | Basis::Mode => false,
    };
    narrowest(question, sources).filter(|_| helps).unwrap_or_default()
}

/// What a model or a host is told when nobody is there to be asked.
pub(super) fn ways_to_allow(
    question: &Question,
    sources: &PolicySources,
    verdict: &Verdict,
) -> String {
    let listening = "by listening for confirmation requests";
    let rule = helping(question, sources, verdict.basis).into_iter().next().map(|rule| {
        let rule: String = rule.chars().take(200).collect();
        format!("by a rule such as `{rule}` (`allowedTools` or the policy's `allow`)")
    });
    match (verdict.basis, rule, &verdict.rule) {
        (Basis::Default, rule, _) => {
            let rule = rule.map(|it| it + ", ").unwrap_or_default();
            format!(
                "a host can allow it {rule}{listening}, or, if it asks by itself, by `permissionMode: \
                 \"bypassPermissions\"`"
            )
        }
        (Basis::ProtectedPlace, Some(rule), _) => {
            format!("a host can allow it {rule}, or {listening}")
        }
        (Basis::Rule | Basis::PossibleRule, _, Some(rule)) => format!(
            "a host can allow it {listening}, or by changing the {rule}, which no other rule and no mode \
             lifts"
        ),
        (Basis::Mode, ..) => {
            format!("a host can allow it {listening}, or by another `permissionMode`")
        }
        _ => format!("a host can allow it {listening} and in no other way"),
    }
}
