//! Tests of requests and the parsing of responses. Tests with real servers are in JavaScript.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use pretty_assertions::assert_eq;

use super::{brave::Brave, searxng::SearXng, tavily::Tavily, *};
use crate::FetchMethod;

fn query(allowed: &[&str], blocked: &[&str]) -> WebQuery {
    let domains = |texts: &[&str]| texts.iter().map(|it| it.parse().unwrap()).collect();
    WebQuery {
        words: " rust & napi ".to_owned(),
        count: 3,
        allowed: domains(allowed),
        blocked: domains(blocked),
    }
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn page(title: &str, url: &str, snippet: &str) -> FoundPage {
    FoundPage { title: title.to_owned(), url: url.to_owned(), snippet: snippet.to_owned() }
}

#[test]
fn searxng_is_asked_for_json() {
    let provider = SearXng { endpoint: url("http://s.x/sub/search"), authorization: None };
    let request = provider.request(&query(&["docs.rs", "b.c"], &[]));
    assert_eq!(
        request.url.as_str(),
        "http://s.x/sub/search?q=rust+%26+napi+%28site%3Adocs.rs+OR+site%3Ab.c%29&format=json"
    );
    let answer = r#"{"query":"q","results":[
        {"url":"https://a.b/","title":"T","content":"C","engine":"x"},{"url":"https://a.c/"}]}"#;
    assert_eq!(
        provider.results(answer).unwrap(),
        [page("T", "https://a.b/", "C"), page("", "https://a.c/", "")]
    );
    // An empty result because engines failed differs from one because nothing matches.
    let silent =
        r#"{"results":[],"unresponsive_engines":[["google","CAPTCHA"],["bing","timeout"]]}"#;
    assert_eq!(
        provider.trouble(silent).unwrap(),
        "its engines gave no results (`google: CAPTCHA`, `bing: timeout`)"
    );
    assert_eq!(provider.trouble(r#"{"results":[],"unresponsive_engines":[]}"#), None);
    assert_eq!(provider.trouble(r#"{"results":[]}"#), None);
}

#[test]
fn brave_gets_its_key_in_a_header() {
    let provider = Brave { endpoint: url("https://b.x/res/v1/web/search"), key: "k".to_owned() };
    let request = provider.request(&query(&[], &["b.c"]));
    assert_eq!(
        request.url.as_str(),
        "https://b.x/res/v1/web/search?q=rust+%26+napi+-site%3Ab.c&count=20&result_filter=web&text_decorations=false"
    );
    assert_eq!(request.headers, [("X-Subscription-Token".to_owned(), "k".to_owned())]);
    let answer = r#"{"type":"search","web":{"type":"search","results":[
        {"title":"T","url":"https://a.b/","description":"D"}]}}"#;
    assert_eq!(provider.results(answer).unwrap(), [page("T", "https://a.b/", "D")]);
    assert_eq!(provider.results(r#"{"type":"search"}"#).unwrap(), []);
    assert!(provider.results("{}").is_err());
}

#[test]
fn tavily_is_sent_json() {
    let provider = Tavily { endpoint: url("https://t.x/search"), key: "k".to_owned() };
    let request = provider.request(&query(&["docs.rs"], &[]));
    let FetchMethod::Post(json) = request.method else { panic!("not posted") };
    assert_eq!(
        json,
        r#"{"query":"rust & napi","max_results":20,"search_depth":"basic","include_domains":["docs.rs"],"exclude_domains":[]}"#
    );
    assert_eq!(request.headers, [("Authorization".to_owned(), "Bearer k".to_owned())]);
    let answer =
        r#"{"query":"q","results":[{"title":"T","url":"https://a.b/","content":"C","score":0.9}]}"#;
    assert_eq!(provider.results(answer).unwrap(), [page("T", "https://a.b/", "C")]);
}

#[test]
fn results_are_filtered_cleaned_and_bounded() {
    let found = || {
        vec![
            page("<b>A</b>", "https://docs.rs/a", "x &amp; y"),
            page("again", "https://docs.rs/a", ""),
            page("below", "https://x.docs.rs/", "n\n\nl"),
            page("", "https://bücher.de/z", ""),
            page("no page", "javascript:alert(1)", ""),
            page("no url", "docs.rs", ""),
            page("other", "https://mydocs.rs/", ""),
        ]
    };
    assert_eq!(
        query(&["docs.rs"], &[]).refined(found()),
        [page("A", "https://docs.rs/a", "x & y"), page("below", "https://x.docs.rs/", "n l")]
    );
    assert_eq!(
        query(&[], &["docs.rs"]).refined(found()),
        [
            page("xn--bcher-kva.de", "https://xn--bcher-kva.de/z", ""),
            page("other", "https://mydocs.rs/", "")
        ]
    );
    assert_eq!(query(&["BÜCHER.de"], &[]).refined(found()).len(), 1);
    assert_eq!(query(&[], &[]).refined(found()).len(), 3);
}

#[test]
fn a_service_is_chosen_by_options_and_environment() {
    let web = crate::WebSettings::default();
    let chosen = |options: Option<(&str, Option<&str>, Option<&str>)>,
                  variables: &[(&str, &str)]| {
        let variable = |name: &str| {
            variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
        };
        let setup = match options {
            None => Ok(SearchSetup::from_environment(&variable, &web)),
            Some((provider, url, key)) => {
                let owned = |it: Option<&str>| it.map(str::to_owned);
                let options = SearchOptions {
                    provider: provider.to_owned(),
                    url: owned(url),
                    api_key: owned(key),
                };
                SearchSetup::from_options(&options, &variable, &web)
            }
        };
        match setup {
            Ok(SearchSetup::Missing) => "missing".to_owned(),
            Ok(SearchSetup::Service(search)) => {
                let request = search.provider.request(&query(&[], &[]));
                let mut url = request.url.clone();
                url.set_query(None);
                let headers: Vec<_> = request.headers.into_iter().map(|(_, value)| value).collect();
                format!("{} {url} {}", search.provider.name(), headers.join(" ")).trim().to_owned()
            }
            Ok(SearchSetup::Unusable(cause)) => format!("unusable: {cause}"),
            Err(cause) => format!("error: {cause}"),
        }
    };
    for (options, variables, wanted) in [
        (None, vec![], "missing"),
        (None, vec![("BRAVE_API_KEY", " ")], "missing"),
        (None, vec![("TAVILY_API_KEY", "t")], "Tavily https://api.tavily.com/search Bearer t"),
        (
            None,
            vec![("TAVILY_API_KEY", "t"), ("BRAVE_API_KEY", "b")],
            "Brave Search https://api.search.brave.com/res/v1/web/search b",
        ),
        (
            None,
            vec![("SEARXNG_URL", "http://127.0.0.1:8080"), ("BRAVE_API_KEY", "b")],
            "SearXNG http://127.0.0.1:8080/search",
        ),
        (
            None,
            vec![("SEARXNG_URL", "me:pw@x")],
            "unusable: `search.url` has to begin with `http://` or `https://`",
        ),
        (
            Some(("searxng", Some("https://me:pw@x.y/s"), None)),
            vec![],
            "SearXNG https://x.y/s/search Basic bWU6cHc=",
        ),
        (
            Some(("tavily", Some("http://localhost:1/t/"), Some("k"))),
            vec![],
            "Tavily http://localhost:1/t/search Bearer k",
        ),
        (
            Some(("brave", None, None)),
            vec![("BRAVE_API_KEY", "e")],
            "Brave Search https://api.search.brave.com/res/v1/web/search e",
        ),
        (
            Some(("brave", None, None)),
            vec![],
            "error: `search.apiKey` is missing; set it, or `BRAVE_API_KEY`",
        ),
        (
            Some(("brave", None, Some("a\nb"))),
            vec![],
            "error: `search.apiKey` has characters that no key has; check that it is complete",
        ),
        (
            Some(("searxng", None, None)),
            vec![],
            "error: `search.url` is missing; set it, or `SEARXNG_URL`",
        ),
        (
            Some(("bing", None, None)),
            vec![],
            "error: `search.provider`: no provider is named `bing`; there are `searxng`, `brave`, `tavily`",
        ),
    ] {
        assert_eq!(chosen(options, &variables), wanted, "{options:?} {variables:?}");
    }
}
