//! The tables of programs, one file for each family. They were checked against `--help` of GNU coreutils 9,
//! grep 3 and tar 1.35, among others. If versions differ, the table describes the one that does more with files.
//!
//! A program without a table may use any file, so programs that can do so, such as shells and editors, have none.
//! Wrappers such as `env` have one table, and the shell's table of programs says which they are.
//!
//! The tables are not formatted by rustfmt, which would put each name on its own line.

#[rustfmt::skip]
mod archives;
#[rustfmt::skip]
mod builtins;
#[rustfmt::skip]
mod copying;
#[rustfmt::skip]
mod development;
#[rustfmt::skip]
mod file_changers;
#[rustfmt::skip]
mod file_readers;
#[rustfmt::skip]
mod git;
#[rustfmt::skip]
mod javascript;
#[rustfmt::skip]
mod network;
#[rustfmt::skip]
mod operations;
#[rustfmt::skip]
mod printing;
#[rustfmt::skip]
mod searching;
#[rustfmt::skip]
mod texts;

use std::{collections::HashMap, sync::LazyLock};

use toolwright_shell::running_programs::wrapper;

use super::Program;

const FAMILIES: [&[Program]; 13] = [
    archives::PROGRAMS,
    builtins::PROGRAMS,
    copying::PROGRAMS,
    development::PROGRAMS,
    file_changers::PROGRAMS,
    file_readers::PROGRAMS,
    git::PROGRAMS,
    javascript::PROGRAMS,
    network::PROGRAMS,
    operations::PROGRAMS,
    printing::PROGRAMS,
    searching::PROGRAMS,
    texts::PROGRAMS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Program>> = LazyLock::new(|| {
    let programs = FAMILIES.iter().flat_map(|it| it.iter());
    programs.flat_map(|it| it.names.iter().map(move |name| (*name, it))).collect()
});

/// The table of a program.
pub(super) fn program(name: &str) -> Option<&'static Program> {
    match wrapper(name) {
        Some(_) => Some(&builtins::WRAPPER),
        None => BY_NAME.get(name).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(program: &Program, seen: &mut Vec<String>) {
        let mut options = Vec::new();
        for name in program.options.iter().flat_map(|it| it.1) {
            assert!(name.starts_with('-') && name.len() > 1, "{:?}: {name}", program.names);
            assert!(!options.contains(name), "{:?} has {name} twice", program.names);
            options.push(*name);
        }
        seen.extend(program.names.iter().map(|it| (*it).to_owned()));
        for subcommand in program.subcommands {
            check(subcommand, &mut Vec::new());
        }
    }

    #[test]
    fn no_table_contradicts_itself() {
        let mut seen = Vec::new();
        FAMILIES.iter().flat_map(|it| it.iter()).for_each(|it| check(it, &mut seen));
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), count, "a program has two tables");
        assert_eq!(BY_NAME.len(), count);
        seen.retain(|it| wrapper(it).is_some());
        assert!(seen.is_empty(), "these wrappers have a table: {seen:?}");
    }
}
