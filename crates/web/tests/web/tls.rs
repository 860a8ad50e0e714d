//! The web client over TLS and HTTP/2, with generated certificates.

use std::{io, sync::Arc, time::Duration};

use http::{Response, StatusCode};
use pretty_assertions::assert_eq;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tempfile::NamedTempFile;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use toolwright_web::{FetchError, TimedPhase, WebClient, WebSettings};

use super::server::{WebServer, fetch, fetch_text, text_page};

/// A certificate authority, and the file with its certificate.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: NamedTempFile,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = NamedTempFile::new().unwrap();
        std::fs::write(file.path(), issuer.pem()).unwrap();
        Self { issuer, file }
    }

    /// TLS for a server with a certificate that this authority signed.
    fn server(&self, protocol: &str, change: impl FnOnce(&mut CertificateParams)) -> TlsAcceptor {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        acceptor(certificate.der().clone(), &key, protocol)
    }

    /// A client that trusts this authority in addition to those of the system, and may connect to this machine.
    fn client(&self) -> WebClient {
        let file = self.file.path().to_str().unwrap().to_owned();
        client_with("NODE_EXTRA_CA_CERTS", &file)
    }
}

fn client_with(variable: &str, file: &str) -> WebClient {
    let mut settings =
        WebSettings::from_environment(&|name| (name == variable).then(|| file.to_owned()));
    settings.allow = vec!["127.0.0.0/8".parse().unwrap()];
    WebClient::new(settings)
}

fn acceptor(
    certificate: rustls::pki_types::CertificateDer<'static>,
    key: &KeyPair,
    protocol: &str,
) -> TlsAcceptor {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// A server that answers every request over TLS with the same page.
async fn page_server(tls: TlsAcceptor) -> WebServer {
    WebServer::raw(move |stream| {
        let tls = tls.clone();
        async move {
            let mut stream = tls.accept(stream).await?;
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await?);
            }
            stream.write_all(&text_page("secure")).await?;
            stream.shutdown().await
        }
    })
    .await
}

fn https(server: &WebServer) -> String {
    server.url("/").replace("http:", "https:")
}

#[tokio::test]
async fn an_authority_of_the_environment_is_trusted() {
    let authority = Authority::new();
    let server = page_server(authority.server("http/1.1", |_| {})).await;
    assert_eq!(fetch_text(&authority.client(), &https(&server)).await, "secure");
    let file = authority.file.path().to_str().unwrap();
    assert_eq!(fetch_text(&client_with("SSL_CERT_FILE", file), &https(&server)).await, "secure");
}

/// Why the client does not trust a server, and its advice.
async fn refusal(client: &WebClient, tls: TlsAcceptor) -> (String, String) {
    let server = page_server(tls).await;
    match fetch(client, &https(&server)).await {
        Err(FetchError::Tls { cause, advice, .. }) => (cause, advice),
        other => unreachable!("{other:?}"),
    }
}

#[tokio::test]
async fn certificates_that_are_not_valid_are_refused_with_the_reason() {
    let authority = Authority::new();
    let client = authority.client();
    let http1 = "http/1.1";
    let expired = authority.server(http1, |it| it.not_after = date_time_ymd(2020, 1, 1));
    assert_eq!(refusal(&client, expired).await.0, "its certificate has expired");
    let early = authority.server(http1, |it| it.not_before = date_time_ymd(2090, 1, 1));
    assert_eq!(refusal(&client, early).await.0, "its certificate is not valid yet");
    let other = authority.server(http1, |it| {
        *it = CertificateParams::new(vec!["other.example".to_owned()]).unwrap();
    });
    assert_eq!(refusal(&client, other).await.0, "its certificate is for another name");

    let untrusted = "its certificate is not signed by an authority that is trusted here";
    let advice = "name a PEM file with the authority's certificate in `NODE_EXTRA_CA_CERTS`";
    let stranger = Authority::new().server(http1, |_| {});
    let wanted = (untrusted.to_owned(), advice.to_owned());
    assert_eq!(refusal(&client, stranger).await, wanted);
    let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let own = acceptor(own.cert.der().clone(), &own.signing_key, http1);
    assert_eq!(refusal(&client, own).await, wanted);
}

#[tokio::test]
async fn an_unusable_file_of_authorities_is_named_in_the_advice() {
    let authority = Authority::new();
    let client = client_with("NODE_EXTRA_CA_CERTS", "/nowhere/ca.pem");
    let (_, advice) = refusal(&client, authority.server("http/1.1", |_| {})).await;
    assert!(advice.contains("(`NODE_EXTRA_CA_CERTS`: `/nowhere/ca.pem`: "), "{advice}");
}

#[tokio::test]
async fn a_server_without_tls_is_an_error_and_never_used_without_encryption() {
    let client = Authority::new().client();
    let talker = WebServer::raw(|mut stream: TcpStream| async move {
        stream.write_all(b"220 mail.example ESMTP ready, what do you want?\r\n").await?;
        stream.read_to_end(&mut Vec::new()).await.map(|_| ())
    })
    .await;
    let error = fetch(&client, &https(&talker)).await.unwrap_err();
    let FetchError::Tls { cause, .. } = &error else { unreachable!("{error:?}") };
    assert_eq!(cause, "the server does not speak TLS on this port");
}

