//! Creates the file of a new store. The file gets its final name once it is complete, so a killed process
//! leaves either no store or a complete one.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::Path,
    time::Instant,
};

use super::{
    database::{APPLICATION_ID, DatabaseFailure, PAGE_SIZE, SCHEMA_VERSION, connect, failure_of},
    store_files::{StoreFiles, StoreFilesFound},
};

const SCHEMA: &str = include_str!("schema.sql");

/// Creates a store if there is none. Also succeeds if another process created it first.
pub(super) fn create(files: &StoreFiles, until: Instant) -> Result<(), DatabaseFailure> {
    let failed = |cause: io::Error| DatabaseFailure::Failed(files.unavailable(cause));
    if let Some(folder) = files.main().parent() {
        create_folder(folder).map_err(failed)?;
    }
    let _lock = files.lock(until)?;
    match files.look()? {
        StoreFilesFound::Nothing => {}
        StoreFilesFound::Main(_) => return Ok(()),
        StoreFilesFound::WithoutMain | StoreFilesFound::Emptied => {
            return Err(DatabaseFailure::Suspect(String::new()));
        }
    }
    // An index without its log would mislead SQLite.
    remove(&files.named("-shm")).map_err(failed)?;
    let draft = files.draft();
    let made = make(&draft).and_then(|()| name(&draft, files).map_err(failed));
    remove_all(&draft);
    made
}

/// Removes the draft of a process that was killed just after it named a new store.
pub(super) fn clear_draft(files: &StoreFiles) {
    let draft = files.draft();
    let is_there = fs::symlink_metadata(draft.main()).is_ok();
    // If the lock is taken, its holder removes the draft.
    if is_there && let Ok(_lock) = files.lock(Instant::now()) {
        remove_all(&draft);
    }
}

/// Files that cannot be removed now are removed the next time the store is opened.
fn remove_all(draft: &StoreFiles) {
    for (path, _) in draft.all() {
        let _ = remove(&path);
    }
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

/// Writes an empty store.
fn make(draft: &StoreFiles) -> Result<(), DatabaseFailure> {
    let failed = |cause: io::Error| DatabaseFailure::Failed(draft.unavailable(cause));
    for (path, _) in draft.all() {
        remove(&path).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(options.open(draft.main()).map_err(failed)?);
    let write = || {
        let connection = connect(draft)?;
        connection.execute_batch(&format!(
            "PRAGMA page_size = {PAGE_SIZE}; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL;
             BEGIN; {SCHEMA}
             PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};
             COMMIT; PRAGMA journal_mode = WAL;"
        ))
    };
    write().map_err(|error| failure_of(draft, error))?;
    File::open(draft.main()).and_then(|it| it.sync_all()).map_err(failed)
}

/// Gives a store its final name, unless a file of that name exists.
fn name(draft: &StoreFiles, files: &StoreFiles) -> io::Result<()> {
    match fs::hard_link(draft.main(), files.main()) {
        Ok(()) => {}
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        // Some file systems have no hard links. The caller holds the creation lock, so nothing is replaced.
        Err(_) => fs::rename(draft.main(), files.main())?,
    }
    #[cfg(unix)]
    if let Some(folder) = files.main().parent() {
        File::open(folder).and_then(|it| it.sync_all())?;
    }
    Ok(())
}
