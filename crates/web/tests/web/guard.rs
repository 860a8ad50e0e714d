//! The web client connects only to public addresses and to addresses that the host allows.

use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use toolwright_web::{AddressClass, FetchError, FetchOutcome, NameLookup, WebClient, WebSettings};

use super::server::{
    WebServer, answer, fetch, fetch_text, ip, path_of, settings_allowing, text_page,
};

/// All known ways to write an address of this machine. `PORT` stands for the port of a server.
pub(crate) const DISGUISES: [&str; 34] = [
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0x7F.1:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.000.000.001:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://127%2e0%2e0%2e1:PORT/",
    "http://１２７.０.０.１:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://127。0。0。1:PORT/",
    "http:127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://[::]:PORT/",
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST.:PORT/",
    "http://a.b.localhost:PORT/",
    "http://ｌｏｃａｌｈｏｓｔ:PORT/",
    "https://localhost:PORT/",
];

/// Answers from a table. A name with several answers returns them in turn.
#[derive(Debug, Default)]
pub(crate) struct TableLookup {
    answers: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl TableLookup {
    pub(crate) fn with(mut self, name: &'static str, answers: &[&[&str]]) -> Self {
        let parsed = answers.iter().map(|it| it.iter().map(|address| ip(address)).collect());
        self.answers.insert(name, parsed.collect());
        self
    }
}

#[async_trait]
impl NameLookup for TableLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let name = name.trim_end_matches('.');
        let answers = self.answers.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(answers.get(turn % answers.len()).unwrap().clone())
    }
}

fn is_blocked(fetched: &Result<FetchOutcome, FetchError>) -> bool {
    match fetched {
        Err(FetchError::BlockedAddress { .. }) => true,
        Err(FetchError::RefusedRedirect { refusal, .. }) => {
            matches!(**refusal, FetchError::BlockedAddress { .. })
        }
        _ => false,
    }
}

#[tokio::test]
async fn no_disguised_address_of_this_machine_is_connected_to() {
    let v4 = WebServer::sending(text_page("reached")).await;
    let same_port = format!("[::1]:{}", v4.address.port()).parse().unwrap();
    // Fails on machines without IPv6.
    let v6 = WebServer::raw_at(same_port, |_| async { Ok(()) }).await.ok();
    let client = WebClient::new(WebSettings::default());
    for disguise in DISGUISES {
        let url = disguise.replace("PORT", &v4.address.port().to_string());
        let fetched = fetch(&client, &url).await;
        assert!(is_blocked(&fetched), "{url}: {fetched:?}");
    }
    assert_eq!((v4.accepted(), v6.map_or(0, |it| it.accepted())), (0, 0));
}

