//! The open database of a store, and the four operations on it. Each is one transaction.

use std::time::Duration;

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row, TransactionBehavior,
    config::DbConfig, params, types::ValueRef,
};
use toolwright_base::path_to_text;

use super::store_files::{FileNumber, StoreFiles, StoreFilesFound};
use crate::{
    EntryPage, ListRequest, MAX_PAGE_BYTES, SetOutcome, StoreCapacity, StoreEntry, StoreError,
    StoredValue, Version,
};

/// Marks an SQLite file as one of our stores: `tlwr`.
pub(super) const APPLICATION_ID: i32 = 0x746c_7772;
/// The version of `schema.sql`.
pub(super) const SCHEMA_VERSION: i32 = 1;
/// The size of a page, the unit in which SQLite reads and writes.
pub(super) const PAGE_SIZE: u32 = 4_096;

/// Why an operation failed.
#[derive(Debug)]
pub(super) enum DatabaseFailure {
    /// Another connection has the lock.
    Busy,
    /// SQLite found impossible content in the file.
    Suspect(String),
    /// The file was moved, removed or replaced while it was open.
    Replaced,
    /// Any other reason.
    Failed(StoreError),
}

impl From<StoreError> for DatabaseFailure {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// An open store.
#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    files: StoreFiles,
    main: Option<FileNumber>,
    log: Option<FileNumber>,
}

impl Database {
    /// Opens a store that exists.
    pub(super) fn open(files: &StoreFiles, bytes: u64) -> Result<Self, DatabaseFailure> {
        let failed = |error| failure_of(files, error);
        let main = FileNumber::of(files.main());
        let connection = connect(files).map_err(failed)?;
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
        let (application, schema): (i32, i32) =
            (pragma("application_id").map_err(failed)?, pragma("user_version").map_err(failed)?);
        if application != APPLICATION_ID {
            return Err(DatabaseFailure::Suspect("it is not marked as a store".to_owned()));
        }
        if schema > SCHEMA_VERSION {
            return Err(DatabaseFailure::Failed(files.unavailable(format!(
                "a newer version of this package made it (format {schema}; this version knows {SCHEMA_VERSION}); update the package, or choose another path"
            ))));
        }
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cell_size_check = ON;
                 PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 4194304;
                 SELECT last_version FROM totals;",
            )
            .map_err(failed)?;
        let log = FileNumber::of(&files.log());
        let database = Self { connection, files: files.clone(), main, log };
        if has_partial_page(bytes) {
            // A process that is killed during a checkpoint leaves a partial page, and the rest is in the log.
            // If a checkpoint does not complete the page, the file was truncated.
            database.checkpoint();
            if let StoreFilesFound::Main(bytes) = files.look()?
                && has_partial_page(bytes)
            {
                return Err(DatabaseFailure::Suspect(PARTIAL_PAGE.to_owned()));
            }
        }
        if database.is_in_place() { Ok(database) } else { Err(DatabaseFailure::Busy) }
    }

    /// True while the open files are still the ones at their paths.
    pub(super) fn is_in_place(&self) -> bool {
        self.has_main_in_place()
            && (self.log.is_none() || FileNumber::of(&self.files.log()) == self.log)
    }

    /// Like [`Self::is_in_place`], but without checking the log. Another program removes the log when it
    /// believes that it is the last to use the store and has moved everything into the database. Older
    /// versions of SQLite can be wrong about this, because a process loses its locks on a file when it also
    /// opens and closes the file outside SQLite.
    pub(super) fn has_main_in_place(&self) -> bool {
        FileNumber::of(self.files.main()) == self.main
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Result<Option<StoredValue>, DatabaseFailure> {
        self.found(key).map_err(|error| failure_of(&self.files, error))
    }

    fn found(&self, key: &str) -> rusqlite::Result<Option<StoredValue>> {
        let sql = "SELECT value, version FROM entries WHERE key = ?1";
        let stored = |row: &Row<'_>| {
            Ok(StoredValue { value: value_text(row, 0)?, version: version_of(row.get(1)?) })
        };
        self.connection.prepare_cached(sql)?.query_row([key], stored).optional()
    }

    /// Sets a value if its current version is `expected`.
    pub(super) fn set(
        &mut self,
        key: &str,
        value: &str,
        expected: Option<&Version>,
        capacity: StoreCapacity,
    ) -> Result<SetOutcome, DatabaseFailure> {
        let files = self.files.clone();
        self.try_to_set(key, value, expected, capacity)
            .map_err(|error| failure_of(&files, error))?
            .map_err(DatabaseFailure::Failed)
    }

    fn try_to_set(
        &mut self,
        key: &str,
        value: &str,
        expected: Option<&Version>,
        capacity: StoreCapacity,
    ) -> rusqlite::Result<Result<SetOutcome, StoreError>> {
        let change = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let old: Option<(i64, i64)> = change
            .prepare_cached("SELECT version, octet_length(value) FROM entries WHERE key = ?1")?
            .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if old.map(|(version, _)| version_of(version)).as_ref() != expected {
            return Ok(Ok(SetOutcome::Changed));
        }
        let (version, entries, bytes): (i64, i64, i64) = change
            .prepare_cached(
                "UPDATE totals SET last_version = last_version + 1
                 RETURNING last_version, entries, bytes",
            )?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        // A person can edit the totals, so they may be negative.
        let count = |it: i64| u64::try_from(it).unwrap_or_default();
        let old_bytes = old.map(|(_, bytes)| count(bytes));
        if let Err(full) = capacity.check(count(entries), count(bytes), key, value, old_bytes) {
            return Ok(Err(full));
        }
        let sql = match old {
            None => "INSERT INTO entries (key, value, version) VALUES (?1, ?2, ?3)",
            Some(_) => "UPDATE entries SET value = ?2, version = ?3 WHERE key = ?1",
        };
        change.prepare_cached(sql)?.execute(params![key, value, version])?;
        change.commit()?;
        Ok(Ok(SetOutcome::Stored(version_of(version))))
    }

    /// Deletes a value if its current version is `expected`, or unconditionally with `None`.
    pub(super) fn delete(
        &mut self,
        key: &str,
        expected: Option<&Version>,
    ) -> Result<bool, DatabaseFailure> {
        let sql =
            "DELETE FROM entries WHERE key = ?1 AND (?2 IS NULL OR CAST(version AS TEXT) = ?2)";
        let expected = expected.map(|it| it.0.as_str());
        let deleted = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|change| {
                let deleted = change.prepare_cached(sql)?.execute(params![key, expected])?;
                change.commit()?;
                Ok(deleted)
            });
        deleted.map(|count| count > 0).map_err(|error| failure_of(&self.files, error))
    }

    /// A page of entries.
    pub(super) fn list(&self, request: &ListRequest) -> Result<EntryPage, DatabaseFailure> {
        self.page(request).map_err(|error| failure_of(&self.files, error))
    }

    fn page(&self, request: &ListRequest) -> rusqlite::Result<EntryPage> {
        let (comparison, begin) = match &request.after {
            Some(after) if *after >= request.prefix => (">", after),
            _ => (">=", &request.prefix),
        };
        let value = if request.with_values { "value" } else { "''" };
        let sql = format!(
            "SELECT key, {value}, version FROM entries WHERE key {comparison} ?1 ORDER BY key"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([begin])?;
        let mut page = EntryPage::default();
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let key = match row.get_ref(0)? {
                // A person added it by hand. It is skipped, because callers can only name UTF-8 keys.
                ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                    Ok(key) => key.to_owned(),
                    Err(_) => continue,
                },
                // SQLite sorts text before blobs, so no text follows.
                _ => break,
            };
            if !key.starts_with(&request.prefix) {
                break;
            }
            if page.entries.len() >= request.limit || bytes >= MAX_PAGE_BYTES {
                page.has_more = true;
                break;
            }
            let value = value_text(row, 1)?;
            bytes += key.len() + value.len();
            page.entries.push(StoreEntry { key, value, version: version_of(row.get(2)?) });
        }
        Ok(page)
    }

    /// Flushes written changes to the disk, as many as is possible without waiting for other users of the
    /// store.
    pub(super) fn checkpoint(&self) {
        self.run_checkpoint("PRAGMA wal_checkpoint(PASSIVE)");
    }

    /// Closes the store; the log is emptied if no other connection uses it.
    pub(super) fn close(self) {
        if self.is_in_place() {
            self.run_checkpoint("PRAGMA wal_checkpoint(TRUNCATE)");
        }
    }

    fn run_checkpoint(&self, sql: &str) {
        // If it fails, the log stays, and the next connection reads it.
        let _ = self.connection.query_row(sql, [], |_| Ok(()));
    }
}

