//! What commands have written, as resources: the output of background tasks, and the files with the output of
//! other commands that was too long for an answer.

use std::sync::Arc;

use rmcp::{
    ErrorData,
    model::{MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Map, Value, json};
use url::Url;

use super::ServedTools;
use crate::{
    process::{RunMode, Task},
    tool::shown_text,
    tools::{TaskPage, task_page},
};

const SCHEME: &str = "toolwright";
/// How much of a command is shown.
const MAX_COMMAND: usize = 200;

/// The outputs that a client may list and read: those of its own session.
pub(super) fn resources(tools: &ServedTools) -> Vec<Resource> {
    tools.outputs().iter().filter_map(|it| Some(listed(it, address_of(it)?))).collect()
}

/// The forms of their addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let range = "At most 64 KB from `offset` on; `_meta` says where the next part begins";
    [
        ("task/{id}/output", "task-output", "Output of a background task"),
        ("output/{file}", "command-output", "Output of a command that was too long for its answer"),
    ]
    .map(|(path, name, title)| {
        ResourceTemplate::new(format!("{SCHEME}://{path}{{?offset}}"), name)
            .with_title(title)
            .with_description(format!("{title}. {range}."))
            .with_mime_type("text/plain")
    })
    .into()
}

/// Reads a part of an output. It may be in a file.
pub(super) async fn read(
    tools: &ServedTools,
    uri: String,
) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || {
        let shown: String = uri.chars().take(200).collect();
        let message =
            format!("there is no resource `{shown}`; `resources/list` tells those there are");
        ErrorData::resource_not_found(message, Some(json!({ "uri": shown })))
    };
    let url = Url::parse(&uri).map_err(|_| unknown())?;
    let (address, offset) = read_address(&url).ok_or_else(unknown)?;
    let is_meant = |it: &Arc<Task>| address_of(it).as_ref() == Some(&address);
    let task = tools.outputs().into_iter().find(is_meant).ok_or_else(unknown)?;
    let page = tokio::task::spawn_blocking(move || task_page(&task, offset)).await;
    let unreadable = |cause: &dyn std::fmt::Display| {
        ErrorData::internal_error(format!("the output of `{uri}` cannot be read: {cause}"), None)
    };
    let page = page.map_err(|err| unreadable(&err))?.map_err(|err| unreadable(&err))?;
    let TaskPage { text, offset, next_offset, total, is_complete } = page;
    let facts = json!({
        "offset": offset, "nextOffset": next_offset, "total": total, "isComplete": is_complete,
    });
    let meta = Map::from_iter([("toolwright/output".to_owned(), facts)]);
    let contents = ResourceContents::text(text, uri).with_meta(MetaObject::from(meta));
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The address of a task's output; none for a foreground command that has no file.
fn address_of(task: &Task) -> Option<String> {
    if task.run_mode() == RunMode::Background {
        return Some(format!("{SCHEME}://task/{}/output", task.id));
    }
    let file = task.output_file()?;
    let name = std::path::Path::new(&file).file_name()?.to_str()?.to_owned();
    Some(format!("{SCHEME}://output/{name}"))
}

/// The address without its query, and the offset in that.
fn read_address(url: &Url) -> Option<(String, u64)> {
    let mut offset = 0;
    for (name, value) in url.query_pairs() {
        match &*name {
            "offset" => offset = value.parse().ok()?,
            _ => return None,
        }
    }
    let mut plain = url.clone();
    plain.set_query(None);
    (url.scheme() == SCHEME && url.fragment().is_none()).then(|| (plain.into(), offset))
}

fn listed(task: &Task, address: String) -> Resource {
    let name = address.trim_start_matches("toolwright://").to_owned();
    let command = shown_text(&task.command);
    let mut shown: String = command.chars().take(MAX_COMMAND).collect();
    if shown.len() < command.len() {
        shown.push('…');
    }
    let state = serde_json::to_value(task.state()).unwrap_or(Value::Null);
    let state = state.as_str().unwrap_or("unknown");
    Resource::new(address, name)
        .with_title(format!("Output of {shown}"))
        .with_description(format!("The command is {state}."))
        .with_mime_type("text/plain")
        .with_size(task.total())
}
