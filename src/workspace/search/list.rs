//! Lists a directory, with the errors of a search.

use super::SearchError;
use crate::workspace::walk::{Listing, ListingRequest, list_folder};

/// Lists a directory.
pub fn list(
    request: &ListingRequest<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Listing, SearchError> {
    // Looked at before it is opened: opening a device can already do something.
    let kind = request.start.absolute().symlink_metadata();
    let kind = kind.map_err(|cause| SearchError::at(request.start, cause))?;
    if !kind.is_dir() {
        return Err(SearchError::NotAFolder(request.start.absolute().display().to_string()));
    }
    let listing = list_folder(request, cancelled);
    Ok(listing.map_err(|cause| SearchError::at(request.start, cause))??)
}