/// Opens a connection that never waits for locks and keeps the log when it is closed. SQLite would delete the
/// log by its path, which may belong to another store by then.
pub(super) fn connect(files: &StoreFiles) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(files.main(), flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(connection)
}

/// Describes a file whose last page is incomplete. SQLite would read the missing bytes as zeros.
pub(super) const PARTIAL_PAGE: &str = "its end is missing";

/// True if the last page of a file of `bytes` bytes is incomplete.
pub(super) fn has_partial_page(bytes: u64) -> bool {
    !bytes.is_multiple_of(u64::from(PAGE_SIZE))
}

/// Why a check of a database failed.
pub(super) enum CheckFailure {
    /// The database is damaged; the text says how.
    Found(String),
    /// It could not be checked.
    Sqlite(rusqlite::Error),
}

/// Reads a whole database and reports the first damage found.
pub(super) fn check(connection: &Connection) -> Result<(), CheckFailure> {
    match connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)) {
        Ok(found) if found == "ok" => Ok(()),
        Ok(found) => Err(CheckFailure::Found(found)),
        Err(error) if is_about_damage(&error) => Err(CheckFailure::Found(plain_text(&error))),
        Err(error) => Err(CheckFailure::Sqlite(error)),
    }
}

/// A value as text. A person may have stored invalid UTF-8 by hand; one such value must not make a listing
/// fail.
fn value_text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
        _ => row.get(column),
    }
}

fn version_of(number: i64) -> Version {
    Version(number.to_string())
}

fn is_about_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// SQLite's message without its error code.
fn plain_text(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}

/// Translates an SQLite error.
#[expect(clippy::needless_pass_by_value, reason = "callers pass it to map_err")]
pub(super) fn failure_of(files: &StoreFiles, error: rusqlite::Error) -> DatabaseFailure {
    if is_about_damage(&error) {
        return DatabaseFailure::Suspect(plain_text(&error));
    }
    let failed = |cause: &str| DatabaseFailure::Failed(files.unavailable(cause));
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DatabaseFailure::Busy,
        Some(ErrorCode::DiskFull) => failed("the disk is full; nothing was changed"),
        Some(ErrorCode::ReadOnly) => failed("it cannot be written; nothing was changed"),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => failed(&format!(
            "it or its directory cannot be read and written ({})",
            plain_text(&error)
        )),
        Some(ErrorCode::SystemIoFailure) => {
            failed(&format!("reading or writing the disk failed ({})", plain_text(&error)))
        }
        _ => {
            let shown = path_to_text(files.main());
            let message = format!("SQLite cannot use `{shown}`: {}", plain_text(&error));
            DatabaseFailure::Failed(StoreError::Unavailable(message))
        }
    }
}
