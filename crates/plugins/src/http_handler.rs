//! The `http` handler: a request whose URL is a template. It uses the web client, whose guard decides which
//! addresses may be reached.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Map, Value};
use tokio::time::timeout;
use toolwright_base::{ErrorKind, ToolError, shortened, shown_text};
use toolwright_core::{ToolContext, ToolOutput};
use toolwright_web::{CacheUse, FetchError, FetchMethod, FetchOutcome, FetchRequest, FetchedPage};
use url::Url;

use super::{
    definition::{HttpHandlerConfig, HttpMethod},
    parameter::{CallValues, Parameters},
    placeholder::{TemplatePart, parts_of},
    url_template::UrlTemplate,
};

/// The default timeout of a request.
const DEFAULT_TIMEOUT_MS: u32 = 10_000;
/// The extra time of a call over its request.
const CALL_MARGIN: Duration = Duration::from_secs(5);
/// The maximum number of response bytes that are shown.
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;
/// The maximum number of headers in a definition.
const MAX_HEADERS: usize = 50;
/// Headers of the connection, which the client sets itself.
const OWN_HEADERS: [&str; 8] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Words in the names of headers that carry credentials.
const SECRET_WORDS: [&str; 7] =
    ["auth", "cookie", "credential", "key", "password", "secret", "token"];

/// Sends requests.
pub(super) struct HttpHandler {
    url: UrlTemplate,
    method: HttpMethod,
    headers: Vec<(String, String)>,
    timeout: Duration,
    in_url: BTreeSet<String>,
}

/// A request to send.
pub(super) struct PlannedRequest {
    pub(super) url: Url,
    method: HttpMethod,
    body: String,
    headers: Vec<(String, String)>,
    timeout: Duration,
}

impl HttpHandler {
    pub(super) fn new(config: &HttpHandlerConfig, parameters: &Parameters) -> Result<Self, String> {
        let url = UrlTemplate::read(&config.url, parameters)
            .map_err(|err| format!("field `url`: {err}"))?;
        if config.headers.len() > MAX_HEADERS {
            return Err(format!("field `headers`: at most {MAX_HEADERS} are accepted"));
        }
        for (name, value) in &config.headers {
            check_header(name, value, parameters)?;
            if let Some(chosen) = url.host_parameter().filter(|_| is_secret(name)) {
                return Err(format!(
                    "field `headers`: `{name}` would be sent to any host that `{{{{{chosen}}}}}` names; write \
                     the host into `url`"
                ));
            }
        }
        let in_url = url.parameters().into_iter().map(str::to_owned).collect();
        let timeout = config.timeout.unwrap_or(DEFAULT_TIMEOUT_MS);
        Ok(Self {
            url,
            in_url,
            method: config.method.unwrap_or_default(),
            headers: config.headers.clone().into_iter().collect(),
            timeout: Duration::from_millis(timeout.into()),
        })
    }

    /// The timeout of a call.
    pub(super) fn call_limit(&self) -> Duration {
        self.timeout + CALL_MARGIN
    }

    /// The request of one call. Parameters that the URL does not use form its body.
    pub(super) fn plan(&self, values: CallValues<'_>) -> Result<PlannedRequest, ToolError> {
        let rest: Map<String, Value> = values
            .0
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| !self.in_url.contains(*name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        Ok(PlannedRequest {
            url: self.url.fill(values)?,
            method: self.method,
            body: Value::Object(rest).to_string(),
            headers: self.headers.clone(),
            timeout: self.timeout,
        })
    }
}

/// True for headers that carry credentials, by their usual names.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|it| name.contains(it))
}

fn check_header(name: &str, value: &str, parameters: &Parameters) -> Result<(), String> {
    let shown = shortened(name, 60);
    let is_token = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    if name.is_empty() || name.len() > 200 || !name.bytes().all(is_token) {
        return Err(format!("field `headers`: `{shown}` cannot be the name of a header"));
    }
    if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!("field `headers`: `{shown}` is set by the client; leave it out"));
    }
    let is_text = |it: u8| it == b'\t' || (b' '..=b'~').contains(&it);
    if value.len() > 8_192 || !value.bytes().all(is_text) {
        return Err(format!(
            "field `headers`: the value of `{shown}` is not one line of plain text"
        ));
    }
    let is_placeholder = |part: &TemplatePart| matches!(part, TemplatePart::Parameter(name) if parameters.find(name).is_some());
    if parts_of(value).iter().any(is_placeholder) {
        return Err(format!("field `headers`: `{shown}` has a placeholder, but headers are fixed"));
    }
    Ok(())
}

