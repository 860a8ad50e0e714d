//! Fetches a page for the tools `WebFetch` and `web_fetch`.
//!
//! The registry's web client fetches it, and `document` converts it to a form that a model can read.
//! `character_window` cuts long texts.

mod character_window;
mod document;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use toolwright_base::{Access, DataScope, ToolError, shortened};
use toolwright_core::{CallPlan, Content, HandlerName, Handlers, ToolContext, ToolOutput};
use toolwright_page::{PageSelector, PageStyle, page_text};
use toolwright_web::{CrossHostRedirect, FetchOutcome, FetchRequest, parse_web_url};
use url::Url;

use super::failures::{FailedFetch, InvalidParameter};
use character_window::{CharacterWindow, ShownCharacters};
use document::{FetchedDocument, read_document};

pub(super) use document::DocumentError;

/// The supported content types. Many servers offer pages as Markdown if it is requested.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, \
    application/json;q=0.8, application/pdf;q=0.7, */*;q=0.5";
/// The default number of characters shown.
pub(super) const DEFAULT_LENGTH: usize = 100_000;
/// The maximum number of characters that a call can request.
pub(super) const MAX_LENGTH: usize = 1_000_000;

/// The maximum number of characters of a prompt that are repeated if there is no handler to answer it.
const SHOWN_PROMPT: usize = 2_000;

/// The facts about a page that was fetched, and about the part that is shown.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FetchedFacts {
    /// Where the page came from, after redirects.
    url: String,
    /// The HTTP status.
    status: u16,
    /// Where a redirect to another host leads. Nothing was fetched from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect_url: Option<String>,
    /// The type of the content, as the server names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    /// The title of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The size of what was fetched, in bytes.
    bytes: usize,
    /// How many elements the selector chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<usize>,
    /// Of a text: how many characters it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_characters: Option<usize>,
    /// Of a text: how many characters come before what is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    /// Of a text: how many characters come after what is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_characters: Option<usize>,
    /// Whether the page was kept from a fetch a short time ago.
    from_cache: bool,
}

/// A page to fetch, and which part of it to show.
#[derive(Debug)]
pub(super) struct PageToFetch {
    pub(super) url: Url,
    pub(super) selector: Option<PageSelector>,
    pub(super) style: PageStyle,
    window: CharacterWindow,
    /// What to find out about the page.
    pub(super) prompt: Option<String>,
}

impl PageToFetch {
    /// The page at an address.
    pub(super) fn at(url: &str, style: PageStyle) -> Result<Self, ToolError> {
        let url = parse_web_url(url).map_err(|error| InvalidParameter { name: "url", error })?;
        let window = CharacterWindow { offset: 0, length: DEFAULT_LENGTH };
        Ok(Self { url, selector: None, style, window, prompt: None })
    }

    /// Shows another part of the text.
    #[must_use]
    pub(super) fn from(mut self, offset: Option<usize>, length: Option<usize>) -> Self {
        self.window.offset = offset.unwrap_or_default();
        self.window.length = length.unwrap_or(DEFAULT_LENGTH);
        self
    }
}

impl CallPlan for PageToFetch {
    type Output = FetchedFacts;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Connect(self.url.to_string())]
    }

    fn describe(&self) -> String {
        format!("Fetch {}", self.url)
    }

    /// Fetches the page and returns it, or the answer of the host's `summarize` to the prompt about it.
    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<FetchedFacts>, ToolError> {
        let request = FetchRequest::get(self.url.clone(), ACCEPT);
        let page =
            match cx.session.shared.web.fetch(request, &cx.cancel).await.map_err(FailedFetch)? {
                FetchOutcome::Page(page) => page,
                FetchOutcome::CrossHostRedirect(redirect) => return Ok(redirected(&redirect)),
            };
        let facts = FetchedFacts {
            url: page.url.to_string(),
            status: page.status,
            redirect_url: None,
            content_type: page.content_type.clone(),
            title: None,
            bytes: page.body.len(),
            matches: None,
            total_characters: None,
            offset: None,
            omitted_characters: None,
            from_cache: page.from_cache,
        };
        let (style, selector) = (self.style, self.selector.clone());
        let document = cx
            .blocking(move |cancel| {
                Ok(read_document(&page, style, selector.as_ref(), &|| cancel.is_cancelled())?)
            })
            .await?;
        match document {
            FetchedDocument::Image(image) => {
                let display =
                    format!("Fetched image {} ({}×{})", self.url, image.width, image.height);
                let content =
                    vec![Content::Image { data: image.base64, mime_type: image.mime.to_owned() }];
                Ok(ToolOutput { content, ..ToolOutput::default() }
                    .with_display(display)
                    .with_data(facts))
            }
            FetchedDocument::Text(text) => {
                let shown = self.window.of(&text.text);
                let facts = FetchedFacts {
                    title: text.title,
                    matches: text.matches,
                    total_characters: Some(shown.total),
                    offset: Some(self.window.offset.min(shown.total)),
                    omitted_characters: Some(shown.omitted),
                    ..facts
                };
                present(&self, &shown, text.notes, facts, cx).await
            }
        }
    }
}

async fn present(
    plan: &PageToFetch,
    shown: &ShownCharacters<'_>,
    mut notes: Vec<String>,
    facts: FetchedFacts,
    cx: &ToolContext,
) -> Result<ToolOutput<FetchedFacts>, ToolError> {
    let display = format!("Fetched {} characters", shown.characters);
    let mut text = shown.to_string();
    if shown.is_past_end() {
        notes.push(format!(
            "`offset` {} is past the end: there are {} characters",
            plan.window.offset, shown.total
        ));
    } else if shown.omitted > 0 && plan.window.length == DEFAULT_LENGTH {
        let next = plan.window.offset + shown.characters;
        notes.push(format!("to read on, set `offset` to {next}"));
    } else if facts.bytes == 0 {
        notes.push("the server sent an empty page".to_owned());
    } else if shown.total == 0 && facts.matches.is_none() {
        notes.push("there is no text; the page may need a browser to be shown".to_owned());
    }
    if let (Some(prompt), Some(summarize)) = (&plan.prompt, cx.handlers.get(HandlerName::Summarize))
    {
        let input = json!({
            "url": facts.url,
            "prompt": prompt,
            "text": text,
            "contentType": facts.content_type,
            "title": facts.title,
        });
        text = Handlers::call(summarize, HandlerName::Summarize, &input, json!({}), cx).await?;
    } else if let Some(prompt) = &plan.prompt {
        let prompt = shortened(prompt, SHOWN_PROMPT);
        notes.push(format!("this is the page itself, for the prompt: {prompt}"));
    }
    let mut content = Vec::new();
    if !text.is_empty() || notes.is_empty() {
        content.push(Content::text(text));
    }
    if !notes.is_empty() {
        content.push(Content::text(format!("[{}]", notes.join("; "))));
    }
    Ok(ToolOutput { content, ..ToolOutput::default() }.with_display(display).with_data(facts))
}

/// The first words of an error page, for the error's message; empty if there are none.
pub(super) fn excerpt_words(url: &str, excerpt: &str) -> String {
    let Ok(url) = Url::parse(url) else { return String::new() };
    let Ok(page) = page_text(excerpt, &url, PageStyle::Text, None, &|| false) else {
        return String::new();
    };
    let title = page.title.unwrap_or_default();
    let words = title.split_whitespace().chain(page.text.split_whitespace());
    let words = words.collect::<Vec<_>>().join(" ");
    if words.is_empty() { words } else { format!(": {words}") }
}

/// The answer for a redirect to another host. It is not followed, because rules and people decided about the
/// requested host.
fn redirected(redirect: &CrossHostRedirect) -> ToolOutput<FetchedFacts> {
    let CrossHostRedirect { from, to, status } = redirect;
    let facts = FetchedFacts {
        url: from.to_string(),
        status: *status,
        redirect_url: Some(to.to_string()),
        content_type: None,
        title: None,
        bytes: 0,
        matches: None,
        total_characters: None,
        offset: None,
        omitted_characters: None,
        from_cache: false,
    };
    let text = format!(
        "`{from}` redirects to another host (HTTP {status}), which is not followed. To continue, fetch:\n{to}"
    );
    ToolOutput::text(text).with_display(format!("Redirected to {to}")).with_data(facts)
}
