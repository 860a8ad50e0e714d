//! The names under which the tools of MCP servers are registered.

/// The longest name that every provider accepts.
const MAX_NAME: usize = 64;
/// The length of the hash at the end of a shortened name.
const HASH_CHARS: usize = 8;

/// `mcp__<server>__<tool>`, in characters that every provider accepts. A name that is too long is shortened
/// and ends in a hash of the full name, so it is stable and unique.
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    let full = format!("mcp__{server}__{tool}");
    let safe: String = full
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() || matches!(it, '_' | '-') { it } else { '_' })
        .collect();
    // Without the hash, server `a__b` with tool `c` and server `a` with tool `b__c` would get the same name.
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
            assert!(toolwright_base::is_valid_name(name), "{name}");
            assert!(!names.iter().skip(index + 1).any(|it| it == name), "{name}");
        }
    }
}
