//! URL templates: a URL of a plugin file with placeholders in it.
//!
//! A value is encoded for its position: a part of the host name, a port, a part of the path or a part of the
//! query. It can neither end its part nor begin another one, and `..` cannot move up the path. Only a
//! placeholder at the very beginning stands for a whole URL, and its value must be a valid one.

use std::collections::BTreeSet;

use toolwright_base::ToolError;
use toolwright_web::parse_web_url;
use url::Url;

use super::{
    parameter::{CallValues, Parameters, refused, shown},
    placeholder::{TemplatePart, check_names, parts_of},
};

/// A parsed URL template.
#[derive(Clone, Debug)]
pub(super) struct UrlTemplate {
    origin: OriginTemplate,
    /// The segments of the path, each preceded by `/`.
    segments: Vec<Vec<TemplatePart>>,
    /// The parts of the query, separated by `&`.
    query: Option<Vec<Vec<TemplatePart>>>,
}

/// The origin of a URL.
#[derive(Clone, Debug)]
enum OriginTemplate {
    /// The value of this parameter, a whole URL.
    Parameter(String),
    /// A scheme with `://`, and a host with or without a port.
    Fixed { scheme: String, authority: Vec<TemplatePart> },
}

impl UrlTemplate {
    /// Parses a template.
    pub(super) fn read(template: &str, parameters: &Parameters) -> Result<Self, String> {
        let mut parts = parts_of(template);
        check_names(&parts, parameters)?;
        let texts = || parts.iter().filter_map(text_of);
        if texts().any(|it| it.contains(|it: char| it == '\\' || it.is_control() || it == ' ')) {
            return Err(
                "a URL has no backslashes, blanks or control characters; write `%20` for a blank"
                    .to_owned(),
            );
        }
        if texts().any(|it| it.contains('#')) {
            return Err("what follows `#` is never sent; leave it out".to_owned());
        }
        let origin = match parts.first() {
            Some(TemplatePart::Parameter(name)) => {
                let name = name.clone();
                parts.remove(0);
                let begins =
                    parts.first().and_then(text_of).is_some_and(|it| it.starts_with(['/', '?']));
                if !parts.is_empty() && !begins {
                    return Err(format!(
                        "`{{{{{name}}}}}` at the beginning is a whole URL; continue with `/` or `?` after it"
                    ));
                }
                OriginTemplate::Parameter(name)
            }
            Some(TemplatePart::Text(text)) => {
                let schemes = ["https://", "http://"];
                let Some(scheme) = schemes.into_iter().find(|it| text.starts_with(it)) else {
                    return Err("it has to begin with `https://`, `http://`, or a placeholder for a whole URL".to_owned());
                };
                let rest = text.strip_prefix(scheme).unwrap_or_default().to_owned();
                parts.splice(..1, [TemplatePart::Text(rest)]);
                let authority = split_off(&mut parts, &['/', '?']);
                if authority.iter().filter_map(text_of).any(|it| it.contains('@')) {
                    return Err(
                        "it has a user name or password in it; use a header instead".to_owned()
                    );
                }
                OriginTemplate::Fixed { scheme: scheme.to_owned(), authority }
            }
            None => return Err("it is empty".to_owned()),
        };
        let path = split_off(&mut parts, &['?']);
        let segments = separated(path, '/').into_iter().skip(1).collect();
        let query = (!parts.is_empty()).then(|| separated(without_first_character(parts), '&'));
        let template = Self { origin, segments, query };
        template.check_origin(parameters)?;
        Ok(template)
    }

    /// Refuses an origin that cannot be valid for any value.
    fn check_origin(&self, parameters: &Parameters) -> Result<(), String> {
        let OriginTemplate::Fixed { scheme, authority } = &self.origin else { return Ok(()) };
        let mut sample = scheme.clone();
        for part in authority {
            match part {
                TemplatePart::Text(text) => sample.push_str(text),
                TemplatePart::Parameter(_) if sample.matches(':').count() > 1 => sample.push('1'),
                TemplatePart::Parameter(_) => sample.push('a'),
            }
        }
        check_host_places(authority, parameters)?;
        parse_web_url(&sample).map(|_| ()).map_err(|err| err.to_string())
    }

    /// The parameter that chooses the whole host, if one does.
    pub(super) fn host_parameter(&self) -> Option<&str> {
        match &self.origin {
            OriginTemplate::Parameter(name) => Some(name),
            OriginTemplate::Fixed { authority, .. } => {
                let texts: String = authority.iter().filter_map(text_of).collect();
                let host = texts.split(':').next().unwrap_or_default();
                let is_named = host.contains(|it: char| it.is_ascii_alphanumeric());
                authority.iter().find_map(name_of).filter(|_| !is_named)
            }
        }
    }