#[tokio::test]
async fn a_name_that_resolves_to_a_blocked_address_is_not_connected_to() {
    let server = WebServer::sending(text_page("reached")).await;
    let port = server.address.port();
    for (address, class) in [
        ("127.0.0.1", AddressClass::Loopback),
        ("0.0.0.0", AddressClass::Unspecified),
        ("::ffff:127.0.0.1", AddressClass::Loopback),
        ("::1", AddressClass::Loopback),
        ("10.0.0.1", AddressClass::Private),
        ("169.254.169.254", AddressClass::Metadata),
        ("fd00:ec2::254", AddressClass::Metadata),
        ("64:ff9b::7f00:1", AddressClass::Loopback),
    ] {
        let lookup = TableLookup::default().with("rebind.test", &[&[address]]);
        let client = WebClient::with_lookup(WebSettings::default(), Arc::new(lookup));
        let fetched = fetch(&client, &format!("http://rebind.test:{port}/")).await;
        let wanted = FetchError::BlockedAddress {
            host: "rebind.test".to_owned(),
            address: Some(ip(address)),
            class,
        };
        assert_eq!(fetched, Err(wanted));
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn the_resolved_address_is_shown_to_people_but_not_to_the_model() {
    let lookup = TableLookup::default().with("intra.test", &[&["10.1.2.3"]]);
    let client = WebClient::with_lookup(WebSettings::default(), Arc::new(lookup));
    let error = fetch(&client, "http://intra.test/").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`intra.test` leads to a private address, which web tools do not connect to; use a public \
         address"
    );
    let (reason, how) = error.for_people().unwrap();
    assert_eq!(reason, "`intra.test` leads to `10.1.2.3`, a private address");
    assert_eq!(how, "add `intra.test` to the option `web.allow`");
}

/// Linux only: other systems have a single loopback address by default.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_resolver_that_changes_its_answer_cannot_reach_a_blocked_address() {
    let closed = WebServer::sending(text_page("closed")).await;
    let port = closed.address.port();
    let open =
        WebServer::raw_at(format!("127.0.0.2:{port}").parse().unwrap(), |mut stream| async move {
            use tokio::io::AsyncWriteExt as _;
            super::server::read_head(&mut stream).await?;
            stream.write_all(&text_page("open")).await
        })
        .await
        .unwrap();
    // `127.0.0.2` stands for a public address. The resolver alternates between these answers.
    let lookup = TableLookup::default().with(
        "rebind.test",
        &[
            &["127.0.0.2"],
            &["127.0.0.1"],
            &["127.0.0.2", "127.0.0.1"],
            &["127.0.0.1", "127.0.0.2"],
            &["::1"],
            &["::ffff:127.0.0.1"],
            &["0.0.0.0"],
        ],
    );
    let lookup = Arc::new(lookup);
    let mut settings = settings_allowing(&["127.0.0.2"]);
    settings.limits.cache_age = std::time::Duration::ZERO;
    let client = WebClient::with_lookup(settings, Arc::clone(&lookup) as Arc<dyn NameLookup>);
    let url = format!("http://rebind.test:{port}/");
    let (mut fetched, mut refused) = (0, 0);
    for _ in 0..1_000 {
        match fetch(&client, &url).await {
            Ok(FetchOutcome::Page(page)) => {
                assert_eq!(page.text().0, "open");
                fetched += 1;
            }
            Err(FetchError::BlockedAddress { .. }) => refused += 1,
            other => unreachable!("{other:?}"),
        }
    }
    assert_eq!((fetched + refused, closed.accepted()), (1_000, 0));
    // There was one lookup per fetch, and one connection per successful fetch.
    assert_eq!((open.accepted(), lookup.asked.load(Ordering::SeqCst)), (fetched, 1_000));
    assert!(fetched > 400 && refused > 400);
}

#[tokio::test]
async fn allowed_hosts_are_reached_only_on_allowed_ports() {
    let server = WebServer::answering(|head| text_page(path_of(head))).await;
    let port = server.address.port();
    let table = || TableLookup::default().with("a.intra.test", &[&["127.0.0.1"]]);
    for (allow, host, is_open) in [
        ("127.0.0.1".to_owned(), "127.0.0.1", true),
        ("127.0.0.0/8".to_owned(), "127.1", true),
        (format!("127.0.0.1:{port}"), "127.0.0.1", true),
        ("127.0.0.1:1".to_owned(), "127.0.0.1", false),
        ("10.0.0.0/8".to_owned(), "127.0.0.1", false),
        ("a.intra.test".to_owned(), "a.intra.test", true),
        ("*.intra.test".to_owned(), "A.Intra.Test.", true),
        (format!("a.intra.test:{port}"), "a.intra.test", true),
        ("a.intra.test:1".to_owned(), "a.intra.test", false),
        ("b.intra.test".to_owned(), "a.intra.test", false),
        ("127.0.0.1".to_owned(), "a.intra.test", true),
        ("a.intra.test".to_owned(), "127.0.0.1", false),
    ] {
        let client = WebClient::with_lookup(settings_allowing(&[&allow]), Arc::new(table()));
        let before = server.accepted();
        let fetched = fetch(&client, &format!("http://{host}:{port}/x")).await;
        assert_eq!(fetched.is_ok(), is_open, "{allow}, {host}: {fetched:?}");
        assert_eq!(server.accepted() - before, usize::from(is_open), "{allow}, {host}");
        assert!(is_open || is_blocked(&fetched), "{fetched:?}");
    }
}

#[tokio::test]
async fn an_unknown_name_is_reported_as_a_dns_error() {
    let client = WebClient::with_lookup(WebSettings::default(), Arc::new(TableLookup::default()));
    let error = fetch(&client, "http://nowhere.test/").await.unwrap_err();
    let wanted =
        FetchError::Dns { host: "nowhere.test".to_owned(), cause: "entity not found".to_owned() };
    assert_eq!(error, wanted);
}