#[tokio::test]
async fn a_server_that_disconnects_during_the_handshake_is_an_error() {
    let server = WebServer::raw(|mut stream| async move {
        stream.read_u8().await?;
        stream.shutdown().await
    })
    .await;
    let fetched = fetch(&Authority::new().client(), &https(&server)).await;
    assert!(matches!(fetched, Err(FetchError::Connect { .. })), "{fetched:?}");
}

#[tokio::test]
async fn an_endless_handshake_times_out() {
    let server = WebServer::raw(|mut stream| async move {
        stream.read_to_end(&mut Vec::new()).await.map(|_| ())
    })
    .await;
    let mut settings = WebSettings::default();
    settings.allow = vec!["127.0.0.1".parse().unwrap()];
    settings.limits.connect = Duration::from_secs(1);
    let fetched = fetch(&WebClient::new(settings), &https(&server)).await;
    let wanted = FetchError::Timeout {
        host: server.address.to_string(),
        phase: TimedPhase::Connect,
        limit: Duration::from_secs(1),
    };
    assert_eq!(fetched, Err(wanted));
}

type Http2 = h2::server::Connection<TlsStream<TcpStream>, bytes::Bytes>;

/// What an HTTP/2 server does with each connection.
#[derive(Clone, Copy, Debug)]
enum Http2Manner {
    /// It answers every request.
    Answers,
    /// It resets every request.
    Resets(h2::Reason),
    /// It sends half an answer, and then resets it.
    ResetsHalfway,
    /// It sends GOAWAY and disconnects without an answer.
    GoesAway,
    /// It disconnects in the middle of an answer.
    Disconnects,
    /// It answers with headers that are larger than the client accepts.
    Floods,
}

async fn serve_http2(mut connection: Http2, manner: Http2Manner) -> io::Result<()> {
    while let Some(request) = connection.accept().await {
        let Ok((_, mut respond)) = request else { return Ok(()) };
        let ok = || Response::builder().status(StatusCode::OK);
        match manner {
            Http2Manner::Answers => {
                let mut body = respond.send_response(ok().body(()).unwrap(), false).unwrap();
                body.send_data("over HTTP/2".into(), true).unwrap();
            }
            Http2Manner::Resets(reason) => respond.send_reset(reason),
            Http2Manner::ResetsHalfway => {
                let mut body = respond.send_response(ok().body(()).unwrap(), false).unwrap();
                body.send_data("half".into(), false).unwrap();
                body.send_reset(h2::Reason::INTERNAL_ERROR);
            }
            Http2Manner::GoesAway => connection.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM),
            Http2Manner::Disconnects => {
                let mut body = respond.send_response(ok().body(()).unwrap(), false).unwrap();
                body.send_data("half".into(), false).unwrap();
                // The data are sent while this waits for another request, which never arrives.
                let next = std::future::poll_fn(|cx| connection.poll_accept(cx));
                let _ = tokio::time::timeout(Duration::from_millis(100), next).await;
                return Ok(());
            }
            Http2Manner::Floods => {
                let flood = (0..64)
                    .fold(ok(), |it, index| it.header(format!("x-{index}"), "y".repeat(8_000)));
                respond.send_response(flood.body(()).unwrap(), true).unwrap();
            }
        }
    }
    Ok(())
}

async fn http2_server(authority: &Authority, manner: Http2Manner) -> WebServer {
    let tls = authority.server("h2", |_| {});
    WebServer::raw(move |stream| {
        let tls = tls.clone();
        async move {
            let stream = tls.accept(stream).await?;
            let connection = h2::server::handshake(stream).await.map_err(io::Error::other)?;
            serve_http2(connection, manner).await
        }
    })
    .await
}

#[tokio::test]
async fn http2_is_used_over_one_connection_if_the_server_supports_it() {
    let authority = Authority::new();
    let server = http2_server(&authority, Http2Manner::Answers).await;
    let client = authority.client();
    for path in ["a", "b", "c"] {
        let url = format!("{}{path}", https(&server));
        assert_eq!(fetch_text(&client, &url).await, "over HTTP/2");
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn resets_and_disconnects_of_http2_are_errors() {
    let authority = Authority::new();
    for manner in [
        Http2Manner::Resets(h2::Reason::INTERNAL_ERROR),
        Http2Manner::Resets(h2::Reason::REFUSED_STREAM),
        Http2Manner::Resets(h2::Reason::HTTP_1_1_REQUIRED),
        Http2Manner::ResetsHalfway,
        Http2Manner::GoesAway,
        Http2Manner::Disconnects,
        Http2Manner::Floods,
    ] {
        let server = http2_server(&authority, manner).await;
        let fetched = fetch(&authority.client(), &https(&server)).await;
        assert!(matches!(fetched, Err(FetchError::Protocol { .. })), "{manner:?}: {fetched:?}");
        // A refused request may be retried, but not forever.
        assert!(server.accepted() <= 4, "{manner:?}: {}", server.accepted());
    }
}
