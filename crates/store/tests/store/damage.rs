//! Damaged files, foreign files, and other things at the store's path: a clear error, and nothing is deleted.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
    time::Duration,
};

use pretty_assertions::assert_eq;
use rusqlite::Connection;
use tempfile::TempDir;
use toolwright_store::{SqliteStore, Store, StoreCapacity, StoreError, StoreLimits};

use super::store_bed::{StoreBed, store_at};

/// The bytes of a closed store with a few dozen values, on several pages.
async fn some_store() -> (Vec<u8>, Vec<(String, String)>) {
    let bed = StoreBed::new();
    let store = bed.store();
    let values: Vec<(String, String)> = (0..40)
        .map(|number| (format!("key/{number:02}"), format!("{number} ").repeat(100)))
        .collect();
    for (key, value) in &values {
        store.set(key, value).await.unwrap();
    }
    store.close().await;
    (fs::read(bed.path()).unwrap(), values)
}

async fn all(store: &Store) -> Result<Vec<(String, String)>, StoreError> {
    let (entries, _) = store.entries("", 1_000, true).await?;
    Ok(entries.into_iter().map(|it| (it.key, it.value)).collect())
}

/// The names of the damaged files that were kept, without the index of a log and without an empty log.
fn kept(bed: &StoreBed) -> Vec<String> {
    let mut names = bed.names();
    let is_log = |it: &str| it.ends_with("-wal");
    let is_empty = |it: &str| fs::metadata(bed.folder().join(it)).unwrap().len() == 0;
    names.retain(|it| it.starts_with("store.sqlite.damaged-") && !it.ends_with("-shm"));
    names.retain(|it| !is_log(it) || !is_empty(it));
    names
}

#[tokio::test]
async fn a_store_that_is_truncated_anywhere_is_kept_and_reported() {
    let (whole, values) = some_store().await;
    let at_pages = (0..whole.len()).step_by(4_096).flat_map(|it| [it, it + 1, (it + 4_095)]);
    let mut cuts: Vec<usize> =
        (0..130).chain((130..whole.len()).step_by(211)).chain(at_pages).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let (mut reported, mut refused) = (0, 0);
    for cut in cuts.into_iter().filter(|it| *it < whole.len()) {
        let bed = StoreBed::new();
        fs::write(bed.path(), &whole[..cut]).unwrap();
        let store = bed.store();
        match all(&store).await {
            // The missing bytes were not in use.
            Ok(found) => assert_eq!(found, values, "cut at {cut}"),
            Err(StoreError::Damaged(message)) if message.contains("is kept as") => {
                reported += 1;
                let [name] = &kept(&bed)[..] else { panic!("cut at {cut}: {:?}", bed.names()) };
                assert!(message.contains(name), "{message}");
                assert_eq!(fs::read(bed.folder().join(name)).unwrap(), &whole[..cut]);
                assert_eq!(all(&store).await.unwrap(), []);
                store.set("a", "1").await.unwrap();
                assert_eq!(store.get("a").await.unwrap().unwrap().value, "1");
            }
            Err(StoreError::Damaged(message)) if message.contains("left as it is") => {
                refused += 1;
                assert!(cut < 72, "cut at {cut}: {message}");
                assert_eq!(fs::read(bed.path()).unwrap(), &whole[..cut]);
                assert!(store.set("a", "1").await.is_err());
                assert_eq!(fs::read(bed.path()).unwrap(), &whole[..cut]);
            }
            Err(other) => panic!("cut at {cut}: {other:?}"),
        }
        store.close().await;
    }
    assert!(refused == 71 && reported > 100, "{refused} refused, {reported} reported");
}

#[tokio::test]
async fn a_store_with_a_page_of_zeros_is_never_treated_as_intact() {
    let (whole, values) = some_store().await;
    for page in 0..whole.len() / 4_096 {
        let bed = StoreBed::new();
        let mut bytes = whole.clone();
        bytes[page * 4_096..][..4_096].fill(0);
        fs::write(bed.path(), &bytes).unwrap();
        let store = bed.store();
        match all(&store).await {
            Ok(found) => assert_eq!(found, values),
            Err(StoreError::Damaged(_)) => {
                let name = kept(&bed).pop().unwrap_or("store.sqlite".to_owned());
                assert_eq!(fs::read(bed.folder().join(name)).unwrap(), bytes);
            }
            Err(other) => panic!("page {page}: {other:?}"),
        }
        store.close().await;
    }
}

