//! Lists a directory. Like a walk, but reports errors in the same way as a search.

use toolwright_base::path_to_text;
use toolwright_walk::{Listing, ListingRequest, list_folder};

use super::SearchError;
use crate::index::WorkspaceIndex;

/// Lists a directory, refusing anything that is not a directory.
pub fn list(
    request: &ListingRequest<'_>,
    index: Option<&WorkspaceIndex>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Listing, SearchError> {
    // Checked before it is opened, because merely opening a device can have an effect.
    let kind = request.start.absolute().symlink_metadata();
    let failed = |cause| SearchError::at(request.start, request.visibility, cause);
    let kind = kind.map_err(failed)?;
    if !kind.is_dir() {
        return Err(SearchError::NotAFolder(path_to_text(request.start.absolute()).into_owned()));
    }
    if let Some(Ok(listing)) = index.map(|it| it.list(request)) {
        return Ok(listing);
    }
    Ok(list_folder(request, cancelled).map_err(failed)??)
}
