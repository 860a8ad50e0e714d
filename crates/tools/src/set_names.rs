//! A text contains `{tool:Read}` for the tool that rules know as `Read`. With the `classic` set a model reads
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
    use crate::ToolSet;

    #[test]
    fn placeholders_become_the_names_in_the_set() {
        let text = "use {tool:Grep}, not `grep`; {a,b} and {tool: stay";
        let words = |set: ToolSet| SetNames::of(set.table()).in_words(text);
        assert_eq!(words(ToolSet::Claude), "use Grep, not `grep`; {a,b} and {tool: stay");
        assert_eq!(words(ToolSet::Classic), "use grep, not `grep`; {a,b} and {tool: stay");
    }

    #[test]
    fn descriptions_name_only_tools_of_their_set() {
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
