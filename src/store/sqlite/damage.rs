//! Says what is wrong with the file of a store, and puts a damaged one aside.
//!
//! Only a file that is surely a store of ours, and surely damaged, is put aside. One that belongs to another
//! program, is locked, cannot be read or is of a newer version stays where it is.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode};

use super::{
    database::{APPLICATION_ID, CheckFailure, PARTIAL_PAGE, check, connect, has_partial_page},
    store_files::{StoreFiles, StoreFilesFound},
};
use crate::{path_text::path_to_text, regular_file, store::StoreError};

/// How an SQLite database begins.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Where the application's number is in the file.
const APPLICATION_AT: usize = 68;
/// How long to wait before a locked store is checked again.
const PAUSE: Duration = Duration::from_millis(5);

/// The error for a store in which something cannot be: `cause`, in SQLite's words. When it returns, a
/// damaged store has been put aside and the next operation begins a new one.
pub(super) fn examine(files: &StoreFiles, cause: &str, until: Instant) -> StoreError {
    judge(files, cause, until).unwrap_or_else(|error| error)
}

fn judge(files: &StoreFiles, cause: &str, until: Instant) -> Result<StoreError, StoreError> {
    // Before the lock, whose file has no place beside what is not ours.
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
                // Somebody else has put the damaged store aside, or the disk has recovered.
                None => {
                    Ok(files.unavailable(format!("{cause}, but it is in order by now; try again")))
                }
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

/// The error for files that were moved, removed or replaced while they were open.
pub(super) fn replaced(files: &StoreFiles) -> StoreError {
    files.unavailable(
        "it was moved, removed or replaced while it was in use; the next call works with what is there by \
         then",
    )
}

/// What a file is, if it is not surely one of ours.
fn other_owner(files: &StoreFiles) -> Result<Option<&'static str>, StoreError> {
    let mut head = Vec::new();
    regular_file::open(files.main())
        .and_then(|file| file.take(100).read_to_end(&mut head))
        .map_err(|cause| files.unavailable(cause))?;
    if !head.starts_with(MAGIC) {
        let is_short = MAGIC.starts_with(&head);
        return Ok(Some(if is_short {
            "only a few bytes are left of what it was"
        } else {
            "it is not an SQLite database"
        }));
    }
    Ok(match head.get(APPLICATION_AT..APPLICATION_AT + 4) {
        Some(number) if *number == APPLICATION_ID.to_be_bytes() => None,
        Some(_) => Some("it is the SQLite database of another program"),
        None => Some("it is too short to tell whose it was"),
    })
}

/// What is wrong with a store of ours; nothing when it is in order.
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

/// Moves the files of a damaged store aside, and says so.
fn put_aside(files: &StoreFiles, damage: &str) -> Result<StoreError, StoreError> {
    let aside = free_name(files);
    for (path, ending) in files.all() {
        let mut kept = aside.clone().into_os_string();
        kept.push(ending);
        match fs::rename(&path, PathBuf::from(kept)) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                let why = format!("it is damaged ({damage}) and cannot be moved aside: {cause}");
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

/// A name beside the store that says when it was put aside, and that nothing has.
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
