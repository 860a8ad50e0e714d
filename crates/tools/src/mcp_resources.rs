//! Lists and reads resources of MCP servers, for `ListMcpResources` and `ReadMcpResource`.
//!
//! The servers are accessed through two functions, [`HandlerName::McpListResources`] and
//! [`HandlerName::McpReadResource`], which the host or the registry provides. Their answers have the form of
//! the Model Context Protocol and are checked here.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use toolwright_base::{ErrorKind, ToolError, shortened};
use toolwright_core::{Content, HandlerName, ToolContext, ToolOutput, kind_of, whole_lines_within};
use toolwright_documents::{image_mime, load_image};

/// The maximum number of resources in one answer.
const MAX_LISTED: usize = 1_000;
/// The maximum number of URI templates in one answer, and of servers named that did not answer.
const MAX_TEMPLATES: usize = 200;
const MAX_PROBLEMS: usize = 20;
/// The maximum size of the text of one answer, in bytes.
const MAX_TEXT: usize = 256 * 1024;
/// The maximum number of parts of a resource in one answer.
const MAX_PARTS: usize = 100;
/// The maximum size of one resource in a list, in bytes.
const MAX_LINE: usize = 16 * 1024;
/// The maximum number of characters of a description, a title and similar texts.
const MAX_DESCRIPTION: usize = 300;

/// The error if no client is connected.
const NO_CLIENT: &str = "no MCP client is connected here, so there are no resources";

/// Resources of MCP servers.
#[derive(Serialize, JsonSchema)]
pub(super) struct ListedResources {
    /// The resources, by server and URI.
    resources: Vec<McpResource>,
    /// The total number, including those that are not listed.
    total: usize,
    /// Patterns of URIs that can be read, by server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    templates: Vec<McpResourceTemplate>,
}

/// A URI template of an MCP server. Filled in, it is the URI of a resource.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct McpResourceTemplate {
    /// The name of the server.
    #[serde(default)]
    server: String,
    uri_template: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
}

/// A resource of an MCP server.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct McpResource {
    /// The name of the server.
    #[serde(default)]
    server: String,
    uri: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    /// Its size in bytes, if the server reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

/// The facts about a resource that was read.
#[derive(Serialize, JsonSchema)]
pub(super) struct ReadResource {
    /// The name of the server.
    server: String,
    /// The parts that the resource has.
    contents: Vec<ResourcePart>,
}

/// A part of a resource.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ResourcePart {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    kind: PartKind,
    /// Its size in bytes.
    bytes: usize,
}

/// The kind of a part, by its content.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PartKind {
    Text,
    Image,
    Binary,
}

/// A part as the client returns it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GivenPart {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    blob: Option<String>,
}

/// Lists the resources of a server, or of all.
pub(super) async fn list(
    server: Option<&str>,
    cx: &ToolContext,
) -> Result<ToolOutput<ListedResources>, ToolError> {
    let name = HandlerName::McpListResources;
    let handler = cx.handlers.require(name, NO_CLIENT)?;
    let asked = server.map_or_else(|| json!({}), |it| json!({ "server": it }));
    let mut answer = handler.call(&asked, Value::Null, cx).await?;
    let mut apart = |field: &str| answer.as_object_mut().and_then(|it| it.remove(field));
    let (templates, problems) = (apart("resourceTemplates"), apart("problems"));
    let templates: Vec<McpResourceTemplate> = match templates {
        Some(Value::Null) | None => Vec::new(),
        Some(list) => items_of(list, "resourceTemplates", name)?,
    };
    let mut resources: Vec<McpResource> = items_of(answer, "resources", name)?;
    for (number, resource) in resources.iter_mut().enumerate() {
        if resource.server.is_empty() {
            let of = server.ok_or_else(|| {
                malformed(name, &format!("`resources[{number}]` does not name its `server`"))
            })?;
            of.clone_into(&mut resource.server);
        }
    }
    resources.retain(|it| server.is_none_or(|server| it.server == server));
    resources.sort_by(|a, b| (&a.server, &a.uri).cmp(&(&b.server, &b.uri)));
    let problems: Vec<String> =
        problems.and_then(|it| serde_json::from_value(it).ok()).unwrap_or_default();
    let templates = templates_of(templates, server);
    Ok(listed(resources, templates, &problems, server))
}

/// The templates that are shown, with their servers.
fn templates_of(
    mut templates: Vec<McpResourceTemplate>,
    server: Option<&str>,
) -> Vec<McpResourceTemplate> {
    for template in &mut templates {
        if template.server.is_empty() {
            server.unwrap_or_default().clone_into(&mut template.server);
        }
        let texts = [&mut template.name, &mut template.title, &mut template.mime_type];
        for text in texts.into_iter().chain([&mut template.description]).flatten() {
            *text = short_line(text);
        }
    }
    templates.retain(|it| {
        it.uri_template.len() <= MAX_LINE && server.is_none_or(|server| it.server == server)
    });
    templates.sort_by(|a, b| (&a.server, &a.uri_template).cmp(&(&b.server, &b.uri_template)));
    templates.truncate(MAX_TEMPLATES);
    templates
}

