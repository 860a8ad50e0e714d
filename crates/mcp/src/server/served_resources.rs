//! The output of commands, as resources: of background tasks, and of other commands whose output was too long for
//! the answer and was written to a file.

use std::sync::Arc;

use rmcp::{
    ErrorData,
    model::{MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Map, Value, json};
use toolwright_base::{shortened, shown_text};
use toolwright_process::{RunMode, Task, TaskPage, task_page};
use url::Url;

use super::ServedTools;

const SCHEME: &str = "toolwright";
/// The maximum length of a command in a title, in characters.
const MAX_COMMAND: usize = 200;

/// The outputs that a client may list and read: those of its session.
pub(super) fn resources(tools: &ServedTools) -> Vec<Resource> {
    tools.outputs().iter().filter_map(|it| Some(listed(it, address_of(it)?))).collect()
}

/// The URI templates of the outputs.
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

/// Reads a part of an output.
pub(super) async fn read(
    tools: &ServedTools,
    uri: String,
) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || {
        let shown = shortened(&uri, 200);
        let message =
            format!("there is no resource `{shown}`; `resources/list` lists the resources");
        ErrorData::resource_not_found(message, Some(json!({ "uri": shown })))
    };
    let url = Url::parse(&uri).map_err(|_| unknown())?;
    let (address, offset) = read_address(&url).ok_or_else(unknown)?;
    let is_meant = |it: &Arc<Task>| address_of(it).as_ref() == Some(&address);
    let task = tools.outputs().into_iter().find(is_meant).ok_or_else(unknown)?;
    // Blocking, because the output may be in a file.
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

/// The URI of a task's output. `None` for a foreground command without an output file.
fn address_of(task: &Task) -> Option<String> {
    if task.run_mode() == RunMode::Background {
        return Some(format!("{SCHEME}://task/{}/output", task.id));
    }
    let file = task.output_file()?;
    let name = std::path::Path::new(&file).file_name()?.to_str()?.to_owned();
    Some(format!("{SCHEME}://output/{name}"))
}

/// Splits a URI into the part without the query, and the offset in the query.
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
    let shown = shortened(&command, MAX_COMMAND);
    let state = serde_json::to_value(task.state()).unwrap_or(Value::Null);
    let state = state.as_str().unwrap_or("unknown");
    Resource::new(address, name)
        .with_title(format!("Output of {shown}"))
        .with_description(format!("The command is {state}."))
        .with_mime_type("text/plain")
        .with_size(task.total())
}
