//! The names in one directory, next to each other: a directory may hold a million.

use std::{cmp::Ordering, ffi::OsStr};

use super::entry::EntryKind;

/// Names and what they are, without a piece of memory for each.
#[derive(Debug, Default)]
pub(super) struct NameList {
    #[cfg(unix)]
    text: Vec<u8>,
    #[cfg(not(unix))]
    text: Vec<std::ffi::OsString>,
    entries: Vec<Named>,
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    start: u32,
    #[cfg(unix)]
    length: u16,
    pub(super) kind: EntryKind,
    /// Whether it is below something that is ignored or hidden, or is so itself.
    pub(super) left_out: bool,
}

impl NameList {
    /// Adds a name; false where there is no room for another.
    pub(super) fn push(&mut self, name: &OsStr, kind: EntryKind, left_out: bool) -> bool {
        let Ok(start) = u32::try_from(self.text.len()) else { return false };
        #[cfg(unix)]
        {
            let bytes = name.as_encoded_bytes();
            let Ok(length) = u16::try_from(bytes.len()) else { return false };
            self.text.extend_from_slice(bytes);
            self.entries.push(Named { start, length, kind, left_out });
        }
        #[cfg(not(unix))]
        {
            self.text.push(name.to_owned());
            self.entries.push(Named { start, kind, left_out });
        }
        true
    }

    /// What they take in memory, about.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.entries.len() * size_of::<Named>()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> Option<(&OsStr, Named)> {
        let entry = *self.entries.get(index)?;
        Some((Self::name(&self.text, entry), entry))
    }

    #[cfg(unix)]
    fn name(text: &[u8], entry: Named) -> &OsStr {
        use std::os::unix::ffi::OsStrExt as _;
        let start = entry.start as usize;
        OsStr::from_bytes(text.get(start..start + usize::from(entry.length)).unwrap_or_default())
    }

    #[cfg(not(unix))]
    fn name(text: &[std::ffi::OsString], entry: Named) -> &OsStr {
        text.get(entry.start as usize).map_or(OsStr::new(""), std::ffi::OsString::as_os_str)
    }

    /// Keeps some of the entries; what is kept may be changed.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&OsStr, &mut Named) -> bool) {
        let text = &self.text;
        self.entries.retain_mut(|entry| keep(Self::name(text, *entry), entry));
    }

    /// Orders the entries by name, byte by byte.
    pub(super) fn sort_by_name(&mut self) {
        let text = &self.text;
        let by_name = |one: &Named, other: &Named| -> Ordering {
            let bytes = |it: &Named| Self::name(text, *it).as_encoded_bytes();
            bytes(one).cmp(bytes(other))
        };
        self.entries.sort_unstable_by(by_name);
    }

    /// Puts files before everything else.
    pub(super) fn sort_files_first(&mut self) {
        self.entries.sort_by_key(|it| it.kind != EntryKind::File);
    }

    /// How many entries from one on are files and follow each other, up to a number of them.
    pub(super) fn files_from(&self, index: usize, most: usize) -> usize {
        let rest = self.entries.get(index..).unwrap_or_default();
        rest.iter().take(most).take_while(|it| it.kind == EntryKind::File).count()
    }
}

/// The names of some files that follow each other in a directory.
#[derive(Clone, Debug)]
pub struct FileNames<'n> {
    names: &'n NameList,
    from: usize,
    to: usize,
}

impl<'n> FileNames<'n> {
    pub(super) fn new(names: &'n NameList, from: usize, to: usize) -> Self {
        Self { names, from, to }
    }
}

impl<'n> Iterator for FileNames<'n> {
    type Item = &'n OsStr;

    fn next(&mut self) -> Option<&'n OsStr> {
        if self.from >= self.to {
            return None;
        }
        let (name, _) = self.names.get(self.from)?;
        self.from += 1;
        Some(name)
    }
}
