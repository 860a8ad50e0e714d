//! The form with which a client asks its user whether a call may run, and how its answer is interpreted.

use rmcp::model::{ElicitRequestParams, ElicitationSchema};
use serde_json::{Map, Value, json};
use toolwright_core::for_display;
use toolwright_pipeline::ConfirmationAnswer;

/// The maximum length of a question's text, in characters.
const MAX_SHOWN: usize = 20_000;
/// The maximum length of a refusal's reason, in characters.
const MAX_REASON: usize = 2_000;

/// The form for a question of the confirmation bus. `None` if rmcp does not accept its schema.
pub(super) fn form(details: &Value) -> Option<ElicitRequestParams> {
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(details),
        requested_schema: schema(details)?,
    })
}

fn schema(details: &Value) -> Option<ElicitationSchema> {
    let mut properties = Map::new();
    let approve = json!({
        "type": "boolean",
        "title": "Allow this call",
        "description": "Only a yes here lets the call run",
    });
    properties.insert("approve".to_owned(), approve);
    let rules = details.get("suggestedRules").and_then(Value::as_array);
    let rules: Vec<&str> = rules.into_iter().flatten().filter_map(Value::as_str).collect();
    if !rules.is_empty() {
        let always = json!({
            "type": "boolean",
            "title": "Do not ask again about such calls",
            "description": cut(&format!("Allows {}", rules.join(", ")), MAX_REASON),
            "default": false,
        });
        properties.insert("always".to_owned(), always);
    }
    let reason = json!({
        "type": "string",
        "title": "Why not",
        "description": "A reason for the model if the call may not run",
        "maxLength": MAX_REASON,
    });
    properties.insert("reason".to_owned(), reason);
    let schema = json!({ "type": "object", "properties": properties, "required": ["approve"] });
    serde_json::from_value(schema).ok()
}

/// Interprets the answer to a form. Only an accepted form with `approve: true` allows the call.
pub(super) fn answer(result: &Value) -> ConfirmationAnswer {
    let content = result.get("content");
    let field = |name: &str| content.and_then(|it| it.get(name));
    let is_accepted = result.get("action").and_then(Value::as_str) == Some("accept");
    let approved = is_accepted && field("approve") == Some(&Value::Bool(true));
    let always_allow = approved && field("always") == Some(&Value::Bool(true));
    let reason = field("reason").and_then(Value::as_str).map(str::trim);
    let reason = reason.filter(|it| !approved && !it.is_empty());
    ConfirmationAnswer {
        approved,
        always_allow,
        message: reason.map(|it| cut(it, MAX_REASON)),
        ..ConfirmationAnswer::default()
    }
}

/// True if a value is an answer to a form.
pub(super) fn is_answer(result: &Value) -> bool {
    let action = result.get("action").and_then(Value::as_str);
    let is_content = result.get("content").is_none_or(|it| it.is_object() || it.is_null());
    is_content && action.is_some_and(|it| ["accept", "decline", "cancel"].contains(&it))
}

/// The text for the person: what the call does, why they are asked, and its diff or input. If it is too long, the
/// text says how much is missing.
fn message(details: &Value) -> String {
    let text = |name: &str| details.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut lines = vec![format!("Allow `{}`? {}", text("toolName"), text("description"))];
    let mut add = |what: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("{what}: {value}"));
        }
    };
    add("Risk", text("risk"));
    add("Asked because", text("reason"));
    add("Note", text("message"));
    let content = match text("diff") {
        "" => input_text(details.get("input").unwrap_or(&Value::Null)),
        diff => diff.to_owned(),
    };
    if !content.is_empty() {
        lines.push(format!("\n{content}"));
    }
    cut(&lines.join("\n"), MAX_SHOWN)
}

/// The fields of an input, one after the other.
fn input_text(input: &Value) -> String {
    let fields = input.as_object().into_iter().flatten();
    let shown = fields.map(|(name, value)| {
        let value = match value {
            Value::String(text) => for_display(text),
            other => for_display(&other.to_string()),
        };
        let is_block = value.contains('\n');
        format!("{}:{}{value}", for_display(name), if is_block { "\n" } else { " " })
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The beginning of a text, with a note about how much is missing.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => {
            let rest = text.get(end..).unwrap_or_default().chars().count();
            format!(
                "{}\n… {rest} more characters are not shown",
                text.get(..end).unwrap_or_default()
            )
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn only_an_accepted_form_with_approval_allows_the_call() {
        let yes = json!({ "action": "accept", "content": { "approve": true } });
        assert!(answer(&yes).approved);
        for no in [
            json!({}),
            json!(null),
            json!(true),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept", "content": { "approve": false } }),
            json!({ "action": "accept", "content": { "approve": "true" } }),
            json!({ "action": "accept", "content": { "approve": 1 } }),
            json!({ "action": "accept", "content": { "approve": [true] } }),
            json!({ "action": "accept", "content": { "always": true } }),
            json!({ "action": "Accept", "content": { "approve": true } }),
            json!({ "action": "decline", "content": { "approve": true } }),
            json!({ "action": "cancel", "content": { "approve": true, "always": true } }),
            json!({ "content": { "approve": true } }),
            json!({ "approve": true }),
        ] {
            let answer = answer(&no);
            assert!(!answer.approved && !answer.always_allow, "{no}");
        }
    }

    #[test]
    fn the_message_contains_the_whole_input_or_says_how_much_is_missing() {
        let details = json!({
            "toolName": "Bash", "description": "rm -rf x", "reason": "no rule allows it",
            "input": { "command": "rm -rf x\necho \u{1b}[2K" },
        });
        let shown = message(&details);
        assert!(shown.contains("command:\nrm -rf x\necho "), "{shown}");
        assert!(!shown.contains('\u{1b}'));
        let long = json!({ "toolName": "Write", "diff": "é".repeat(MAX_SHOWN + 7) });
        let shown = message(&long);
        assert!(shown.ends_with("more characters are not shown"), "{}", &shown[shown.len() - 60..]);
    }

    #[test]
    fn the_form_offers_to_always_allow_only_if_there_is_a_rule_for_it() {
        let offered = schema(&json!({ "suggestedRules": ["Bash(ls)"] })).unwrap();
        assert!(offered.properties.contains_key("always"));
        assert_eq!(offered.required.unwrap(), ["approve"]);
        assert!(!schema(&json!({})).unwrap().properties.contains_key("always"));
    }
}
