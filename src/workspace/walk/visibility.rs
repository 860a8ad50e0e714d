//! Which files may be known at all: the door through which policy reaches a walk.

use std::{fmt, path::Path, sync::Arc};

type Judge = dyn Fn(&Path, Subject) -> bool + Send + Sync;

/// What a judgement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A file that would be opened or listed.
    File,
    /// A directory that would be entered or listed.
    Folder,
}

/// Says of a place whether it may be seen. What may not is neither opened nor listed nor counted.
#[derive(Clone, Default)]
pub struct Visibility(Option<Arc<Judge>>);

impl Visibility {
    /// Everything may be seen.
    pub fn everything() -> Self {
        Self(None)
    }

    /// What the judge agrees to, by absolute path.
    pub fn judged_by(judge: impl Fn(&Path, Subject) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(judge)))
    }

    /// True where nothing has to be asked.
    pub fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the place may be seen.
    pub fn shows(&self, path: &Path, subject: Subject) -> bool {
        self.0.as_ref().is_none_or(|judge| judge(path, subject))
    }
}

impl fmt::Debug for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_everything() { "everything" } else { "as policy says" })
    }
}
