//! The pattern that selects the tools a hook runs for.

use regex::{Regex, RegexBuilder};

/// The size limit of a compiled pattern. Real patterns are a few names.
const MAX_BYTES: usize = 1 << 20;

/// A pattern for tool names: empty or `*` for every tool, otherwise a regular expression that must
/// match the whole name, such as `Edit|Write`.
#[derive(Clone, Debug, Default)]
pub struct ToolMatcher(Option<Regex>);

impl ToolMatcher {
    /// Parses a matcher, or says what is wrong with it.
    pub fn new(pattern: &str) -> Result<Self, String> {
        if matches!(pattern.trim(), "" | "*") {
            return Ok(Self(None));
        }
        RegexBuilder::new(&format!("^(?:{pattern})$"))
            .size_limit(MAX_BYTES)
            .build()
            .map(|regex| Self(Some(regex)))
            .map_err(|err| format!("the matcher `{pattern}` is not a regular expression: {err}"))
    }

    pub(super) fn matches(&self, tool: &str) -> bool {
        self.0.as_ref().is_none_or(|regex| regex.is_match(tool))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_matcher_matches_whole_names() {
        let matches = |pattern: &str, tool: &str| ToolMatcher::new(pattern).unwrap().matches(tool);
        assert!(matches("", "Bash") && matches("*", "Bash"));
        assert!(matches("Edit|Write", "Write") && !matches("Edit|Write", "NotebookEdit"));
        assert!(matches("mcp__.*", "mcp__a__b") && !matches("Read", "read_file"));
        assert!(ToolMatcher::new("(").is_err() && ToolMatcher::new("(a{1000}){1000}").is_err());
    }
}
