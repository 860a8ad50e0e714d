//! Replaces the placeholders for tools in descriptions by their names in a set.
//!
//! A text says `{tool:Read}` for the tool that rules know as `Read`. A model with the `classic` set reads
//! `read_file` there, so one text serves the tools of all sets.

use super::BuiltinTool;

const BEGIN: &str = "{tool:";
const END: char = '}';

/// The names of the tools of one set.
pub(super) struct SetNames(&'static [BuiltinTool]);

impl SetNames {
    pub(super) fn of(table: &'static [BuiltinTool]) -> Self {
        Self(table)
    }

    /// A text with every placeholder replaced.
    pub(super) fn in_words(&self, text: &str) -> String {
        let mut words = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once(BEGIN)
            && let Some((meant, after)) = behind.split_once(END)
        {
            words.push_str(before);
            words.push_str(self.name(meant).unwrap_or(meant));
            rest = after;
        }
        words.push_str(rest);
        words
    }

    /// The name in the set of the tool that rules know as `meant`, if the set has it.
    fn name(&self, meant: &str) -> Option<&'static str> {
        self.0.iter().map(|it| it.known).find(|it| it.rule_name() == meant).map(|it| it.name)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::tools::ToolSet;

    #[test]
    fn a_tool_is_called_by_its_name_in_the_set() {
        let text = "use {tool:Grep}, not `grep`; {a,b} and {tool: stay";
        let words = |set: ToolSet| SetNames::of(set.table()).in_words(text);
        assert_eq!(words(ToolSet::Claude), "use Grep, not `grep`; {a,b} and {tool: stay");
        assert_eq!(words(ToolSet::Classic), "use grep, not `grep`; {a,b} and {tool: stay");
    }

    #[test]
    fn every_tool_that_a_text_names_is_in_the_set() {
        for set in ToolSet::ALL {
            let names = SetNames::of(set.table());
            let unknown = RefCell::new(Vec::new());
            for tool in set.table() {
                (tool.make)(&|text| {
                    let meant = text.split(BEGIN).skip(1).filter_map(|it| it.split(END).next());
                    let missing = meant.filter(|it| names.name(it).is_none()).map(str::to_owned);
                    unknown.borrow_mut().extend(missing);
                    text.to_owned()
                });
            }
            assert_eq!(unknown.take(), Vec::<String>::new(), "{}", set.as_str());
        }
    }
}