    /// The parameters that it uses.
    pub(super) fn parameters(&self) -> BTreeSet<&str> {
        let own = match &self.origin {
            OriginTemplate::Parameter(name) => vec![name.as_str()],
            OriginTemplate::Fixed { authority, .. } => {
                authority.iter().filter_map(name_of).collect()
            }
        };
        let others = self.segments.iter().chain(self.query.iter().flatten()).flatten();
        own.into_iter().chain(others.filter_map(name_of)).collect()
    }

    /// The URL of a call.
    pub(super) fn fill(&self, values: CallValues<'_>) -> Result<Url, ToolError> {
        let mut text = self.origin_of(values)?;
        let origin = web_url(&text)?;
        for segment in &self.segments {
            text.push('/');
            text.push_str(&path_segment(segment, values)?);
        }
        let mut separator = '?';
        for pair in self.query.iter().flatten() {
            // A part whose value is missing is left out.
            if let Some(filled) = query_part(pair, values)? {
                text.push(separator);
                text.push_str(&filled);
                separator = '&';
            }
        }
        let url = web_url(&text)?;
        // The encoding of each part already ensures this.
        if url.origin() == origin.origin() {
            Ok(url)
        } else {
            Err(refused("url", "the values lead to a host other than the tool's"))
        }
    }

    fn origin_of(&self, values: CallValues<'_>) -> Result<String, ToolError> {
        match &self.origin {
            OriginTemplate::Parameter(name) => {
                let value = needed(name, values)?;
                if value.contains(|it: char| it == '\\' || it.is_whitespace() || it.is_control()) {
                    return Err(refused(
                        name,
                        "a URL has no backslashes, blanks or control characters",
                    ));
                }
                let mut url =
                    parse_web_url(&value).map_err(|err| refused(name, &err.to_string()))?;
                url.set_fragment(None);
                let has_more = !self.segments.is_empty() || self.query.is_some();
                if has_more && url.query().is_some() {
                    return Err(refused(
                        name,
                        "the URL has a query, and the tool adds to its path; leave the query out",
                    ));
                }
                let text = url.to_string();
                Ok(if has_more { text.trim_end_matches('/').to_owned() } else { text })
            }
            OriginTemplate::Fixed { scheme, authority } => {
                let mut text = scheme.clone();
                let mut is_port = false;
                for part in authority {
                    match part {
                        TemplatePart::Text(fixed) => {
                            is_port |= fixed.contains(':');
                            text.push_str(fixed);
                        }
                        TemplatePart::Parameter(name) => {
                            let value = needed(name, values)?;
                            check_host_part(name, &value, is_port)?;
                            text.push_str(&value);
                        }
                    }
                }
                Ok(text)
            }
        }
    }
}

/// Refuses placeholders that would let a value choose a host other than the one that the file seems to name:
/// in `https://example.com{{path}}` it could be `.evil.com`, and in `https://{{x}}example.com` it could be
/// `evil`. Values that the schema enumerates are allowed, because the file's author chose them.
fn check_host_places(authority: &[TemplatePart], parameters: &Parameters) -> Result<(), String> {
    let mut before = String::new();
    for (index, part) in authority.iter().enumerate() {
        let name = match part {
            TemplatePart::Parameter(name) => name,
            TemplatePart::Text(text) => {
                before.push_str(text);
                continue;
            }
        };
        let is_port = before.contains(':');
        if is_port || parameters.find(name).is_some_and(|it| it.is_plain) {
            continue;
        }
        let behind =
            authority.get(index + 1).map(|it| text_of(it).unwrap_or(".")).unwrap_or_default();
        let behind = behind.split(':').next().unwrap_or_default();
        let (label, parent) = behind.split_once('.').unwrap_or((behind, ""));
        if behind.is_empty() && before.contains(|it: char| it.is_ascii_alphanumeric()) {
            return Err(format!(
                "`{{{{{name}}}}}` ends the name of the host, so a value could choose any other host; write `/` \
                 before it if it is a path, or make it the whole host"
            ));
        }
        if !label.is_empty() && !parent.contains('.') {
            return Err(format!(
                "`{{{{{name}}}}}{behind}` lets a value choose a host other than `{behind}`; write `.` after the \
                 placeholder"
            ));
        }
    }
    Ok(())
}

