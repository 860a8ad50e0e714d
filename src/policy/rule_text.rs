//! Rules as one line of text: `Bash(git status:*)`, `Edit(src/**)`, `mcp__server__*`.

use super::{
    command_pattern::CommandPattern,
    host_pattern::HostPattern,
    path_pattern::{PathPatterns, PatternId, Reach},
    places::Places,
    tool_names::{self, Family},
};

/// What a rule speaks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Every tool.
    AnyTool,
    /// These tools.
    Tools(Vec<String>),
    /// Every tool whose name begins like this.
    ToolsLike(String),
    /// Reading these paths, by whichever door.
    Reading(PatternId),
    /// Changing these paths, by whichever door.
    Editing(PatternId),
    /// Running these commands.
    Command(CommandPattern),
    /// Fetching from these hosts.
    Host(HostPattern),
}

/// Whether a bare name also means the same tool in other sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// As in a rule object: this tool.
    OneTool,
    /// As in a rule string: what people call by that name.
    WithTwins,
}

/// Reads the text of a rule.
pub(super) fn parse(
    text: &str,
    naming: Naming,
    reach: Reach,
    places: &Places,
    paths: &mut PathPatterns,
) -> Result<Subject, String> {
    let text = text.trim();
    let (name, pattern) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => {
            let pattern = rest.strip_suffix(')').ok_or("the closing `)` is missing")?;
            (name.trim(), Some(pattern))
        }
    };
    if name == "*" && pattern.is_none() {
        return Ok(Subject::AnyTool);
    }
    let is_name = |it: &str| {
        !it.is_empty()
            && it.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.'))
    };
    if let Some(start) = name.strip_suffix('*').filter(|_| pattern.is_none()) {
        return if is_name(start) {
            Ok(Subject::ToolsLike(start.to_owned()))
        } else {
            Err(format!("`{name}` is not the start of a tool's name"))
        };
    }
    if !is_name(name) {
        return Err(format!("`{name}` is not a tool's name"));
    }
    let name = tool_names::canonical(name);
    let bare = || match naming {
        // Who forbids `Edit` does not mean that the file may be written over instead.
        Naming::WithTwins if name == "Edit" && reach == Reach::Wide => {
            Subject::Tools(tool_names::EDITING.map(str::to_owned).into())
        }
        Naming::OneTool => Subject::Tools(vec![name.to_owned()]),
        Naming::WithTwins => {
            Subject::Tools(tool_names::twins(name).into_iter().map(str::to_owned).collect())
        }
    };
    let Some(pattern) = pattern else {
        let is_server = name.strip_prefix("mcp__").is_some_and(|it| !it.contains("__"));
        return Ok(if is_server { Subject::ToolsLike(format!("{name}__")) } else { bare() });
    };
    match tool_names::family(name) {
        Some(Family::Reading) => paths.add(pattern, reach, places).map(Subject::Reading),
        Some(Family::Editing) => paths.add(pattern, reach, places).map(Subject::Editing),
        Some(Family::Shell) => Ok(match CommandPattern::parse(pattern, places.home_text())? {
            CommandPattern::Any => bare(),
            pattern => Subject::Command(pattern),
        }),
        Some(Family::Fetching) => match pattern.strip_prefix("domain:") {
            Some(host) => HostPattern::parse(host).map(Subject::Host),
            None => Err(format!("`{pattern}` is not understood; write `domain:docs.rs`")),
        },
        None => Err(format!("`{name}` takes no pattern; write `{name}` alone")),
    }
}