fn listed(
    resources: Vec<McpResource>,
    templates: Vec<McpResourceTemplate>,
    problems: &[String],
    server: Option<&str>,
) -> ToolOutput<ListedResources> {
    let total = resources.len();
    let mut text = String::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for resource in &resources {
        *counts.entry(resource.server.clone()).or_default() += 1;
    }
    let mut listed: Vec<McpResource> = Vec::new();
    for resource in resources {
        if listed.len() == MAX_LISTED {
            break;
        }
        let resource = resource.with_short_texts();
        let mut lines = String::new();
        if listed.last().is_none_or(|it| it.server != resource.server) {
            let count = counts.get(&resource.server).copied().unwrap_or_default();
            let noun = if count == 1 { "resource" } else { "resources" };
            lines
                .push_str(&format!("server `{}`: {count} {noun}\n", in_one_line(&resource.server)));
        }
        lines.push_str(&format!("  {}\n", resource.in_words()));
        // A resource with a very long URI must not prevent others from being listed.
        if lines.len() <= MAX_LINE && text.len() + lines.len() <= MAX_TEXT {
            text.push_str(&lines);
            listed.push(resource);
        }
    }
    let shown = listed.len();
    if total == 0 {
        text = match server {
            Some(server) => format!("MCP server `{server}` has no resources"),
            None => "no MCP server has resources".to_owned(),
        };
    } else if shown < total {
        let narrower = if server.is_none() { "name a `server` to list only its own; " } else { "" };
        text.push_str(&format!(
            "[{shown} of {total} resources are listed; {narrower}every resource can be read by its URI]"
        ));
    }
    let mut text = text.trim_end().to_owned();
    if !templates.is_empty() {
        text.push_str("\n\npatterns of URIs that can be read, once filled in:\n");
    }
    for template in &templates {
        let facts = template.title.as_ref().or(template.name.as_ref());
        let facts = facts.map(|it| format!(" ({it})")).unwrap_or_default();
        let about = template.description.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
        let (server, pattern) = (&template.server, &template.uri_template);
        text.push_str(&format!("  server `{server}`: {pattern}{facts}{about}\n"));
    }
    for problem in problems.iter().take(MAX_PROBLEMS) {
        text.push_str(&format!("\n[{}]", short_line(problem)));
    }
    let data = ListedResources { resources: listed, total, templates };
    ToolOutput::text(text.trim_end()).with_data(data)
}

impl McpResource {
    /// Shortens the texts that are meant for people.
    fn with_short_texts(self) -> Self {
        let Self { server, uri, name, title, description, mime_type, size } = self;
        let short =
            |text: Option<String>| text.map(|it| shortened(&it, MAX_DESCRIPTION).into_owned());
        let [name, title, mime_type] = [name, title, mime_type].map(short);
        // The lines of a long description are joined first, so that the model gets as much of it as possible.
        let is_short = |it: &str| it.chars().count() <= MAX_DESCRIPTION;
        let description = description.map(|it| if is_short(&it) { it } else { short_line(&it) });
        Self { server, uri, name, title, description, mime_type, size }
    }

    fn in_words(&self) -> String {
        let size = self.size.map(|it| format!("{it} bytes"));
        let facts =
            [self.title.as_ref().or(self.name.as_ref()), self.mime_type.as_ref(), size.as_ref()];
        let facts: Vec<String> = facts.into_iter().flatten().map(|it| in_one_line(it)).collect();
        let mut words = in_one_line(&self.uri);
        if !facts.is_empty() {
            words.push_str(&format!(" ({})", facts.join(", ")));
        }
        if let Some(description) = self.description.as_ref().filter(|it| !it.trim().is_empty()) {
            words.push_str(&format!(": {}", in_one_line(description)));
        }
        words
    }
}

