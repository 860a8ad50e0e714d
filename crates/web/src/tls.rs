//! TLS of the web client, and the authorities it trusts.
//!
//! It trusts the authorities of the system and those in files that the environment names. On a machine
//! without any, such as a slim container, it trusts those of Mozilla, as Node.js does.

use std::{io::Read as _, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, pem::PemObject as _},
};
use toolwright_base::regular_file;

use super::settings::ExtraAuthorities;

/// The maximum size of a certificate file. The largest bundles have a quarter of a megabyte.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Where systems keep the certificates of authorities.
#[cfg(not(any(target_vendor = "apple", windows)))]
const SYSTEM_FILES: [&str; 8] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
    "/data/data/com.termux/files/usr/etc/tls/cert.pem",
];

/// The TLS configuration, and problems found while creating it.
#[derive(Clone)]
pub(super) struct TlsSetup {
    pub(super) config: ClientConfig,
    /// Configured files that could not be used, to mention in TLS errors.
    pub(super) problems: Vec<String>,
}

/// Reads certificates and configures TLS. Blocks.
pub(super) fn set_up(extra: &[ExtraAuthorities]) -> Result<TlsSetup, String> {
    let provider = Arc::new(ring::default_provider());
    let mut problems = Vec::new();
    let mut authorities = Vec::new();
    for ExtraAuthorities { variable, file } in extra {
        match certificates_in(file) {
            Ok(found) if found.is_empty() => {
                problems.push(format!("`{variable}`: `{}` has no certificate", file.display()));
            }
            Ok(found) => authorities.extend(found),
            Err(cause) => problems.push(format!("`{variable}`: `{}`: {cause}", file.display())),
        }
    }
    let verifier = verifier(authorities, Arc::clone(&provider))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|err| err.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsSetup { config, problems })
}

/// Verifies certificates as the system does.
#[cfg(any(target_vendor = "apple", windows))]
fn verifier(
    extra: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(extra, provider);
    Ok(Arc::new(verifier.map_err(|err| err.to_string())?))
}

#[cfg(not(any(target_vendor = "apple", windows)))]
fn verifier(
    extra: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    let system = SYSTEM_FILES.iter().find_map(|file| {
        let found = certificates_in(file.as_ref()).ok()?;
        (!found.is_empty()).then_some(found)
    });
    match system {
        Some(found) => {
            roots.add_parsable_certificates(found);
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    roots.add_parsable_certificates(extra);
    let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider).build();
    let verifier: Arc<WebPkiServerVerifier> = verifier.map_err(|err| err.to_string())?;
    Ok(verifier)
}

/// The certificates in a PEM file. Other content is ignored.
fn certificates_in(file: &std::path::Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut pem = Vec::new();
    let opened = regular_file::open(file).map_err(|err| err.to_string())?;
    opened.take(MAX_FILE_BYTES).read_to_end(&mut pem).map_err(|err| err.to_string())?;
    Ok(CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect())
}
