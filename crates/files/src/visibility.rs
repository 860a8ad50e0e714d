//! Which files may be seen at all. A caller hands this in, so that a walk obeys policy without knowing
//! of it.

use std::{fmt, path::Path, sync::Arc};

type VisibilityCheck = dyn Fn(&Path, VisibilitySubject) -> bool + Send + Sync;

/// What a visibility check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisibilitySubject {
    /// A file that would be opened or listed.
    File,
    /// A directory that would be entered or listed.
    Folder,
}

/// Decides whether a path may be seen. One that may not is neither opened nor listed nor counted.
#[derive(Clone, Default)]
pub struct Visibility(Option<Arc<VisibilityCheck>>);

impl Visibility {
    /// A visibility without restrictions.
    pub fn everything() -> Self {
        Self(None)
    }

    /// Only those absolute paths may be seen for which `judge` returns true.
    pub fn judged_by(
        judge: impl Fn(&Path, VisibilitySubject) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(judge)))
    }

    /// Whether there are no restrictions, so that no path has to be checked.
    pub fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this path may be seen.
    pub fn shows(&self, path: &Path, subject: VisibilitySubject) -> bool {
        self.0.as_ref().is_none_or(|judge| judge(path, subject))
    }
}

impl fmt::Debug for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_everything() { "everything" } else { "as policy says" })
    }
}
