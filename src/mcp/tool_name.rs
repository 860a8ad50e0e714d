//! The names under which tools of MCP servers are registered.

/// The longest name every provider takes.
const MAX_NAME: usize = 64;
/// How much of a long name gives way to its hash.
const HASH_CHARS: usize = 8;

/// `mcp__<server>__<tool>`, in characters every provider takes. A name too long is cut and ends in a
/// hash of the whole, so that it stays the same and stays its own.
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    let full = format!("mcp__{server}__{tool}");
    let safe: String = full
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() || matches!(it, '_' | '-') { it } else { '_' })
        .collect();
    // `a__b` with `c` and `a` with `b__c` would be one name.
    let unambiguous = !server.contains("__");
    if safe.len() <= MAX_NAME && safe == full && unambiguous {
        return safe;
    }
    let hash = blake3::hash(format!("{}:{full}", server.len()).as_bytes()).to_hex();
    let kept: String = safe.chars().take(MAX_NAME - HASH_CHARS - 1).collect();
    format!("{kept}_{}", hash.chars().take(HASH_CHARS).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_safe_names_are_kept_and_others_stay_distinct() {
        assert_eq!(mcp_tool_name("docs", "search-all"), "mcp__docs__search-all");
        assert_ne!(mcp_tool_name("a__b", "c"), mcp_tool_name("a", "b__c"));
        let names = ["a.b", "a b", "a_b", &"x".repeat(100), &"x".repeat(101)]
            .map(|tool| mcp_tool_name("server", tool));
        for (index, name) in names.iter().enumerate() {
            assert!(crate::tool::is_valid_name(name), "{name}");
            assert!(!names.iter().skip(index + 1).any(|it| it == name), "{name}");
        }
    }
}
