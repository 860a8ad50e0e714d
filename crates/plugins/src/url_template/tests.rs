//! Tests of URL templates.

#![expect(clippy::unwrap_used, reason = "tests")]

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn parameters() -> Parameters {
    let text = json!({ "type": "string" });
    Parameters::of_schema(&json!({
        "type": "object",
        "properties": { "a": text, "b": text, "url": text, "host": text, "port": text,
            "listed": { "enum": ["com", "org"] },
        },
    }))
}

fn read(template: &str) -> Result<UrlTemplate, String> {
    UrlTemplate::read(template, &parameters())
}

fn filled(template: &str, values: &Value) -> Result<String, String> {
    let url = read(template).unwrap().fill(CallValues(values));
    url.map(|it| it.to_string()).map_err(|it| it.message)
}

#[test]
fn values_are_encoded_for_their_place() {
    let values = json!({
        "a": "x/../y?z=1&w#f %2e", "b": "@\\é", "host": "api.example.com", "port": "8080",
        "url": "https://example.com:444/base/",
    });
    for (template, wanted) in [
        ("https://h/{{a}}", "https://h/x%2F..%2Fy%3Fz%3D1%26w%23f%20%252e"),
        ("https://h/p{{b}}/q", "https://h/p%40%5C%C3%A9/q"),
        (
            "https://h?q={{a}}&r={{b}}",
            "https://h/?q=x%2F..%2Fy%3Fz%3D1%26w%23f%20%252e&r=%40%5C%C3%A9",
        ),
        ("http://{{host}}:{{port}}/x", "http://api.example.com:8080/x"),
        ("{{url}}/health", "https://example.com:444/base/health"),
        ("{{url}}", "https://example.com:444/base/"),
        ("{{url}}/{{b}}?x=1", "https://example.com:444/base/%40%5C%C3%A9?x=1"),
        ("{{url}}?q={{b}}", "https://example.com:444/base?q=%40%5C%C3%A9"),
        ("https://h/a/b/", "https://h/a/b/"),
    ] {
        assert_eq!(filled(template, &values).unwrap(), wanted, "{template}");
    }
}

#[test]
fn query_parts_are_optional_and_other_parts_are_required() {
    let values = json!({ "b": "B" });
    assert_eq!(filled("https://h/?x={{a}}&y={{b}}&z", &values).unwrap(), "https://h/?y=B&z");
    assert_eq!(filled("https://h/?x={{a}}", &values).unwrap(), "https://h/");
    for template in ["https://h/{{a}}", "https://{{host}}/", "{{url}}/x"] {
        assert!(filled(template, &values).unwrap_err().contains("needs it"), "{template}");
    }
}

#[test]
fn values_that_would_lead_elsewhere_are_refused() {
    for (template, name, value) in [
        ("https://h/v1/{{a}}/x", "a", ".."),
        ("https://h/v1/{{a}}", "a", "."),
        ("https://h/{{a}}", "a", ""),
        ("https://h/.{{a}}", "a", "."),
        ("https://{{host}}/", "host", "evil.com/x"),
        ("https://{{host}}/", "host", "a@evil.com"),
        ("https://{{host}}.example.com/", "host", "evil.com#"),
        ("https://{{host}}.example.com/", "host", "evil.com\\"),
        ("https://h:{{port}}/", "port", "80@evil.com"),
        ("https://h:{{port}}/", "port", "0"),
        ("https://h:{{port}}/", "port", "+8"),
        ("{{url}}/health", "url", "ftp://example.com"),
        ("{{url}}/health", "url", "file:///etc/passwd"),
        ("{{url}}/health", "url", "javascript:alert(1)"),
        ("{{url}}/health", "url", "example.com"),
        ("{{url}}/health", "url", "https://user:pw@example.com"),
        ("{{url}}/health", "url", "https://user@example.com"),
        ("{{url}}/health", "url", "https://example.com\\@evil.com"),
        ("{{url}}/health", "url", "https://example.com/?x="),
        ("{{url}}/health", "url", " https://example.com"),
        ("{{url}}/health", "url", "https://exa\nmple.com"),
        ("{{url}}/health", "url", ""),
    ] {
        let filled = filled(template, &json!({ name: value }));
        assert!(filled.is_err(), "{template} {value}: {filled:?}");
    }
}

#[test]
fn templates_that_cannot_be_filled_safely_are_refused() {
    for template in [
        "",
        "h/x",
        "ftp://h/{{a}}",
        "//h/x",
        "{{url}}x",
        "{{url}}{{a}}",
        "{{url}}.example.com/",
        "https://user:{{a}}@h/",
        "https://{{a}}@h/",
        "https://h/#{{a}}",
        "https://h\\x/",
        "https://h/{{missing}}",
        "https:///x",
        "https://h /x",
        "HTTPS//h",
        "https://?x",
        // A value could be `.evil.com`, or `evil`.
        "https://example.com{{a}}",
        "https://example.com{{a}}/x",
        "https://example.{{a}}:80/x",
        "https://{{a}}example.com/",
        "https://{{a}}-example.com:{{port}}/",
    ] {
        assert!(read(template).is_err(), "{template}");
    }
}

#[test]
fn a_part_of_a_host_may_be_a_placeholder_if_the_rest_identifies_the_host() {
    for template in [
        "https://{{host}}",
        "https://{{host}}:{{port}}/",
        "https://{{a}}.example.com/",
        "https://{{a}}-eu.example.com/",
        "https://{{a}}.{{b}}/",
        "https://example.com:{{port}}/",
        "https://example.{{listed}}/",
    ] {
        assert!(read(template).is_ok(), "{template}: {:?}", read(template).err());
    }
}

proptest! {
    #[test]
    fn no_value_changes_the_host_or_the_path_structure(value in "[./\\\\@:?#%&=a-c \\n]{1,12}|\\PC{1,20}") {
        let values = json!({ "a": value, "b": value });
        if let Ok(url) = read("https://h.example/v1/{{a}}/x?q={{b}}").unwrap().fill(CallValues(&values)) {
            prop_assert_eq!(url.host_str(), Some("h.example"));
            let segments: Vec<&str> = url.path_segments().unwrap().collect();
            prop_assert!(matches!(segments.as_slice(), ["v1", _, "x"]), "{segments:?}");
            let pairs: Vec<_> = url.query_pairs().collect();
            prop_assert_eq!(pairs, [("q".into(), value.clone().into())]);
            prop_assert_eq!(url.fragment(), None);
        } else {
            prop_assert!(value == "." || value == "..");
        }
        // As a part of a host, a value is refused or stays in front of the rest.
        let host = json!({ "host": value });
        if let Ok(url) = read("https://{{host}}.h.example/").unwrap().fill(CallValues(&host)) {
            prop_assert!(url.host_str().unwrap().ends_with(".h.example"));
        }
    }
}