impl PlannedRequest {
    /// The name of the method.
    pub(super) const fn method_name(&self) -> &'static str {
        match self.method {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
            HttpMethod::Put => "PUT",
        }
    }

    /// Sends the request and returns the body of the response.
    pub(super) async fn send(self, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let request = FetchRequest {
            url: self.url.clone(),
            accept: "application/json, text/*;q=0.9, */*;q=0.8".to_owned(),
            method: match self.method {
                HttpMethod::Get => FetchMethod::Get,
                HttpMethod::Post => FetchMethod::Post(self.body),
                HttpMethod::Put => FetchMethod::Put(self.body),
            },
            headers: self.headers,
            max_bytes: Some(MAX_RESPONSE_BYTES),
            cache: CacheUse::Bypassed,
        };
        let fetched = timeout(self.timeout, cx.session.shared.web.fetch(request, &cx.cancel)).await;
        let fetched = fetched.map_err(|_| {
            let limit = self.timeout.as_millis();
            let host = self.url.host_str().unwrap_or_default();
            let message = format!("`{host}` did not answer within {limit} ms; try again later");
            ToolError::new(ErrorKind::Fetch, message)
        })?;
        match fetched.map_err(failed)? {
            FetchOutcome::Page(page) => Ok(response(&page)),
            FetchOutcome::CrossHostRedirect(redirect) => {
                let message = format!(
                    "the server redirects (HTTP {}) to `{}`, another host, which this tool does not follow",
                    redirect.status,
                    shown_text(redirect.to.as_str())
                );
                Err(ToolError::new(ErrorKind::Http, message))
            }
        }
    }
}

/// Converts a response to the tool's output.
fn response(page: &FetchedPage) -> ToolOutput {
    let bytes = page.body.len();
    let head = page.body.get(..8_192).unwrap_or(&page.body);
    if head.contains(&0) {
        let kind = page.media_type();
        return ToolOutput::text(format!(
            "[HTTP {}: {bytes} bytes of binary content, {kind}]",
            page.status
        ));
    }
    let (mut text, _) = page.text();
    if text.is_empty() {
        text = format!("[HTTP {}: the response has no content]", page.status);
    }
    if page.was_cut {
        text.push_str(&format!("\n[the response is longer; these are its first {bytes} bytes]"));
    }
    ToolOutput::text(text)
}

/// Converts the error of a failed request.
#[expect(clippy::needless_pass_by_value, reason = "callers pass it to map_err")]
fn failed(error: FetchError) -> ToolError {
    let kind = match &error {
        FetchError::Cancelled => return ToolError::cancelled(),
        FetchError::Http { .. } => ErrorKind::Http,
        _ => ErrorKind::Fetch,
    };
    let excerpt = match &error {
        FetchError::Http { excerpt, .. } if !excerpt.is_empty() => format!("\n{excerpt}"),
        _ => String::new(),
    };
    let failure = ToolError::new(kind, format!("{error}{excerpt}"));
    match error.for_people() {
        Some((reason, advice)) => failure.with_details(&reason, &advice, Vec::new()),
        None => failure,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_are_not_sent_to_a_host_chosen_by_a_value() {
        let text = json!({ "type": "string" });
        let parameters = Parameters::of_schema(&json!({ "properties": { "a": text, "b": text } }));
        let refusal = |url: &str, header: &str| {
            let config = json!({ "url": url, "headers": { header: "x" } });
            HttpHandler::new(&serde_json::from_value(config).unwrap(), &parameters).err()
        };
        for header in ["Authorization", "Cookie", "X-Api-Key", "x-token"] {
            for url in ["{{a}}", "{{a}}/x", "https://{{a}}/", "https://{{a}}.{{b}}:8080/"] {
                let message = refusal(url, header).unwrap_or_default();
                assert!(message.contains("any host"), "{url} {header}: {message}");
            }
            for url in ["https://h/{{a}}", "https://{{a}}.h.example/", "https://h:{{a}}/"] {
                assert_eq!(refusal(url, header), None, "{url} {header}");
            }
        }
        assert_eq!(refusal("{{a}}/x", "Accept"), None);
    }
}
