//! A store that the host implements as an object with four methods. Its answers are not trusted.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use toolwright_base::shortened;
use toolwright_core::ProgressSink;
use toolwright_store::{
    EntryPage, ListRequest, SetOutcome, StoreBackend, StoreEntry, StoreError, StoredValue, Version,
};

use super::{HostFunction, store_options::StoreMethods};

/// The maximum length of the host's error message, in characters.
const MAX_MESSAGE: usize = 1_000;

/// The host's store.
pub(super) struct HostStore {
    get: Arc<dyn HostFunction>,
    set: Arc<dyn HostFunction>,
    delete: Arc<dyn HostFunction>,
    list: Arc<dyn HostFunction>,
}

/// The facade's message about a method's answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum MethodAnswer {
    Answer(Value),
    Failure(MethodFailure),
}

#[derive(Deserialize)]
struct MethodFailure {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

/// The type of errors whose message already says which store failed.
const COMPLETE_ERROR: &str = "StoreError";

#[derive(Deserialize)]
struct AnsweredValue {
    value: String,
    version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredPage {
    entries: Vec<AnsweredEntry>,
    has_more: bool,
}

#[derive(Deserialize)]
struct AnsweredEntry {
    key: String,
    #[serde(default)]
    value: Option<String>,
    version: String,
}

impl HostStore {
    /// The store with these method numbers.
    pub(super) fn new(
        methods: &StoreMethods,
        function: &dyn Fn(u32) -> Arc<dyn HostFunction>,
    ) -> Self {
        Self {
            get: function(methods.get),
            set: function(methods.set),
            delete: function(methods.delete),
            list: function(methods.list),
        }
    }
}

/// Calls a method. `expected` describes the expected answer, for error messages.
async fn ask<T: DeserializeOwned>(
    method: &Arc<dyn HostFunction>,
    name: &str,
    input: Value,
    expected: &str,
) -> Result<T, StoreError> {
    let failed = |what: &str| StoreError::OfHost(format!("`{name}` of the host's {what}"));
    let answer = method
        .call(&input, &json!({ "watched": false }), ProgressSink::default())
        .await
        .ok_or_else(|| {
        failed("store cannot be called: its JavaScript environment has ended")
    })?;
    match serde_json::from_str(&answer) {
        Ok(MethodAnswer::Answer(answer)) => {
            let shown = shortened(&answer.to_string(), 100).into_owned();
            serde_json::from_value(answer).map_err(|_| {
                failed(&format!("store answered `{shown}`; it has to answer with {expected}"))
            })
        }
        Ok(MethodAnswer::Failure(MethodFailure { kind, message })) => {
            let message = shortened(&message, MAX_MESSAGE);
            Err(if kind == COMPLETE_ERROR {
                StoreError::OfHost(message.into_owned())
            } else {
                failed(&format!("store failed: {message}"))
            })
        }
        Err(cause) => Err(failed(&format!("store returned an invalid answer: {cause}"))),
    }
}

#[async_trait]
impl StoreBackend for HostStore {
    async fn get(&self, key: &str) -> Result<Option<StoredValue>, StoreError> {
        let expected = "{ value, version }, both of them strings, or with nothing";
        let found: Option<AnsweredValue> =
            ask(&self.get, "get", json!({ "key": key }), expected).await?;
        Ok(found.map(|it| StoredValue { value: it.value, version: Version(it.version) }))
    }

    async fn set(
        &self,
        key: &str,
        value: &str,
        expected: Option<&Version>,
    ) -> Result<SetOutcome, StoreError> {
        let input = json!({ "key": key, "value": value, "expected": expected.map(|it| &it.0) });
        let version: Option<String> =
            ask(&self.set, "set", input, "the new version, a string, or with nothing").await?;
        Ok(version.map_or(SetOutcome::Changed, |it| SetOutcome::Stored(Version(it))))
    }

    async fn delete(&self, key: &str, expected: Option<&Version>) -> Result<bool, StoreError> {
        let input = json!({ "key": key, "expected": expected.map(|it| &it.0) });
        ask(&self.delete, "delete", input, "true or false").await
    }

    async fn list(&self, request: &ListRequest) -> Result<EntryPage, StoreError> {
        let input = json!({
            "prefix": request.prefix,
            "after": request.after,
            "limit": request.limit,
            "keysOnly": !request.with_values,
        });
        let expected = "{ entries: [{ key, value, version }], hasMore }";
        let page: AnsweredPage = ask(&self.list, "list", input, expected).await?;
        checked(page, request)
    }

    fn location(&self) -> String {
        "a store of the host".to_owned()
    }
}

/// Checks a page against its request. With a wrong page, reading page by page would never end or would miss
/// entries.
fn checked(page: AnsweredPage, request: &ListRequest) -> Result<EntryPage, StoreError> {
    let wrong = |what: String| {
        Err(StoreError::OfHost(format!("`list` of the host's store answered {what}")))
    };
    if page.entries.len() > request.limit {
        let (count, limit) = (page.entries.len(), request.limit);
        return wrong(format!("with {count} entries, but at most {limit} were requested"));
    }
    if page.has_more && page.entries.is_empty() {
        return wrong("with no entries and said that there are more".to_owned());
    }
    let mut last = request.after.clone();
    let mut entries = Vec::with_capacity(page.entries.len());
    for AnsweredEntry { key, value, version } in page.entries {
        let shown = shortened(&key, 100);
        if !key.starts_with(&request.prefix) {
            return wrong(format!(
                "with the key `{shown}`, which does not have the requested prefix"
            ));
        }
        if last.is_some_and(|last| last >= key) {
            return wrong(format!("with the key `{shown}` out of order"));
        }
        let value = match (value, request.with_values) {
            (Some(value), true) => value,
            (None, true) => return wrong(format!("without the value of `{shown}`")),
            (_, false) => String::new(),
        };
        last = Some(key.clone());
        entries.push(StoreEntry { key, value, version: Version(version) });
    }
    Ok(EntryPage { entries, has_more: page.has_more })
}
