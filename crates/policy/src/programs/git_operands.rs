//! Operands of git: revisions and paths.

use toolwright_shell::Word;

use super::{
    Operands, Takes, Use,
    collected::{Collected, Operand, below},
    handling::Handling,
};

/// A path as git reads it. Git expands patterns itself, so paths with wildcards or with a `:` prefix are
/// not known.
fn pathspec(word: &Word) -> Word {
    match word.literal() {
        Some(text) if text.starts_with(':') || text.contains(['*', '?', '[']) => {
            Word::unknown(text, "is a pattern of git")
        }
        _ => word.clone(),
    }
}

/// True for text that cannot be a revision: `./x`, `src/`, `src/a.rs`.
fn is_certainly_path(text: &str) -> bool {
    if text.contains(':') || text.contains("..") && !text.starts_with("../") {
        return false;
    }
    let name = text.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|it| it.1);
    text.starts_with(['.', '/'])
        || text.ends_with('/')
        || extension.is_some_and(|it| {
            (1..=5).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_alphabetic())
        })
}

impl Collected<'_> {
    /// Adds the paths among the operands of a git command.
    pub(super) fn git_operands(&self, handling: &mut Handling) {
        let all = self.operands.as_slice();
        match self.program.operands {
            Operands::Log => self.revisions(all, self.shows(), handling),
            Operands::PatternThenRevisions => {
                self.revisions(self.behind_pattern(), true, handling);
            }
            Operands::Cloned => self.cloned(handling),
            Operands::Remotes => self.remotes(handling),
            Operands::Restored => self.restored(handling),
            Operands::Pathspecs(used) => {
                self.pathspecs(used, handling);
                self.shown_before(handling);
                if all.is_empty() {
                    self.whole_tree(self.used(used), handling);
                }
            }
            Operands::Named(used) => {
                self.pathspecs(used, handling);
                self.shown_before(handling);
            }
            Operands::Objects => {
                // The content of an object that is named by its hash is not known.
                let is_number = |it: &Operand| {
                    let mut digits = it.written.text().chars();
                    digits.all(|it| it.is_ascii_hexdigit())
                };
                let shows = self.shows() || !self.has(Takes::Names) || all.iter().any(is_number);
                self.revisions(all, shows, handling);
            }
            _ => {
                let shows = self.shows() || !self.has(Takes::Names);
                self.revisions(all, shows, handling);
            }
        }
    }

    fn shows(&self) -> bool {
        [Takes::Shows, Takes::ShowsValue, Takes::MaybeShows].iter().any(|it| self.has(*it))
    }

    /// Adds content that is shown before it is changed: `git add -p`.
    fn shown_before(&self, handling: &mut Handling) {
        if self.shows() {
            self.pathspecs(Use::Reads, handling);
            self.whole_tree(Use::Reads, handling);
        }
    }

    fn whole_tree(&self, used: Use, handling: &mut Handling) {
        let here = Word::Literal(".".to_owned());
        handling.add_from_top(below(self.within.as_ref(), &here), used, true);
    }

    fn pathspecs(&self, used: Use, handling: &mut Handling) {
        for it in &self.operands {
            handling.add_from_top(pathspec(&it.word), self.used(used), true);
        }
    }

    /// Adds the content of revisions and paths that is shown. For a revision without paths, that is everything
    /// in the working tree.
    fn revisions(&self, operands: &[Operand], shows: bool, handling: &mut Handling) {
        let mut names_paths = false;
        let mut names_only_files = !operands.is_empty();
        for it in operands {
            let text = it.written.literal();
            let is_path = it.is_behind_dashes || text.is_some_and(is_certainly_path);
            names_paths |= is_path;
            if let Some(path) = text.filter(|_| !is_path).and_then(file_of_revision) {
                let path = Word::Literal(path.to_owned());
                let here = below(self.within.as_ref(), &path);
                handling.add_from_top(here, Use::Reads, shows);
                handling.add_from_top(path, Use::Reads, shows);
            } else {
                names_only_files = false;
                handling.add_from_top(pathspec(&it.word), Use::Reads, shows);
            }
        }
        if shows && !names_paths && !names_only_files {
            self.whole_tree(Use::Reads, handling);
        }
    }

    /// Adds files that are written to the working tree: the given paths, or all files that differ.
    fn restored(&self, handling: &mut Handling) {
        self.remotes(handling);
        self.pathspecs(Use::Puts, handling);
        self.shown_before(handling);
        let only_names = self.has(Takes::Names) && self.operands.len() < 2;
        if !only_names && !self.operands.iter().any(|it| it.is_behind_dashes) {
            self.whole_tree(Use::Puts, handling);
        }
    }

    /// With `ext::command` as the repository, git runs that command.
    fn remotes(&self, handling: &mut Handling) {
        let runs = |it: &Operand| {
            it.written.literal().map_or(it.written.text().starts_with('$'), |it| it.contains("::"))
        };
        if self.operands.first().is_some_and(runs) {
            handling.beyond = Some(Use::Unknown);
        }
    }

    /// `git clone address [directory]`.
    fn cloned(&self, handling: &mut Handling) {
        let Some(address) = self.operands.first() else { return };
        self.remotes(handling);
        let text = address.written.literal().unwrap_or_default();
        if !text.contains(':') {
            handling.add(address.word.clone(), Use::Reads, true);
        }
        let name = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let name = Word::Literal(name.trim_end_matches(".git").to_owned());
        let to = self.operands.get(1).map_or(name, |it| it.word.clone());
        handling.add(to, Use::Puts, true);
    }
}

/// The file in `HEAD:dir/file`.
fn file_of_revision(text: &str) -> Option<&str> {
    let path = text.rsplit_once(':')?.1;
    Some(if path.is_empty() { "." } else { path })
}