fn short_line(text: &str) -> String {
    shortened(&in_one_line(text), MAX_DESCRIPTION).into_owned()
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads a resource.
pub(super) async fn read(
    server: &str,
    uri: &str,
    cx: &ToolContext,
) -> Result<ToolOutput<ReadResource>, ToolError> {
    let name = HandlerName::McpReadResource;
    let handler = cx.handlers.require(name, NO_CLIENT)?;
    let answer = handler.call(&json!({ "server": server, "uri": uri }), Value::Null, cx).await?;
    let parts: Vec<GivenPart> = items_of(answer, "contents", name)?;
    let (server, uri) = (server.to_owned(), uri.to_owned());
    // Decoding megabytes of base64 takes time.
    cx.blocking(move |_| shown(parts, server, &uri)).await
}

fn shown(
    parts: Vec<GivenPart>,
    server: String,
    uri: &str,
) -> Result<ToolOutput<ReadResource>, ToolError> {
    let total = parts.len();
    let mut answer = ShownParts { room: MAX_TEXT, has_several: total > 1, ..ShownParts::default() };
    for (number, part) in parts.into_iter().take(MAX_PARTS).enumerate() {
        answer.add(part, number, uri)?;
    }
    if total == 0 {
        answer.content.push(Content::text(format!("resource `{uri}` of `{server}` is empty")));
    }
    if total > MAX_PARTS {
        let note = format!("[{MAX_PARTS} of {total} parts of the resource are shown]");
        answer.content.push(Content::text(note));
    }
    let ShownParts { content, contents, .. } = answer;
    Ok(ToolOutput { content, ..ToolOutput::default() }.with_data(ReadResource { server, contents }))
}

/// Collects the answer.
#[derive(Default)]
struct ShownParts {
    content: Vec<Content>,
    contents: Vec<ResourcePart>,
    /// The number of bytes of text that still fit.
    room: usize,
    has_several: bool,
}

impl ShownParts {
    fn add(&mut self, part: GivenPart, number: usize, asked: &str) -> Result<(), ToolError> {
        let wrong = |problem: &str| {
            let problem = format!("`contents[{number}]` {problem}");
            malformed(HandlerName::McpReadResource, &problem)
        };
        let GivenPart { uri, mime_type, text, blob } = part;
        let uri = uri.unwrap_or_else(|| asked.to_owned());
        if self.has_several {
            self.content.push(Content::text(format!(
                "[part {}: {}]",
                number + 1,
                in_one_line(&uri)
            )));
        }
        let (kind, bytes) = match (text, blob) {
            (Some(text), None) => {
                self.add_text(&text);
                (PartKind::Text, text.len())
            }
            (None, Some(blob)) => {
                let bytes = STANDARD
                    .decode(blob.as_bytes())
                    .map_err(|cause| wrong(&format!("has a `blob` that is not base64: {cause}")))?;
                (self.add_blob(&bytes, mime_type.as_deref()), bytes.len())
            }
            (None, None) => return Err(wrong("has neither `text` nor `blob`")),
            (Some(_), Some(_)) => return Err(wrong("has both `text` and `blob`")),
        };
        self.contents.push(ResourcePart { uri, mime_type, kind, bytes });
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        let shown = whole_lines_within(text, self.room);
        self.room -= shown.len();
        if !shown.is_empty() {
            self.content.push(Content::text(shown));
        }
        if shown.len() < text.len() {
            let (shown, total) = (shown.len(), text.len());
            let note = format!(
                "[{shown} of {total} bytes of this text are shown; the rest cannot be read with this tool]"
            );
            self.content.push(Content::text(note));
        } else if text.is_empty() {
            self.content.push(Content::text("[an empty text]"));
        }
    }

    fn add_blob(&mut self, bytes: &[u8], said: Option<&str>) -> PartKind {
        let size = bytes.len();
        match (image_mime(bytes), load_image(bytes)) {
            (_, Ok(image)) => {
                let (data, mime_type) = (image.base64, image.mime.to_owned());
                self.content.push(Content::Image { data, mime_type });
                return PartKind::Image;
            }
            (Some(mime), Err(cause)) => {
                self.content
                    .push(Content::text(format!("[{mime}, {size} bytes, not shown: {cause}]")));
            }
            (None, Err(_)) => {
                let found = infer::get(bytes).map(|it| it.mime_type());
                let mime = found.or(said).unwrap_or("unknown type");
                let mime = in_one_line(mime);
                self.content.push(Content::text(format!(
                    "[binary content, {mime}, {size} bytes, not shown]"
                )));
            }
        }
        PartKind::Binary
    }
}

/// The items of an answer, which is a list or an object that contains one.
fn items_of<T: DeserializeOwned>(
    answer: Value,
    field: &str,
    name: HandlerName,
) -> Result<Vec<T>, ToolError> {
    let list = match answer {
        Value::Object(mut answer) => answer.remove(field).unwrap_or_default(),
        other => other,
    };
    let Value::Array(items) = list else {
        let got = kind_of(&list);
        return Err(malformed(name, &format!("must answer with `{field}`, a list, got {got}")));
    };
    let read = |(number, item): (usize, Value)| {
        serde_json::from_value(item)
            .map_err(|cause| malformed(name, &format!("`{field}[{number}]`: {cause}")))
    };
    items.into_iter().enumerate().map(read).collect()
}

fn malformed(name: HandlerName, problem: &str) -> ToolError {
    let message = format!("`handlers.{}` gave a malformed answer: {problem}", name.as_str());
    ToolError::new(ErrorKind::ToolFailed, message)
}
