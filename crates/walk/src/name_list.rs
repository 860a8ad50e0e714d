//! The names of the entries of one directory in a single allocation, because there may be a million.

use std::{cmp::Ordering, ffi::OsStr};

use toolwright_files::EntryKind;

/// For how many names there is room from the first one on: a list that grows from nothing is moved several times.
const FIRST_NAMES: usize = 8;
/// How long these names are together.
#[cfg(unix)]
const FIRST_BYTES: usize = 128;

/// Names and kinds of entries.
#[derive(Debug, Default)]
pub(super) struct NameList {
    #[cfg(unix)]
    text: Vec<u8>,
    #[cfg(not(unix))]
    text: Vec<std::ffi::OsString>,
    entries: Vec<NameEntry>,
}

/// One entry of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameEntry {
    start: u32,
    #[cfg(unix)]
    length: u16,
    pub(super) kind: EntryKind,
    /// Whether the entry or a directory above it is ignored or hidden.
    pub(super) left_out: bool,
}

impl NameList {
    /// Adds a name. Returns false if the list is full.
    pub(super) fn push(&mut self, name: &OsStr, kind: EntryKind, left_out: bool) -> bool {
        let Ok(start) = u32::try_from(self.text.len()) else { return false };
        if self.entries.capacity() == 0 {
            self.entries.reserve(FIRST_NAMES);
            #[cfg(unix)]
            self.text.reserve(FIRST_BYTES);
        }
        #[cfg(unix)]
        {
            let bytes = name.as_encoded_bytes();
            let Ok(length) = u16::try_from(bytes.len()) else { return false };
            self.text.extend_from_slice(bytes);
            self.entries.push(NameEntry { start, length, kind, left_out });
        }
        #[cfg(not(unix))]
        {
            self.text.push(name.to_owned());
            self.entries.push(NameEntry { start, kind, left_out });
        }
        true
    }

    /// Removes the last name.
    pub(super) fn pop(&mut self) {
        if let Some(entry) = self.entries.pop() {
            self.text.truncate(entry.start as usize);
        }
    }

    /// An estimate of the memory that the names take.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.entries.len() * size_of::<NameEntry>()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> Option<(&OsStr, NameEntry)> {
        let entry = *self.entries.get(index)?;
        Some((Self::name(&self.text, entry), entry))
    }

    #[cfg(unix)]
    fn name(text: &[u8], entry: NameEntry) -> &OsStr {
        use std::os::unix::ffi::OsStrExt as _;
        let start = entry.start as usize;
        OsStr::from_bytes(text.get(start..start + usize::from(entry.length)).unwrap_or_default())
    }

    #[cfg(not(unix))]
    fn name(text: &[std::ffi::OsString], entry: NameEntry) -> &OsStr {
        text.get(entry.start as usize).map_or(OsStr::new(""), std::ffi::OsString::as_os_str)
    }

    /// Keeps the entries for which `keep` returns true. It may also change them.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&OsStr, &mut NameEntry) -> bool) {
        let text = &self.text;
        self.entries.retain_mut(|entry| keep(Self::name(text, *entry), entry));
    }

    /// Sorts the entries by name, byte by byte.
    pub(super) fn sort_by_name(&mut self) {
        let text = &self.text;
        let by_name = |one: &NameEntry, other: &NameEntry| -> Ordering {
            let bytes = |it: &NameEntry| Self::name(text, *it).as_encoded_bytes();
            bytes(one).cmp(bytes(other))
        };
        self.entries.sort_unstable_by(by_name);
    }

    /// Sorts files before all other entries.
    pub(super) fn sort_files_first(&mut self) {
        self.entries.sort_by_key(|it| it.kind != EntryKind::File);
    }

    /// The number of consecutive files from `index` on, at most `most`.
    pub(super) fn files_from(&self, index: usize, most: usize) -> usize {
        let rest = self.entries.get(index..).unwrap_or_default();
        rest.iter().take(most).take_while(|it| it.kind == EntryKind::File).count()
    }
}

/// The names of some consecutive files of a directory.
#[derive(Clone, Debug)]
pub struct FileNames<'n> {
    names: &'n NameList,
    /// The numbers of the files in a plan, by the index of the file's name. Empty without a plan.
    numbers: &'n [u32],
    from: usize,
    to: usize,
}

impl<'n> FileNames<'n> {
    pub(super) fn new(names: &'n NameList, from: usize, to: usize) -> Self {
        Self { names, numbers: &[], from, to }
    }

    /// The same files, with their numbers in a plan.
    pub(super) fn numbered(self, numbers: &'n [u32]) -> Self {
        Self { numbers, ..self }
    }

    /// The next file, and its number in the plan of the walk, if it has one.
    pub fn next_numbered(&mut self) -> Option<(&'n OsStr, Option<u32>)> {
        let number = self.numbers.get(self.from).copied();
        Some((self.next()?, number))
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
