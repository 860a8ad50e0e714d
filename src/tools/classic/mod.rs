//! The `classic` set: `snake_case` names, paths relative to the workspace.

mod edit_file;
mod glob;
mod grep;
mod ls;
mod read_file;
mod read_many_files;
mod shell;
mod write_file;

use std::sync::Arc;

use crate::tool::{DynTool, Typed};

pub(super) fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![
        Typed::erased(edit_file::EditFile),
        Typed::erased(glob::ClassicGlob),
        Typed::erased(grep::ClassicGrep),
        Typed::erased(ls::Ls),
        Typed::erased(read_file::ReadFile),
        Typed::erased(read_many_files::ReadManyFiles),
        Typed::erased(shell::Shell),
        Typed::erased(write_file::WriteFile),
    ]
}
