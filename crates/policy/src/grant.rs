//! "Always allow": the narrowest rules that allow the same call again.

use toolwright_base::{Access, ToolFamily, is_confusing, shortened};

use super::{
    action::Action,
    command_pattern,
    engine::PolicySources,
    host_pattern::host_of,
    path_pattern,
    places::PolicyPlaces,
    question::{Origin, Question},
    verdict::{Basis, PolicyVerdict},
};

/// The rules that allow this call and as little else as possible; `None` if no rule can allow it.
///
/// The rule names the exact command line, the path of the file, the host of the URL, or the tool. A host's
/// tool with the name of a built-in tool gets no rule, because the rule would apply to both.
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
            (ToolFamily::RunsCommands, Access::Run(line)) => command_pattern::escaped(line),
            (ToolFamily::EditsFiles, Access::Write(path) | Access::Read(path))
            | (ToolFamily::ReadsFiles, Access::Read(path)) => path_text(path.to_str()?, places),
            (ToolFamily::Fetches, Access::Connect(url)) => format!("domain:{}", host_of(url)?),
            // A rule about something else would not allow the call.
            _ => return None,
        };
        let rule = format!("{name}({pattern})");
        // A rule with invisible characters would be read, and copied, as another rule. Commands may have
        // several lines.
        let is_one_line = family == ToolFamily::RunsCommands || !rule.contains(['\n', '\t']);
        if rule.contains(is_confusing) || !is_one_line {
            return None;
        }
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    if rules.is_empty() { Some(vec![question.tool.to_owned()]) } else { Some(rules) }
}

/// True for a rule of `narrowest` with a path relative to the project. In another project it would mean
/// another file.
pub fn is_about_project(rule: &str) -> bool {
    rule.contains("(./")
}

/// The pattern that matches exactly this path, relative to the project if it lies there.
fn path_text(path: &str, places: &PolicyPlaces) -> String {
    let project = places.project.to_str().unwrap_or("/");
    let below =
        path.strip_prefix(project.trim_end_matches('/')).and_then(|it| it.strip_prefix('/'));
    match below {
        Some(below) if !below.is_empty() => format!("./{}", path_pattern::escaped(below)),
        _ => format!("/{}", path_pattern::escaped(path)),
    }
}

/// The rules that would allow a call that asks or is denied. Empty if a rule or a mode is the reason, because
/// no other rule overrides that.
pub(super) fn helping(question: &Question, sources: &PolicySources, basis: Basis) -> Vec<String> {
    let helps = match basis {
        Basis::Default | Basis::Doubt => true,
        // Only a rule that names the place overrides this, and only rules about files and commands name
        // places.
        Basis::ProtectedPlace => question.family().is_some(),
        Basis::Rule | Basis::PossibleRule | Basis::Mode => false,
    };
    narrowest(question, sources).filter(|_| helps).unwrap_or_default()
}

/// What a person or the host can do to allow the call. Not for models.
pub(super) fn ways_to_allow(
    question: &Question,
    sources: &PolicySources,
    verdict: &PolicyVerdict,
) -> String {
    let mode = sources.mode;
    let listening = "by listening for confirmation requests";
    let rule = helping(question, sources, verdict.basis_to_lift).into_iter().next().map(|rule| {
        let rule = shortened(&rule, 200);
        format!("by a rule such as `{rule}` (`allowedTools` or the policy's `allow`)")
    });
    let is_denied = verdict.action == Action::Deny;
    match (verdict.basis, rule, &verdict.rule) {
        (Basis::Default, Some(rule), _) if is_denied => format!("a host can allow it {rule}"),
        (Basis::Rule, _, Some(rule)) if is_denied => {
            format!(
                "a host can allow it by changing the {rule}, which no other rule, mode or answer lifts"
            )
        }
        (Basis::Mode, rule, _) if is_denied => {
            let rule = rule.map(|it| it + ", or ").unwrap_or_default();
            let mode = mode.as_str();
            format!("a host can allow it {rule}by another `permissionMode` than `{mode}`")
        }
        (Basis::Default | Basis::Doubt, rule, _) => {
            let rule = rule.map(|it| it + ", ").unwrap_or_default();
            format!(
                "a host can allow it {rule}{listening}, or, if only the default asks, by `permissionMode: \
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
