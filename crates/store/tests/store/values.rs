//! The contract of stores, on SQLite and in memory, and the file of the SQLite store.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc, time::Duration};

use pretty_assertions::assert_eq;
use rusqlite::Connection;
use toolwright_core::{Environment, data_directory};
use toolwright_store::{
    EntryPage, InMemoryStore, ListRequest, SetOutcome, SqliteStore, Store, StoreBackend,
    StoreCapacity, StoreEntry, StoreError, StoreLimits, ValueChange, Version,
};

use super::store_bed::{StoreBed, sqlite_at, store_at};

/// Both kinds of stores, with this capacity.
fn both(bed: &StoreBed, capacity: StoreCapacity) -> [Arc<dyn StoreBackend>; 2] {
    [
        Arc::new(InMemoryStore::new(capacity)),
        Arc::new(SqliteStore::new(bed.path(), capacity, Duration::from_secs(100))),
    ]
}

async fn set(store: &dyn StoreBackend, key: &str, value: &str) -> Version {
    let old = store.get(key).await.unwrap().map(|it| it.version);
    match store.set(key, value, old.as_ref()).await.unwrap() {
        SetOutcome::Stored(version) => version,
        SetOutcome::Changed => panic!("`{key}` was changed by another writer"),
    }
}

fn request(prefix: &str, after: Option<&str>, limit: usize) -> ListRequest {
    ListRequest {
        prefix: prefix.to_owned(),
        after: after.map(str::to_owned),
        limit,
        with_values: true,
    }
}

fn keys(page: &EntryPage) -> Vec<&str> {
    page.entries.iter().map(|it| it.key.as_str()).collect()
}