#[tokio::test]
async fn a_store_that_is_truncated_while_open_is_reported_and_the_next_call_works() {
    let bed = StoreBed::new();
    let store = bed.store();
    for number in 0..500 {
        store.set(&format!("key/{number:03}"), &"x".repeat(1_000)).await.unwrap();
    }
    store.close().await;
    let store = bed.store();
    assert!(store.get("key/000").await.unwrap().is_some());
    let file = fs::OpenOptions::new().write(true).open(bed.path()).unwrap();
    file.set_len(8_192).unwrap();
    let refused = all(&store).await;
    let Err(StoreError::Damaged(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("is kept as"), "{message}");
    assert_eq!(all(&store).await.unwrap(), []);
}

#[tokio::test]
async fn a_log_without_its_store_is_kept() {
    let bed = StoreBed::new();
    let log = bed.folder().join("store.sqlite-wal");
    fs::write(&log, "changes").unwrap();
    let store = bed.store();
    let refused = store.set("a", "1").await;
    let Err(StoreError::Damaged(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("main file is missing"), "{message}");
    let [name] = &kept(&bed)[..] else { panic!("{:?}", bed.names()) };
    assert!(name.ends_with("-wal"));
    assert_eq!(fs::read(bed.folder().join(name)).unwrap(), b"changes");
    store.set("a", "1").await.unwrap();
}

#[tokio::test]
async fn the_log_of_an_emptied_store_is_kept() {
    let bed = StoreBed::new();
    let store = bed.store();
    store.set("a", "1").await.unwrap();
    // As after a crash: with changes in the log.
    let crashed = StoreBed::new();
    for name in ["store.sqlite", "store.sqlite-wal"] {
        fs::copy(bed.folder().join(name), crashed.folder().join(name)).unwrap();
    }
    fs::write(crashed.path(), "").unwrap();
    let log = fs::read(crashed.folder().join("store.sqlite-wal")).unwrap();
    assert!(!log.is_empty());
    let other = crashed.store();
    assert!(matches!(other.get("a").await, Err(StoreError::Damaged(_))));
    let names = kept(&crashed);
    let kept_log = names.iter().find(|it| it.ends_with("-wal")).unwrap();
    assert_eq!(fs::read(crashed.folder().join(kept_log)).unwrap(), log);
    assert_eq!(other.get("a").await.unwrap(), None);
}

#[tokio::test]
async fn a_truncated_store_is_restored_if_its_log_has_the_rest() {
    let bed = StoreBed::new();
    let store = bed.store();
    store.set("a", "1").await.unwrap();
    let crashed = StoreBed::new();
    for name in ["store.sqlite", "store.sqlite-wal"] {
        fs::copy(bed.folder().join(name), crashed.folder().join(name)).unwrap();
    }
    let file = fs::OpenOptions::new().write(true).open(crashed.path()).unwrap();
    file.set_len(file.metadata().unwrap().len() - 100).unwrap();
    assert_eq!(crashed.store().get("a").await.unwrap().unwrap().value, "1");
}

#[tokio::test]
async fn two_damaged_stores_are_kept_under_two_names() {
    let bed = StoreBed::new();
    let store = bed.store();
    for _ in 0..3 {
        fs::write(bed.path(), "").unwrap();
        assert!(matches!(store.get("a").await, Err(StoreError::Damaged(_))));
    }
    assert_eq!(kept(&bed).len(), 3);
}

/// The expected error, and a function that makes the file.
type ForeignFile<'a> = (&'a str, &'a dyn Fn(&Path));

#[tokio::test]
async fn a_foreign_file_is_refused_and_not_changed() {
    let foreign_database = |path: &Path, sql: &str| {
        Connection::open(path).unwrap().execute_batch(sql).unwrap();
    };
    let makers: [ForeignFile<'_>; 4] = [
        ("not an SQLite database", &|path| fs::write(path, "my diary\n".repeat(1_000)).unwrap()),
        ("only a few bytes", &|path| fs::write(path, "SQLite").unwrap()),
        ("of another program", &|path| {
            foreign_database(path, "CREATE TABLE t (a); INSERT INTO t VALUES (1);");
        }),
        ("newer version", &|path| {
            let sql =
                "PRAGMA application_id = 0x746c7772; PRAGMA user_version = 2; CREATE TABLE t (a);";
            foreign_database(path, sql);
        }),
    ];
    for (cause, make) in makers {
        let bed = StoreBed::new();
        make(&bed.path());
        let before = fs::read(bed.path()).unwrap();
        let store = bed.store();
        for _ in 0..2 {
            let error = store.get("a").await.unwrap_err().to_string();
            assert!(error.contains(cause), "{error}");
            assert!(error.contains("another path"), "{error}");
            assert!(store.set("a", "1").await.is_err());
        }
        store.close().await;
        assert_eq!(fs::read(bed.path()).unwrap(), before);
        assert_eq!(fs::read_dir(bed.folder()).unwrap().count(), 1, "{cause}");
    }
}

#[tokio::test]
async fn a_path_that_is_not_a_file_is_refused_at_once() {
    let bed = StoreBed::new();
    let folder = bed.folder();
    fs::create_dir(folder.join("directory")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("fifo")).status().unwrap().success());
    symlink(folder.join("fifo"), folder.join("link-to-fifo")).unwrap();
    symlink(folder.join("nowhere"), folder.join("link-to-nothing")).unwrap();
    fs::write(folder.join("file"), "").unwrap();
    for (name, cause) in [
        ("directory", "not a file"),
        ("fifo", "not a file"),
        ("link-to-fifo", "not a file"),
        ("link-to-nothing", "leads nowhere"),
        ("file/below", "Not a directory"),
    ] {
        let store = store_at(&folder.join(name));
        for error in [store.get("a").await.unwrap_err(), store.set("a", "1").await.unwrap_err()] {
            assert!(matches!(error, StoreError::Unavailable(_)), "{name}: {error:?}");
            assert!(error.to_string().contains(cause), "{name}: {error}");
        }
    }
}

#[tokio::test]
async fn a_link_to_a_store_opens_the_store_itself() {
    let bed = StoreBed::new();
    bed.store().set("a", "1").await.unwrap();
    let elsewhere = TempDir::new().unwrap();
    let link = elsewhere.path().join("link.sqlite");
    symlink(bed.path(), &link).unwrap();
    let store = store_at(&link);
    assert_eq!(store.get("a").await.unwrap().unwrap().value, "1");
    store.set("a", "2").await.unwrap();
    assert_eq!(bed.store().get("a").await.unwrap().unwrap().value, "2");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_store_that_another_program_locks_is_an_error_and_works_afterwards() {
    let bed = StoreBed::new();
    bed.store().set("a", "1").await.unwrap();
    let person = Connection::open(bed.path()).unwrap();
    person.execute_batch("BEGIN IMMEDIATE").unwrap();
    let limit = Duration::from_millis(200);
    let backend = SqliteStore::new(bed.path(), StoreCapacity::default(), limit);
    let store = Store::new(std::sync::Arc::new(backend), StoreLimits::default());
    let refused = store.set("a", "2").await.unwrap_err().to_string();
    assert!(refused.contains("another program keeps it locked"), "{refused}");
    assert_eq!(store.get("a").await.unwrap().unwrap().value, "1");
    person.execute_batch("ROLLBACK").unwrap();
    store.set("a", "2").await.unwrap();
    assert_eq!(kept(&bed), [""; 0]);
}

#[tokio::test]
async fn a_store_that_is_moved_while_open_is_reported_once() {
    let bed = StoreBed::new();
    let store = bed.store();
    store.set("a", "1").await.unwrap();
    fs::rename(bed.path(), bed.folder().join("moved")).unwrap();
    let refused = store.get("a").await.unwrap_err().to_string();
    assert!(refused.contains("while it was in use"), "{refused}");
    // The log still exists and may contain changes.
    assert!(matches!(store.get("a").await, Err(StoreError::Damaged(_))));
    assert_eq!(store.get("a").await.unwrap(), None);
    store.set("a", "2").await.unwrap();
    // Complete again, together with the kept log.
    let log = kept(&bed).pop().unwrap();
    fs::rename(bed.folder().join(log), bed.folder().join("moved-wal")).unwrap();
    let moved = store_at(&bed.folder().join("moved"));
    assert_eq!(moved.get("a").await.unwrap().unwrap().value, "1");
}

#[tokio::test]
async fn a_store_that_is_removed_while_open_is_reported_and_created_again() {
    let bed = StoreBed::new();
    let store = bed.store();
    store.set("a", "1").await.unwrap();
    for name in bed.names() {
        fs::remove_file(bed.folder().join(name)).unwrap();
    }
    let refused = store.set("a", "2").await.unwrap_err().to_string();
    assert!(refused.contains("while it was in use"), "{refused}");
    store.set("a", "3").await.unwrap();
    assert_eq!(bed.store().get("a").await.unwrap().unwrap().value, "3");
}

#[tokio::test]
async fn an_incomplete_store_of_a_killed_process_is_replaced() {
    let bed = StoreBed::new();
    fs::write(bed.folder().join("store.sqlite.new"), "half").unwrap();
    fs::set_permissions(bed.folder().join("store.sqlite.new"), fs::Permissions::from_mode(0o400))
        .unwrap();
    bed.store().set("a", "1").await.unwrap();
    assert!(!bed.names().contains(&"store.sqlite.new".to_owned()));
}

#[tokio::test]
async fn invalid_text_in_the_database_does_not_hide_other_values() {
    let bed = StoreBed::new();
    let store = bed.store();
    store.set("a", "one").await.unwrap();
    store.set("z", "two").await.unwrap();
    let visitor = Connection::open(bed.path()).unwrap();
    visitor
        .execute_batch(
            "INSERT INTO entries (key, value) VALUES ('bytes', x'ff');
             INSERT INTO entries (key, value) VALUES (CAST(x'62ff' AS TEXT), 'no key');
             INSERT INTO entries (key, value) VALUES (x'61', 'no text');",
        )
        .unwrap();
    let expected = [("a", "one"), ("bytes", "\u{fffd}"), ("z", "two")];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    assert_eq!(all(&store).await, Ok(expected));
    store.set("bytes", "text").await.unwrap();
    assert_eq!(store.get("bytes").await.unwrap().unwrap().value, "text");
}
