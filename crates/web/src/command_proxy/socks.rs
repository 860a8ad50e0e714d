//! SOCKS5 (RFC 1928): only CONNECT, and no password, because only the command can reach the proxy.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr},
};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{activity::ProxyStream, refusal::ProxyRefusal, target::ProxyTarget};

/// The version, the first byte of every message.
pub(super) const SOCKS_VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
/// Reply codes that no [`ProxyRefusal`] maps to.
const DONE: u8 = 0;
const UNKNOWN_COMMAND: u8 = 7;
const UNKNOWN_ADDRESS: u8 = 8;

/// Reads the client's target. `None` if the request was already answered here.
pub(super) async fn read_request(client: &mut ProxyStream) -> io::Result<Option<ProxyTarget>> {
    let _version = client.read_u8().await?;
    let mut methods = vec![0; client.read_u8().await?.into()];
    client.read_exact(&mut methods).await?;
    if !methods.contains(&NO_PASSWORD) {
        client.write_all(&[SOCKS_VERSION, NO_METHOD]).await?;
        return Ok(None);
    }
    client.write_all(&[SOCKS_VERSION, NO_PASSWORD]).await?;
    let mut head = [0; 4];
    client.read_exact(&mut head).await?;
    let [version, command, _, kind] = head;
    if version != SOCKS_VERSION {
        return Ok(None);
    }
    let host = match kind {
        1 => Some(Ipv4Addr::from_bits(client.read_u32().await?).to_string()),
        4 => Some(Ipv6Addr::from_bits(client.read_u128().await?).to_string()),
        3 => {
            let mut name = vec![0; client.read_u8().await?.into()];
            client.read_exact(&mut name).await?;
            String::from_utf8(name).ok()
        }
        _ => {
            answer(client, UNKNOWN_ADDRESS).await?;
            return Ok(None);
        }
    };
    let port = client.read_u16().await?;
    if command != CONNECT {
        answer(client, UNKNOWN_COMMAND).await?;
        return Ok(None);
    }
    let target = host.and_then(|it| ProxyTarget::new(&it, port));
    if target.is_none() {
        answer(client, UNKNOWN_ADDRESS).await?;
    }
    Ok(target)
}

/// Sends a client the result of its request.
pub(super) async fn answer_request(
    client: &mut ProxyStream,
    refusal: Option<&ProxyRefusal>,
) -> io::Result<()> {
    answer(client, refusal.map_or(DONE, ProxyRefusal::socks_code)).await
}

/// Sends a reply. Its address field is left empty, because clients do not need it.
async fn answer(client: &mut ProxyStream, code: u8) -> io::Result<()> {
    client.write_all(&[SOCKS_VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