#[tokio::test]
async fn a_value_is_replaced_only_if_the_version_matches() {
    let bed = StoreBed::new();
    for store in both(&bed, StoreCapacity::default()) {
        assert_eq!(store.get("a").await.unwrap(), None);
        let unknown = Version("7".to_owned());
        assert_eq!(store.set("a", "1", Some(&unknown)).await.unwrap(), SetOutcome::Changed);
        let first = set(&*store, "a", "1").await;
        assert_eq!(store.set("a", "2", None).await.unwrap(), SetOutcome::Changed);
        let second = set(&*store, "a", "2").await;
        assert_ne!(first, second);
        assert_eq!(store.set("a", "3", Some(&first)).await.unwrap(), SetOutcome::Changed);
        assert!(!store.delete("a", Some(&first)).await.unwrap());
        assert_eq!(store.get("a").await.unwrap().unwrap().value, "2");
        assert!(store.delete("a", Some(&second)).await.unwrap());
        assert!(!store.delete("a", None).await.unwrap());
        assert_eq!(store.get("a").await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_version_is_never_reused_even_after_a_deletion() {
    let bed = StoreBed::new();
    for store in both(&bed, StoreCapacity::default()) {
        let mut seen = Vec::new();
        for round in 0..10 {
            seen.push(set(&*store, "a", &round.to_string()).await.0);
            assert!(store.delete("a", None).await.unwrap());
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 10);
    }
}

#[tokio::test]
async fn entries_are_listed_in_pages_in_byte_order() {
    let bed = StoreBed::new();
    let all = ["a", "a/", "a/1", "a/10", "a/2", "a/é", "a/😀", "a/\u{ffff}", "b", "", "a\0b"];
    let mut below: Vec<&str> = all.into_iter().filter(|it| it.starts_with("a/")).collect();
    below.sort_unstable();
    for store in both(&bed, StoreCapacity::default()) {
        for key in all {
            set(&*store, key, &format!("value of {key}")).await;
        }
        let page = store.list(&request("a/", None, 100)).await.unwrap();
        assert_eq!(keys(&page), below);
        assert!(!page.has_more);
        assert_eq!(page.entries[1].value, format!("value of {}", below[1]));
        let mut paged = Vec::new();
        loop {
            let after = paged.last().map(|it: &StoreEntry| it.key.clone());
            let page = store.list(&request("a/", after.as_deref(), 2)).await.unwrap();
            paged.extend(page.entries);
            if !page.has_more {
                break;
            }
        }
        let paged: Vec<&str> = paged.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(paged, below);
        let mut whole = all.to_vec();
        whole.sort_unstable();
        assert_eq!(keys(&store.list(&request("", None, 100)).await.unwrap()), whole);
        let nothing = store.list(&request("c", None, 100)).await.unwrap();
        assert_eq!(nothing, EntryPage::default());
        let none = store.list(&request("a/", None, 0)).await.unwrap();
        assert!(none.entries.is_empty() && none.has_more);
    }
}

#[tokio::test]
async fn a_page_of_large_values_is_shortened_and_continued() {
    let bed = StoreBed::new();
    let large = "x".repeat(1024 * 1024);
    for store in both(&bed, StoreCapacity::default()) {
        for number in 10..30 {
            set(&*store, &format!("k{number}"), &large).await;
        }
        let page = store.list(&request("k", None, 1_000)).await.unwrap();
        assert!(page.has_more);
        assert_eq!(page.entries.len(), 8);
        let keys_only = ListRequest { with_values: false, ..request("k", None, 1_000) };
        assert_eq!(store.list(&keys_only).await.unwrap().entries.len(), 20);
        let store = Store::new(store, StoreLimits::default());
        let (entries, has_more) = store.entries("k", 1_000, true).await.unwrap();
        assert_eq!((entries.len(), has_more), (20, false));
    }
}

#[tokio::test]
async fn a_full_store_refuses_larger_values_and_accepts_smaller_ones() {
    let bed = StoreBed::new();
    let capacity = StoreCapacity { max_entries: 3, max_bytes: 20 };
    for store in both(&bed, capacity) {
        for key in ["a", "b", "c"] {
            set(&*store, key, "12345").await;
        }
        let refused = store.set("d", "", None).await;
        let Err(StoreError::Full(message)) = refused else { panic!("{refused:?}") };
        assert!(message.contains("3 entries") && message.contains("delete"), "{message}");
        let old = store.get("a").await.unwrap().unwrap().version;
        let refused = store.set("a", "12345678", Some(&old)).await;
        let Err(StoreError::Full(message)) = refused else { panic!("{refused:?}") };
        assert!(message.contains("18 bytes") && message.contains("3 more"), "{message}");
        assert_eq!(store.get("a").await.unwrap().unwrap().value, "12345");
        set(&*store, "a", "1234567").await;
        set(&*store, "b", "").await;
        assert!(store.delete("c", None).await.unwrap());
        set(&*store, "d", "12345").await;
    }
}

#[tokio::test]
async fn the_size_of_keys_and_values_is_limited() {
    let bed = StoreBed::new();
    let store = bed.store();
    let too_long = "k".repeat(1_025);
    assert!(matches!(store.get(&too_long).await, Err(StoreError::TooMuch(_))));
    assert!(matches!(store.set(&too_long, "").await, Err(StoreError::TooMuch(_))));
    let too_large = "v".repeat(1024 * 1024 + 1);
    assert!(matches!(store.set("k", &too_large).await, Err(StoreError::TooMuch(_))));
    let (key, value) = (&too_long[1..], &too_large[1..]);
    store.set(key, value).await.unwrap();
    assert_eq!(store.get(key).await.unwrap().unwrap().value, value);
    for odd in ["", "\0", "a\0b", "'; DROP TABLE entries; --", "\u{feff}é\r\n"] {
        store.set(odd, odd).await.unwrap();
        assert_eq!(store.get(odd).await.unwrap().unwrap().value, odd);
    }
}

#[tokio::test]
async fn a_registry_that_stores_nothing_creates_no_file_and_no_directory() {
    let bed = StoreBed::new();
    let folder = bed.folder().join("not").join("there");
    let store = store_at(&folder.join("store.sqlite"));
    assert_eq!(store.get("a").await.unwrap(), None);
    assert!(!store.delete("a").await.unwrap());
    assert_eq!(store.entries("", 10, true).await.unwrap(), (Vec::new(), false));
    assert!(bed.names().is_empty());
    store.set("a", "1").await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

fn open_files_below(folder: &Path) -> Vec<String> {
    let mut open: Vec<String> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|it| fs::read_link(it.unwrap().path()).ok())
        .filter(|it| it.starts_with(folder))
        .map(|it| it.display().to_string())
        .collect();
    open.sort();
    open
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn registries_share_one_connection_and_the_last_one_closes_it() {
    let bed = StoreBed::new();
    let (first, second) = (bed.store(), bed.store());
    fs::create_dir(bed.folder().join("folder")).unwrap();
    let third = store_at(&bed.folder().join("folder").join("..").join("store.sqlite"));
    first.set("a", "1").await.unwrap();
    let open = open_files_below(&bed.folder());
    assert_eq!(second.get("a").await.unwrap().unwrap().value, "1");
    third.set("a", "2").await.unwrap();
    assert_eq!(open_files_below(&bed.folder()), open);
    first.close().await;
    assert!(matches!(first.get("a").await, Err(StoreError::Unavailable(_))));
    assert_eq!(second.get("a").await.unwrap().unwrap().value, "2");
    third.close().await;
    assert_eq!(open_files_below(&bed.folder()), open);
    second.close().await;
    assert!(open_files_below(&bed.folder()).is_empty());
    assert_eq!(bed.store().get("a").await.unwrap().unwrap().value, "2");
}

#[tokio::test]
async fn a_closed_store_is_a_complete_database_in_one_file() {
    let bed = StoreBed::new();
    let store = bed.store();
    store.set("memory/user/colour", "blue").await.unwrap();
    store.close().await;
    let copy = bed.folder().join("copy.sqlite");
    fs::copy(bed.path(), &copy).unwrap();
    let person = Connection::open(copy).unwrap();
    let sql = "SELECT key || ' = ' || value FROM entries";
    let shown: String = person.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(shown, "memory/user/colour = blue");
}

#[tokio::test]
async fn a_manual_change_gets_a_new_version() {
    let bed = StoreBed::new();
    let store = sqlite_at(&bed.path());
    let first = set(&store, "a", "1").await;
    let person = Connection::open(bed.path()).unwrap();
    person.execute("UPDATE entries SET value = 'by hand' WHERE key = 'a'", []).unwrap();
    person.execute("INSERT INTO entries (key, value) VALUES ('b', 'also')", []).unwrap();
    assert_eq!(store.set("a", "2", Some(&first)).await.unwrap(), SetOutcome::Changed);
    let found = store.get("a").await.unwrap().unwrap();
    assert_eq!(found.value, "by hand");
    let added = store.get("b").await.unwrap().unwrap();
    assert_ne!(found.version, added.version);
    let sql = "SELECT entries, bytes FROM totals";
    let totals: (i64, i64) =
        person.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(totals, (2, 13));
    person.execute("DELETE FROM entries", []).unwrap();
    let totals: (i64, i64) =
        person.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(totals, (0, 0));
}

#[tokio::test]
async fn concurrent_changes_of_one_value_are_all_applied() {
    let bed = StoreBed::new();
    let stores = [bed.store(), bed.store()];
    let changes = (0..200).map(|number| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move {
            let add = |old: Option<&str>| {
                let count: u32 = old.map_or(0, |it| it.parse().unwrap());
                (ValueChange::Set((count + 1).to_string()), ())
            };
            store.update("count", add).await.unwrap();
        })
    });
    for change in changes.collect::<Vec<_>>() {
        change.await.unwrap();
    }
    assert_eq!(stores[0].get("count").await.unwrap().unwrap().value, "200");
}

#[test]
fn the_data_directory_follows_the_hosts_environment() {
    let found = |variables: &[(&str, &str)]| {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        data_directory(&Environment::of_host(variables.collect())).unwrap()
    };
    let home = ("HOME", "/home/ada");
    assert_eq!(found(&[home]), Path::new("/home/ada/.local/share"));
    assert_eq!(found(&[home, ("XDG_DATA_HOME", "/data")]), Path::new("/data"));
    assert_eq!(found(&[home, ("XDG_DATA_HOME", "data")]), Path::new("/home/ada/.local/share"));
    assert_eq!(found(&[home, ("XDG_DATA_HOME", "")]), Path::new("/home/ada/.local/share"));
    // Without a usable `HOME`, the system's home directory is used.
    assert!(found(&[("HOME", "here")]).is_absolute());
}
