//! Diagnoses the file of a store, and moves a damaged one aside.
//!
//! A file is moved aside only if it is certainly one of our stores and certainly damaged. A file that belongs
//! to another program, is locked, is unreadable or has a newer format stays where it is.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode};
use toolwright_base::{path_to_text, regular_file};

use super::{
    database::{APPLICATION_ID, CheckFailure, PARTIAL_PAGE, check, connect, has_partial_page},
    store_files::{StoreFiles, StoreFilesFound},
};
use crate::StoreError;

/// The first bytes of an SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// The offset of the application id in the file.
const APPLICATION_AT: usize = 68;
/// How long to wait before a locked store is checked again.
const PAUSE: Duration = Duration::from_millis(5);

/// The error for a store that SQLite reported as broken, with SQLite's message in `cause`. A damaged store
/// has been moved aside when this returns, and the next operation creates a new one.
pub(super) fn examine(files: &StoreFiles, cause: &str, until: Instant) -> StoreError {
    judge(files, cause, until).unwrap_or_else(|error| error)
}

fn judge(files: &StoreFiles, cause: &str, until: Instant) -> Result<StoreError, StoreError> {
    // Checked before locking, because no lock file may be created beside a foreign file.
    if let StoreFilesFound::Main(_) = files.look()?
        && let Some(what) = other_owner(files)?
    {
        return Ok(not_ours(files, what));
    }
    let _lock = files.lock(until)?;
    match files.look()? {
        StoreFilesFound::Nothing => Ok(replaced(files)),
        StoreFilesFound::WithoutMain => put_aside(files, "its main file is missing"),
        StoreFilesFound::Emptied => put_aside(files, "the file is empty"),
        StoreFilesFound::Main(bytes) => {
            if let Some(what) = other_owner(files)? {
                return Ok(not_ours(files, what));
            }
            match found_damage(files, until)? {
                Some(damage) => put_aside(files, &damage),
                None if has_partial_page(bytes) => put_aside(files, PARTIAL_PAGE),
                // Another process has moved the damaged store aside, or the disk has recovered.
                None => Ok(files.unavailable(format!("{cause}, but it is intact now; try again"))),
            }
        }
    }
}

fn not_ours(files: &StoreFiles, what: &str) -> StoreError {
    let shown = path_to_text(files.main());
    StoreError::Damaged(format!(
        "`{shown}` is not a store of this package: {what}; it was left as it is. move it away, or choose \
         another path for the store"
    ))
}

/// The error for files that were moved, removed or replaced while open.
pub(super) fn replaced(files: &StoreFiles) -> StoreError {
    files.unavailable(
        "it was moved, removed or replaced while it was in use; the next call uses the files that are \
         there then",
    )
}

/// Says what a file is, if it is not certainly one of our stores.
fn other_owner(files: &StoreFiles) -> Result<Option<&'static str>, StoreError> {
    let mut head = Vec::new();
    regular_file::open(files.main())
        .and_then(|file| file.take(100).read_to_end(&mut head))
        .map_err(|cause| files.unavailable(cause))?;
    if !head.starts_with(MAGIC) {
        let is_short = MAGIC.starts_with(&head);
        return Ok(Some(if is_short {
            "only a few bytes of it are left"
        } else {
            "it is not an SQLite database"
        }));
    }
    Ok(match head.get(APPLICATION_AT..APPLICATION_AT + 4) {
        Some(number) if *number == APPLICATION_ID.to_be_bytes() => None,
        Some(_) => Some("it is the SQLite database of another program"),
        None => Some("it is too short to tell which program made it"),
    })
}

/// Says what is wrong with one of our stores; `None` if it is intact.
fn found_damage(files: &StoreFiles, until: Instant) -> Result<Option<String>, StoreError> {
    loop {
        let checked =
            connect(files).map_err(CheckFailure::Sqlite).and_then(|connection| check(&connection));
        match checked {
            Ok(()) => return Ok(None),
            Err(CheckFailure::Found(what)) => return Ok(Some(what)),
            Err(CheckFailure::Sqlite(error)) => {
                let is_busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
                if !is_busy || Instant::now() >= until {
                    return Err(files.unavailable(error));
                }
                thread::sleep(PAUSE);
            }
        }
    }
}

/// Moves the files of a damaged store aside, and returns the error that reports it.
fn put_aside(files: &StoreFiles, damage: &str) -> Result<StoreError, StoreError> {
    let aside = free_name(files);
    for (path, ending) in files.all() {
        let mut kept = aside.clone().into_os_string();
        kept.push(ending);
        match fs::rename(&path, PathBuf::from(kept)) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                let why = format!("it is damaged ({damage}) and cannot be renamed: {cause}");
                return Err(files.unavailable(why));
            }
            _ => {}
        }
    }
    let (shown, aside) = (path_to_text(files.main()), path_to_text(&aside));
    Ok(StoreError::Damaged(format!(
        "the store `{shown}` was damaged ({damage}). it is kept as `{aside}`, where a person can repair it; \
         the next call begins an empty store"
    )))
}

/// An unused name beside the store that includes the current time.
fn free_name(files: &StoreFiles) -> PathBuf {
    let time = Connection::open_in_memory().and_then(|it| {
        it.query_row("SELECT strftime('%Y%m%dT%H%M%SZ', 'now')", [], |row| row.get::<_, String>(0))
    });
    let ending = format!(".damaged-{}", time.unwrap_or_default());
    let names = |ending: &str| files.named(ending);
    let is_free = |path: &Path| {
        let beside = StoreFiles::at(path);
        beside.is_ok_and(|it| it.all().all(|(path, _)| fs::symlink_metadata(path).is_err()))
    };
    let numbered = (2_u32..).map(|number| names(&format!("{ending}-{number}")));
    let mut candidates = std::iter::once(names(&ending)).chain(numbered);
    candidates.find(|it| is_free(it)).unwrap_or_else(|| names(&ending))
}