fn check_host_part(name: &str, value: &str, is_port: bool) -> Result<(), ToolError> {
    let fits = if is_port {
        value.parse::<u16>().is_ok_and(|it| it > 0) && value.bytes().all(|it| it.is_ascii_digit())
    } else {
        let is_name = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.');
        !value.is_empty() && value.len() <= 253 && value.bytes().all(is_name)
    };
    if fits {
        return Ok(());
    }
    let what = if is_port { "a port" } else { "a part of a host's name" };
    Err(refused(name, &format!("expected {what}, got `{}`", shown(value))))
}

/// A segment with its values. It is never `.` or `..`, which would change the path.
fn path_segment(parts: &[TemplatePart], values: CallValues<'_>) -> Result<String, ToolError> {
    let mut segment = String::new();
    let mut last = None;
    for part in parts {
        match part {
            TemplatePart::Text(text) => segment.push_str(text),
            TemplatePart::Parameter(name) => {
                let value = needed(name, values)?;
                if value.is_empty() {
                    return Err(refused(name, "the value is empty, but it is a part of a path"));
                }
                segment.push_str(&encoded(&value));
                last = Some(name);
            }
        }
    }
    let climbs = matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    match last {
        Some(name) if climbs => {
            Err(refused(name, "`.` and `..` cannot be used in a path; give a name"))
        }
        _ => Ok(segment),
    }
}

/// A part of a query with its values; `None` if one is missing.
fn query_part(parts: &[TemplatePart], values: CallValues<'_>) -> Result<Option<String>, ToolError> {
    let mut filled = String::new();
    for part in parts {
        match part {
            TemplatePart::Text(text) => filled.push_str(text),
            TemplatePart::Parameter(name) => match values.text(name)? {
                Some(value) => filled.push_str(&encoded(&value)),
                None => return Ok(None),
            },
        }
    }
    Ok(Some(filled))
}

fn needed(name: &str, values: CallValues<'_>) -> Result<String, ToolError> {
    values.text(name)?.ok_or_else(|| refused(name, "the tool's URL needs it; give a value"))
}

fn web_url(text: &str) -> Result<Url, ToolError> {
    parse_web_url(text).map_err(|err| refused("url", &err.to_string()))
}

/// The value with every character escaped that has a meaning in a URL, like `encodeURIComponent`.
fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn text_of(part: &TemplatePart) -> Option<&str> {
    match part {
        TemplatePart::Text(text) => Some(text),
        TemplatePart::Parameter(_) => None,
    }
}

fn name_of(part: &TemplatePart) -> Option<&str> {
    match part {
        TemplatePart::Parameter(name) => Some(name),
        TemplatePart::Text(_) => None,
    }
}

/// Removes and returns everything before the first of these characters.
fn split_off(parts: &mut Vec<TemplatePart>, ends: &[char]) -> Vec<TemplatePart> {
    let mut taken = Vec::new();
    let mut rest = std::mem::take(parts).into_iter();
    while let Some(part) = rest.next() {
        match text_of(&part).and_then(|text| Some(text.split_at(text.find(ends)?))) {
            Some((before, behind)) => {
                taken.push(TemplatePart::Text(before.to_owned()));
                *parts = vec![TemplatePart::Text(behind.to_owned())];
                parts.extend(rest);
                break;
            }
            None => taken.push(part),
        }
    }
    taken.retain(|it| text_of(it) != Some(""));
    taken
}

/// Splits parts at a character of their texts.
fn separated(parts: Vec<TemplatePart>, at: char) -> Vec<Vec<TemplatePart>> {
    let mut pieces = vec![Vec::new()];
    for part in parts {
        match part {
            TemplatePart::Text(text) => {
                for (index, piece) in text.split(at).enumerate() {
                    if index > 0 {
                        pieces.push(Vec::new());
                    }
                    if let Some(last) = pieces.last_mut().filter(|_| !piece.is_empty()) {
                        last.push(TemplatePart::Text(piece.to_owned()));
                    }
                }
            }
            parameter @ TemplatePart::Parameter(_) => {
                if let Some(last) = pieces.last_mut() {
                    last.push(parameter);
                }
            }
        }
    }
    pieces
}

fn without_first_character(mut parts: Vec<TemplatePart>) -> Vec<TemplatePart> {
    if let Some(TemplatePart::Text(text)) = parts.first_mut() {
        text.remove(0);
    }
    parts
}

#[cfg(test)]
mod tests;
