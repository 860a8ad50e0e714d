//! Placeholders in templates: `{{name}}`.

use super::parameter::Parameters;

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplatePart {
    /// Literal text.
    Text(String),
    /// The value of a parameter.
    Parameter(String),
}

/// Splits a template. Only a name in double braces is a placeholder, with or without blanks around it.
/// Templates of other programs, such as docker's `{{.Names}}`, are literal text.
pub(super) fn parts_of(template: &str) -> Vec<TemplatePart> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("{{") {
        text.push_str(before);
        let named = behind.split_once("}}").filter(|(name, _)| is_placeholder_name(name.trim()));
        if let Some((name, after)) = named {
            if !text.is_empty() {
                parts.push(TemplatePart::Text(std::mem::take(&mut text)));
            }
            parts.push(TemplatePart::Parameter(name.trim().to_owned()));
            rest = after;
        } else {
            // In `{{{x}}}`, the inner braces are the placeholder.
            text.push('{');
            rest = rest.get(before.len() + 1..).unwrap_or_default();
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(TemplatePart::Text(text));
    }
    parts
}

fn is_placeholder_name(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-'))
}

/// Refuses placeholders that name no parameter.
pub(super) fn check_names(parts: &[TemplatePart], parameters: &Parameters) -> Result<(), String> {
    for part in parts {
        let TemplatePart::Parameter(name) = part else { continue };
        if parameters.find(name).is_none() {
            let known = match parameters.names() {
                names if names.is_empty() => "it has none".to_owned(),
                names => format!("it has {}", names.join(", ")),
            };
            return Err(format!("`{{{{{name}}}}}` is not a property of `inputSchema`; {known}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_braces_are_placeholders() {
        let text = |it: &str| TemplatePart::Text(it.to_owned());
        let parameter = |it: &str| TemplatePart::Parameter(it.to_owned());
        for (template, wanted) in [
            ("a {{b}} c", vec![text("a "), parameter("b"), text(" c")]),
            ("{{ b }}{{c-d}}", vec![parameter("b"), parameter("c-d")]),
            ("--format '{{.Names}}'", vec![text("--format '{{.Names}}'")]),
            ("{{{b}}}", vec![text("{"), parameter("b"), text("}")]),
            ("{{", vec![text("{{")]),
            ("{{}}", vec![text("{{}}")]),
            ("{{a b}} {{1}} {{a", vec![text("{{a b}} {{1}} {{a")]),
            ("", vec![]),
        ] {
            assert_eq!(parts_of(template), wanted, "{template}");
        }
    }
}
