//! Connects through the proxy that this machine must use. That proxy looks up names itself, so only the
//! target's name is checked, not its addresses, as with pages.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use url::{Host, Url, form_urlencoded};

use super::{
    super::{NameLookup, proxy::proxy_url},
    connecting::unreachable,
    refusal::ProxyRefusal,
    target::ProxyTarget,
};

/// The longest head of a proxy's answer.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// Connects to a target with CONNECT. Errors do not contain the proxy's URL: commands need not know it, and
/// it may contain a password.
pub(super) async fn connect(
    proxy: &str,
    target: &ProxyTarget,
    lookup: &dyn NameLookup,
) -> Result<TcpStream, ProxyRefusal> {
    let failed = |cause: &str| {
        let words =
            format!("no connection to `{target}` through the proxy of this machine: {cause}");
        ProxyRefusal::Unreachable(words, std::io::ErrorKind::Other)
    };
    let proxy = proxy_url(proxy).map_err(|_| failed("its address cannot be read"))?;
    if proxy.scheme() != "http" {
        return Err(failed("it is not an `http` proxy, the only kind that works for commands"));
    }
    let port = proxy.port_or_known_default().unwrap_or(80);
    let addresses = match proxy.host() {
        Some(Host::Ipv4(it)) => vec![it.into()],
        Some(Host::Ipv6(it)) => vec![it.into()],
        Some(Host::Domain(name)) => {
            lookup.lookup(name).await.map_err(|_| failed("it could not be found"))?
        }
        None => Vec::new(),
    };
    let mut connected = Err(failed("it has no address"));
    for address in addresses {
        connected =
            TcpStream::connect((address, port)).await.map_err(|it| unreachable(target, &it));
        if connected.is_ok() {
            break;
        }
    }
    let mut stream = connected?;
    let request = format!(
        "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n",
        authorization(&proxy).unwrap_or_default()
    );
    let broken = |err: std::io::Error| failed(&err.to_string());
    stream.write_all(request.as_bytes()).await.map_err(broken)?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= MAX_ANSWER_BYTES {
            return Err(failed("its answer is too long"));
        }
        // Read byte by byte, because data after the head belongs to the target.
        answer.push(stream.read_u8().await.map_err(broken)?);
    }
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split(' ').nth(1).unwrap_or_default();
    if status.len() == 3 && status.starts_with('2') {
        return Ok(stream);
    }
    let shown: String = status.chars().take(3).filter(char::is_ascii_digit).collect();
    Err(failed(&format!("it answers with status `{shown}`")))
}

/// The header with the credentials in the proxy's URL.
fn authorization(proxy: &Url) -> Option<String> {
    let password = proxy.password().unwrap_or_default();
    if proxy.username().is_empty() && password.is_empty() {
        return None;
    }
    let credentials = format!("{}:{}", plain(proxy.username()), plain(password));
    Some(format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(credentials)))
}

/// Decodes the escapes of a part of a URL.
fn plain(part: &str) -> String {
    let value = part.replace('+', "%2B").replace('&', "%26");
    let parsed = form_urlencoded::parse(value.as_bytes()).next();
    parsed
        .map(|(name, value)| if value.is_empty() { name.into() } else { format!("{name}={value}") })
        .unwrap_or_default()
}
