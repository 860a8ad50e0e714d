//! Encodes a [`SandboxPlan`] as bytes, for the file in memory that the host sends with a request.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use crate::sandbox_plan::{
    CommandNetwork, HiddenPlace, MissingPlace, PlaceKind, ResourceLimits, SandboxLevel,
    SandboxPlan, WritablePlaces,
};

/// The longest plan in bytes. A longer plan is not sent.
pub const MAX_PLAN_BYTES: usize = 64 * 1024 * 1024;

impl SandboxPlan {
    /// Encodes the plan.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.level.to_byte(), self.network.to_byte()];
        let ResourceLimits { cpu_seconds, memory_bytes, processes, file_bytes } = self.limits;
        for limit in
            [cpu_seconds.map(u64::from), memory_bytes, processes.map(u64::from), file_bytes]
        {
            bytes.push(u8::from(limit.is_some()));
            bytes.extend(limit.unwrap_or_default().to_le_bytes());
        }
        put_list(&mut bytes, self.hidden.iter().map(|it| (it.path.as_path(), it.kind)));
        put_list(&mut bytes, self.missing.iter().map(|it| (it.path.as_path(), it.kind)));
        put_paths(&mut bytes, &self.read_only);
        put_paths(&mut bytes, &self.opened);
        match &self.writable {
            WritablePlaces::Everywhere => bytes.push(0),
            WritablePlaces::Below(paths) => {
                bytes.push(1);
                put_paths(&mut bytes, paths);
            }
        }
        bytes
    }

    /// Decodes a plan. `None` if the bytes are not exactly one plan.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let from = &mut bytes;
        let level = SandboxLevel::from_byte(take_byte(from)?)?;
        let network = CommandNetwork::from_byte(take_byte(from)?)?;
        let mut limits = [None; 4];
        for limit in &mut limits {
            let is_set = take_byte(from)? == 1;
            let (number, rest) = from.split_first_chunk::<8>()?;
            *from = rest;
            *limit = is_set.then_some(u64::from_le_bytes(*number));
        }
        let [cpu_seconds, memory_bytes, processes, file_bytes] = limits;
        let small = |it: Option<u64>| it.map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        let hidden = take_list(from, |path, kind| HiddenPlace { path, kind })?;
        let missing = take_list(from, |path, kind| MissingPlace { path, kind })?;
        let (read_only, opened) = (take_paths(from)?, take_paths(from)?);
        let writable = match take_byte(from)? {
            0 => WritablePlaces::Everywhere,
            1 => WritablePlaces::Below(take_paths(from)?),
            _ => return None,
        };
        let limits = ResourceLimits {
            cpu_seconds: small(cpu_seconds),
            memory_bytes,
            processes: small(processes),
            file_bytes,
        };
        let plan = Self { level, hidden, read_only, missing, writable, opened, network, limits };
        bytes.is_empty().then_some(plan)
    }
}

impl SandboxLevel {
    /// The level as one byte.
    pub(crate) const fn to_byte(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Landlock => 1,
            Self::Namespaces => 2,
        }
    }

    /// The level of a byte.
    pub(crate) const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::None),
            1 => Some(Self::Landlock),
            2 => Some(Self::Namespaces),
            _ => None,
        }
    }
}

impl CommandNetwork {
    const fn to_byte(self) -> u8 {
        match self {
            Self::Open => 0,
            Self::Closed => 1,
            Self::Proxied => 2,
        }
    }

    const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Open),
            1 => Some(Self::Closed),
            2 => Some(Self::Proxied),
            _ => None,
        }
    }
}

fn put_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_path(bytes: &mut Vec<u8>, path: &Path) {
    let text = path.as_os_str().as_bytes();
    put_number(bytes, text.len());
    bytes.extend(text);
}

fn put_paths(bytes: &mut Vec<u8>, paths: &[PathBuf]) {
    put_number(bytes, paths.len());
    for path in paths {
        put_path(bytes, path);
    }
}

fn put_list<'a>(bytes: &mut Vec<u8>, places: impl ExactSizeIterator<Item = (&'a Path, PlaceKind)>) {
    put_number(bytes, places.len());
    for (path, kind) in places {
        bytes.push(u8::from(kind == PlaceKind::Directory));
        put_path(bytes, path);
    }
}

fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number) as usize)
}

fn take_path(bytes: &mut &[u8]) -> Option<PathBuf> {
    let length = take_number(bytes)?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(OsString::from_vec(text.to_vec()).into())
}

fn take_paths(bytes: &mut &[u8]) -> Option<Vec<PathBuf>> {
    (0..take_number(bytes)?).map(|_| take_path(bytes)).collect()
}

fn take_list<Place>(
    bytes: &mut &[u8],
    make: impl Fn(PathBuf, PlaceKind) -> Place,
) -> Option<Vec<Place>> {
    (0..take_number(bytes)?)
        .map(|_| {
            let kind = match take_byte(bytes)? {
                0 => PlaceKind::File,
                1 => PlaceKind::Directory,
                _ => return None,
            };
            Some(make(take_path(bytes)?, kind))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_survives_encoding_and_truncated_bytes_are_rejected() {
        let path = |text: &[u8]| PathBuf::from(OsString::from_vec(text.to_vec()));
        let plan = SandboxPlan {
            level: SandboxLevel::Namespaces,
            hidden: vec![
                HiddenPlace { path: path(b"/a/\xff\n"), kind: PlaceKind::File },
                HiddenPlace { path: path(b"/b"), kind: PlaceKind::Directory },
            ],
            read_only: vec![path(b"/c"), path(b"/d/e")],
            missing: vec![MissingPlace { path: path(b"/f"), kind: PlaceKind::Directory }],
            writable: WritablePlaces::Below(vec![path(b"/g"), path(b"")]),
            opened: vec![path(b"/c/h")],
            network: CommandNetwork::Proxied,
            limits: ResourceLimits {
                cpu_seconds: Some(u32::MAX),
                memory_bytes: None,
                processes: Some(0),
                file_bytes: Some(u64::MAX),
            },
        };
        let bytes = plan.encode();
        assert_eq!(SandboxPlan::decode(&bytes), Some(plan));
        for length in 0..bytes.len() {
            assert_eq!(bytes.get(..length).and_then(SandboxPlan::decode), None, "{length}");
        }
        assert_eq!(SandboxPlan::decode(&[bytes, vec![0]].concat()), None);
        let empty = SandboxPlan::default();
        assert_eq!(SandboxPlan::decode(&empty.encode()), Some(empty));
    }
}