#[tokio::test]
async fn redirects_to_blocked_addresses_are_refused_in_every_form() {
    let closed = WebServer::sending(text_page("reached")).await;
    let target = closed.address.port().to_string();
    let server = WebServer::answering(move |head| {
        let (status, index) = path_of(head)[1..].split_once('/').unwrap();
        let disguise = DISGUISES.get(index.parse::<usize>().unwrap()).unwrap();
        let disguise = disguise.replace("PORT", &target);
        answer(&format!("{status} Moved"), &format!("Location: {disguise}\r\n"), "")
    })
    .await;
    let port = server.address.port();
    let lookup = TableLookup::default().with("open.test", &[&["127.0.0.1"]]);
    let settings = settings_allowing(&[&format!("open.test:{port}")]);
    let client = WebClient::with_lookup(settings, Arc::new(lookup));
    for status in [301, 302, 303, 307, 308] {
        for (index, disguise) in DISGUISES.iter().enumerate() {
            // In a redirect from an http URL, this form is a relative path.
            if disguise.starts_with("http:127") {
                continue;
            }
            let fetched =
                fetch(&client, &format!("http://open.test:{port}/{status}/{index}")).await;
            assert!(is_blocked(&fetched), "{status} {disguise}: {fetched:?}");
        }
    }
    assert_eq!(closed.accepted(), 0);
}

#[tokio::test]
async fn a_redirect_to_the_same_name_is_looked_up_and_checked_again() {
    let server = WebServer::answering(|_| answer("302 Found", "Location: /next\r\n", "")).await;
    let port = server.address.port();
    // The second answer is the attack. The server closes the connection, so the second hop has to connect again.
    let lookup = TableLookup::default().with("rebind.test", &[&["127.0.0.1"], &["10.0.0.1"]]);
    let client = WebClient::with_lookup(settings_allowing(&["127.0.0.1"]), Arc::new(lookup));
    let fetched = fetch(&client, &format!("http://rebind.test:{port}/")).await;
    assert!(is_blocked(&fetched), "{fetched:?}");
    assert_eq!(server.accepted(), 1);
}

/// Settings from an environment with a proxy.
fn with_proxy(variable: &'static str, proxy: String) -> WebSettings {
    WebSettings::from_environment(&move |name| (name == variable).then(|| proxy.clone()))
}

#[tokio::test]
async fn a_proxy_may_have_a_private_address_but_its_targets_may_not() {
    let proxy = WebServer::answering(|head| text_page(head.lines().next().unwrap())).await;
    let lookup = || Arc::new(TableLookup::default().with("proxy.test", &[&["127.0.0.1"]]));
    let address = format!("http://proxy.test:{}", proxy.address.port());
    let client = WebClient::with_lookup(with_proxy("HTTP_PROXY", address), lookup());
    // The proxy resolves the name, so it is not looked up here.
    let answered = fetch_text(&client, "http://example.test/page").await;
    assert_eq!(answered, "GET http://example.test/page HTTP/1.1");
    assert_eq!(proxy.accepted(), 1);
    for closed in ["http://127.0.0.1/", "http://[::1]/", "http://localhost/", "http://10.1/"] {
        assert!(is_blocked(&fetch(&client, closed).await), "{closed}");
    }
    let metadata = fetch(&client, "http://metadata.google.internal/").await;
    assert!(is_blocked(&metadata), "{metadata:?}");
    assert_eq!(proxy.accepted(), 1);
    // Without the proxy settings, the proxy's name is not allowed.
    let direct = WebClient::with_lookup(WebSettings::default(), lookup());
    let url = format!("http://proxy.test:{}/", proxy.address.port());
    assert!(is_blocked(&fetch(&direct, &url).await));
}

#[tokio::test]
async fn https_uses_a_tunnel_and_a_refusal_by_the_proxy_is_reported() {
    let proxy = WebServer::answering(|head| {
        assert!(head.starts_with("CONNECT example.test:443 HTTP/1.1\r\n"), "{head}");
        answer("403 Forbidden", "", "")
    })
    .await;
    let settings = with_proxy("https_proxy", format!("http://me:pw@{}", proxy.address));
    let error = fetch(&WebClient::new(settings), "https://example.test/").await.unwrap_err();
    let FetchError::Proxy { host, proxy: shown, .. } = &error else { unreachable!("{error:?}") };
    assert_eq!(
        (host.as_str(), shown.clone()),
        ("example.test", format!("http://…@{}", proxy.address))
    );
    assert!(!error.to_string().contains("pw"), "{error}");
    assert_eq!(proxy.accepted(), 1);
}

#[tokio::test]
async fn an_unusable_proxy_is_an_error_and_never_bypassed() {
    for proxy in ["http://", "nonsense://proxy", "http://127.0.0.1:1"] {
        let client = WebClient::new(with_proxy("ALL_PROXY", proxy.to_owned()));
        let error = fetch(&client, "http://example.test/").await.unwrap_err();
        assert!(matches!(error, FetchError::Proxy { .. }), "{proxy}: {error:?}");
    }
}
