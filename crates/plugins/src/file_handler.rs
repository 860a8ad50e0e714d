//! The `file-read` handler: reads the file that the parameter `path` names, in one directory.

use std::{
    io::{self, Read as _},
    path::Path,
};

use toolwright_base::{ErrorKind, ToolError, other_kind, shown_path};
use toolwright_core::{EngineError as _, ForModel as _, ToolContext, ToolOutput};
use toolwright_files::{PathError, RelativePaths, Roots, TextFile, WorkspacePath};

use super::{
    definition::FileReadHandlerConfig,
    parameter::{CallValues, Parameters, refused},
    place::named_directory,
};

/// The default size limit in bytes.
const DEFAULT_MAX_SIZE: u32 = 1024 * 1024;
/// The parameter that names the file.
const PATH: &str = "path";

/// Reads files of one directory.
pub(super) struct FileHandler {
    base: String,
    max_size: u64,
}

/// A file to read.
pub(super) struct PlannedRead {
    pub(super) path: WorkspacePath,
    max_size: u64,
}

impl FileHandler {
    pub(super) fn new(
        config: &FileReadHandlerConfig,
        parameters: &Parameters,
    ) -> Result<Self, String> {
        if parameters.find(PATH).is_none() {
            return Err(format!(
                "`inputSchema` has to have the property `{PATH}`, which names the file"
            ));
        }
        if config.base_path.contains('\0') {
            return Err("field `basePath`: it contains a NUL character".to_owned());
        }
        let max_size = config.max_size.unwrap_or(DEFAULT_MAX_SIZE).into();
        Ok(Self { base: config.base_path.clone(), max_size })
    }

    /// Resolves the file of a call. Links are followed but must stay in the directory.
    pub(super) fn plan(
        &self,
        values: CallValues<'_>,
        cx: &ToolContext,
    ) -> Result<PlannedRead, ToolError> {
        let asked = values.text(PATH)?;
        let asked = asked.ok_or_else(|| refused(PATH, "name the file to read"))?;
        let workspace = cx.session.shared.files.roots.first();
        let base = named_directory(&self.base, workspace).ok_or_else(|| {
            let message = format!(
                "the tool's directory `{}` does not exist, so there is nothing to read",
                self.base
            );
            ToolError::new(ErrorKind::FileNotFound, message)
        })?;
        let roots = Roots::new(&base, &[]).for_model()?;
        let path =
            roots.resolve(&asked, RelativePaths::FromFirstRoot).map_err(|err| match err {
                PathError::Outside { asked, .. } => outside(&asked, &base),
                other => other.into_tool_error(),
            })?;
        Ok(PlannedRead { path, max_size: self.max_size })
    }
}

fn outside(asked: &str, base: &Path) -> ToolError {
    let message = format!(
        "`{asked}` is outside `{}`, the directory that this tool reads; use a path inside it",
        shown_path(base)
    );
    ToolError::new(ErrorKind::PathOutsideWorkspace, message)
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass it to map_err")]
fn unreadable(path: &str, cause: io::Error) -> ToolError {
    let (kind, message) = match (cause.kind(), other_kind(&cause)) {
        (_, Some(kind)) => (ErrorKind::FileRead, format!("`{path}` is {kind}, not a file")),
        (io::ErrorKind::NotFound, _) => (ErrorKind::FileNotFound, format!("no file at `{path}`")),
        (io::ErrorKind::PermissionDenied, _) => {
            (ErrorKind::Permission, format!("permission denied: `{path}`"))
        }
        _ => (ErrorKind::FileRead, format!("`{path}` cannot be read: {cause}")),
    };
    ToolError::new(kind, message)
}

impl PlannedRead {
    /// Reads the file.
    pub(super) async fn run(self, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        cx.blocking(move |_cancel| {
            let shown = shown_path(self.path.absolute());
            let unopened = |cause| unreadable(&shown, cause);
            let file = self.path.open().map_err(unopened)?;
            let size = file.metadata().map_err(unopened)?.len();
            let mut bytes = Vec::new();
            file.take(self.max_size + 1).read_to_end(&mut bytes).map_err(unopened)?;
            if bytes.len() as u64 > self.max_size {
                let message = format!(
                    "`{shown}` has {size} bytes, and this tool reads files of at most {}; read it in another way",
                    self.max_size
                );
                return Err(ToolError::new(ErrorKind::FileRead, message));
            }
            let Ok(text) = TextFile::from_bytes(bytes) else {
                let message = format!("`{shown}` is a binary file; this tool reads text");
                return Err(ToolError::new(ErrorKind::FileRead, message));
            };
            Ok(ToolOutput::text(text.text()))
        })
        .await
    }
}
