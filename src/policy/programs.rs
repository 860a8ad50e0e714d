//! What programs do with the files they are given, as far as their names and options tell.
//!
//! Names are listed as one text: a list of texts takes four times the room.

use super::command::Word;

/// Programs that take no file names.
const WITHOUT_FILES: &str = "\
    : cd date echo exit false hostname kill popd printf pushd pwd sleep true whoami";

/// Programs that read the files they are given and change none.
const READERS: &str = "\
    basename bat cat cksum cmp cut diff dirname du egrep fgrep file grep head hexdump less ls \
    md5sum more nl od readlink realpath rg sha256sum stat strings tail tree wc";

/// Programs that change the files they are given.
const WRITERS: &str = "\
    chmod chown cp dd install ln mkdir mv rm rmdir rsync shred tee touch truncate unlink";

/// Programs that go down into the directories they are given.
const DESCENDING: &str = "7z ack ag bsdtar mv rg ripgrep rsync scp tar ugrep zip";

/// Programs that search the directory they are in when they are given none.
const SEARCHING: &str = "ack ag rg ripgrep ugrep";

/// Programs that go down into directories with one of these letters as an option, or one of these words.
const DESCENDING_BY_OPTION: [(&str, &str, &str); 4] = [
    ("cp install", "rRa", "--recursive --archive"),
    ("grep egrep fgrep zgrep", "rR", "--recursive --dereference-recursive --directories=recurse"),
    ("rm chmod chown chgrp diff", "rR", "--recursive"),
    ("find", "", "-delete -fprint -fls"),
];

/// True for one of the names in a list of them.
#[inline(never)]
pub(super) fn is_listed(names: &str, name: &str) -> bool {
    names.split(' ').any(|it| it == name)
}

/// What a program does with the files that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It takes none.
    None,
    /// It reads them and changes none.
    Reads,
    /// It changes them.
    Writes,
    /// Whatever it likes.
    Unknown,
}

impl Use {
    /// What the program of a command does; one that is not known may do anything.
    pub(super) fn of(words: &[Word]) -> Self {
        match name_of(words) {
            Some(name) if is_listed(WITHOUT_FILES, name) => Self::None,
            Some(name) if is_listed(READERS, name) => Self::Reads,
            Some(name) if is_listed(WRITERS, name) => Self::Writes,
            _ => Self::Unknown,
        }
    }
}

/// The name of a command's program, without the directory it lies in.
pub(super) fn name_of(words: &[Word]) -> Option<&str> {
    let program = words.first()?.literal()?;
    program.rsplit('/').next()
}

/// True when the command goes down into the directories that it is given.
pub(super) fn descends(words: &[Word]) -> bool {
    let Some(name) = name_of(words) else { return true };
    if is_listed(DESCENDING, name) {
        return true;
    }
    let options = DESCENDING_BY_OPTION.iter().find(|it| is_listed(it.0, name));
    options.is_some_and(|(_, letters, long)| {
        words.iter().skip(1).any(|word| match word.literal() {
            Some(text) if is_listed(long, text) => true,
            Some(text) => {
                text.starts_with('-')
                    && !text.starts_with("--")
                    && text.contains(|it| letters.contains(it))
            }
            None => false,
        })
    })
}

/// The place of the word that names where a command puts its files; what lies there is not read.
pub(super) fn destination(words: &[Word]) -> Option<usize> {
    name_of(words).filter(|it| ["cp", "install", "mv", "rsync", "scp"].contains(it))?;
    let is_option = |it: &&Word| it.literal().is_some_and(|it| it.starts_with('-'));
    // With `-t` it comes first, and what comes last is read.
    let mut options = words.iter().filter(is_option).filter_map(Word::literal);
    if options.any(|it| it.starts_with("--t") || (!it.starts_with("--") && it.contains('t'))) {
        return None;
    }
    let mut operands = words.iter().enumerate().skip(1).filter(|(_, it)| !is_option(it));
    operands.next()?;
    operands.next_back().map(|(at, _)| at)
}

/// True when the command searches the directory it is in, because it is given no other.
pub(super) fn searches_here(words: &[Word]) -> bool {
    let Some(name) = name_of(words) else { return false };
    let searches = is_listed(SEARCHING, name) || (name.ends_with("grep") && descends(words));
    let given =
        words.iter().skip(1).filter(|it| it.literal().is_none_or(|it| !it.starts_with('-')));
    searches && given.count() < 2
}
