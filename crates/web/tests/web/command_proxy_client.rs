//! A command's proxy on loopback, and a client that sends raw bytes to it.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    runtime::Handle,
};
use toolwright_web::{
    CommandProxy, ProxyHosts, ProxyOrder, ProxyTimes, TargetJudge, WebClient, WebSettings,
};

use super::{
    guard::TableLookup,
    server::{read_head, settings_allowing},
};

/// A proxy and its address.
pub(crate) struct ProxyBed {
    pub(crate) proxy: CommandProxy,
    pub(crate) client: WebClient,
    pub(crate) address: SocketAddr,
}

impl ProxyBed {
    /// A proxy for these hosts, by a web client that may connect to this machine.
    pub(crate) fn local(hosts: &[&str]) -> Self {
        Self::with(hosts, settings_allowing(&["127.0.0.0/8"]), TableLookup::default())
    }

    pub(crate) fn with(hosts: &[&str], settings: WebSettings, names: TableLookup) -> Self {
        let client = WebClient::with_lookup(settings, Arc::new(names));
        Self::of(hosts, client, Arc::new(|_, _| Ok(())), ProxyTimes::default())
    }

    pub(crate) fn of(
        hosts: &[&str],
        client: WebClient,
        judge: TargetJudge,
        times: ProxyTimes,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let hosts = ProxyHosts::parse(hosts.iter().copied()).unwrap();
        let order = ProxyOrder { hosts, judge, times };
        let proxy = client.serve_proxy(listener, order, &Handle::current());
        Self { proxy, client, address }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes and reads everything until the proxy closes the connection.
    pub(crate) async fn ask(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        rest_of(stream).await
    }

    /// Sends CONNECT. Returns the stream if it becomes a tunnel, or the status line and the text of
    /// the error.
    pub(crate) async fn tunnel(&self, target: &str) -> Result<TcpStream, (String, String)> {
        let mut stream = self.connect().await;
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = read_head(&mut stream).await.unwrap();
        if head.starts_with("HTTP/1.1 200 OK\r\n") {
            return Ok(stream);
        }
        let length = head.lines().find_map(|it| it.strip_prefix("content-length: ")).unwrap();
        let mut text = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut text).await.unwrap();
        let status = head.lines().next().unwrap().trim_start_matches("HTTP/1.1 ").to_owned();
        Err((status, String::from_utf8(text).unwrap()))
    }

    /// Sends a SOCKS request. Returns the code of the answer, and the stream.
    pub(crate) async fn socks(&self, address: &[u8], port: u16) -> (u8, TcpStream) {
        let mut stream = self.connect().await;
        stream.write_all(&[5, 2, 2, 0]).await.unwrap();
        let mut chosen = [0; 2];
        stream.read_exact(&mut chosen).await.unwrap();
        assert_eq!(chosen, [5, 0]);
        let request = [&[5, 1, 0], address, &port.to_be_bytes()].concat();
        stream.write_all(&request).await.unwrap();
        let mut answer = [0; 10];
        stream.read_exact(&mut answer).await.unwrap();
        let [version, code, ..] = answer;
        assert_eq!(version, 5);
        (code, stream)
    }
}

/// A host name in the encoding of a SOCKS request.
pub(crate) fn socks_name(name: &str) -> Vec<u8> {
    [&[3, u8::try_from(name.len()).unwrap()], name.as_bytes()].concat()
}

/// Everything that arrives until the other side closes or resets the connection.
pub(crate) async fn rest_of(mut stream: TcpStream) -> String {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest).await {
        Ok(_) => {}
        Err(err) => assert_eq!(err.kind(), io::ErrorKind::ConnectionReset),
    }
    String::from_utf8(rest).unwrap()
}
