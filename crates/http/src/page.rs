//! The web page: its files, which are compiled into the addon.
//!
//! They contain no data, so they need no token. Their content security policy allows scripts and styles from
//! this table only, and makes the browser refuse to parse any text as HTML.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, HeaderValue, header};

use super::{answers::HttpRefusal, routes::NameInPath};

/// The content security policy of the page. Nothing is loaded from elsewhere, the page cannot be framed, and
/// no script can turn text into HTML.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// A file of the page.
struct PageFile {
    name: &'static str,
    content_type: &'static str,
    text: &'static str,
}

/// The files of the page, each with its type.
macro_rules! page_files {
    ($($content_type:ident: $($name:literal),+;)+) => {
        &[$($(PageFile {
            name: $name,
            content_type: $content_type,
            text: include_str!(concat!("../page/", $name)),
        }),+),+]
    };
}

const FILES: &[PageFile] = page_files! {
    HTML: "index.html";
    STYLE: "layout.css", "lines.css", "parts.css", "theme.css", "tools.css";
    PICTURE: "logo.svg";
    SCRIPT: "api.js", "badge.js", "calls-view.js", "confirmation-card.js", "confirmations-view.js",
        "connection.js", "data-view.js", "diff-view.js", "element.js", "entrance.js", "event-stream.js",
        "fields.js", "format.js", "input-editor.js", "main.js", "prose.js", "result-view.js",
        "rules-to-paste.js", "schema-form.js", "schema.js", "search-results.js", "state.js", "tail-box.js",
        "tasks-view.js", "token.js", "tool-call.js", "tool-list.js", "tools-view.js", "verdict-view.js",
        "waiting-strip.js";
};

/// `GET /`: the page itself.
pub(super) async fn page() -> Response {
    file("index.html")
}

/// `GET /page/:name`: one of its files.
pub(super) async fn page_file(NameInPath(name): NameInPath) -> Response {
    file(&name)
}

fn file(name: &str) -> Response {
    let Some(found) = FILES.iter().find(|it| it.name == name) else {
        let message = format!("the page has no file `{name}`; open `/`");
        return HttpRefusal::not_found(message).into_response();
    };
    let mut response = found.text.into_response();
    let headers = response.headers_mut();
    for (header, value) in [
        (header::CONTENT_TYPE, found.content_type),
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // After an update, files of two versions must not be mixed.
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(header, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use http::StatusCode;

    use super::*;

    #[test]
    fn every_file_in_the_folder_is_served_and_nothing_else() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let there: BTreeSet<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let served: BTreeSet<_> = FILES.iter().map(|file| file.name.to_owned()).collect();
        assert_eq!(served, there);
    }

    #[test]
    fn no_file_parses_text_as_html_or_refers_to_another_site() {
        for PageFile { name, text, .. } in FILES {
            for forbidden in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("]
            {
                assert!(!text.contains(forbidden), "{name} has `{forbidden}`");
            }
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for elsewhere in ["http://", "https://"] {
                assert!(!text.contains(elsewhere), "{name} has `{elsewhere}`");
            }
        }
    }

    #[tokio::test]
    async fn a_file_has_its_content_type_and_the_content_security_policy() {
        let answer = page_file(NameInPath("theme.css".to_owned())).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], STYLE);
        assert_eq!(answer.headers()[header::CONTENT_SECURITY_POLICY], CONTENT_POLICY);
        let missing = page_file(NameInPath("../page.rs".to_owned())).await;
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    }
}
