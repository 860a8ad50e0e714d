//! Programs that talk to other hosts.

use super::super::{
    Operands, PLAIN, Program, Style,
    Takes::{
        Data, Flag, Form, ListedIn, MaybeText, Puts, PutsHere, Reads, StoresByName, Text, Unclear,
        UnclearValue, Uploads, Writes,
    },
    Use,
};

const CURL: Program = Program {
    names: &["curl"],
    options: &[
        (Flag, &[
            "-s", "--silent", "-S", "--show-error", "-f", "--fail", "--fail-with-body",
            "--fail-early", "-L", "--location", "--location-trusted", "-k", "--insecure", "-i",
            "--include", "--show-headers", "-I", "--head", "-v", "--verbose", "-g", "--globoff",
            "-G", "--get", "-N", "--no-buffer", "-n", "--netrc", "--netrc-optional", "-p",
            "--proxytunnel", "-q", "--disable", "-#", "--progress-bar", "--no-progress-meter", "-0",
            "--http1.0", "--http1.1", "--http2", "--http2-prior-knowledge", "--http3", "-1",
            "--tlsv1", "--tlsv1.2", "--tlsv1.3", "-4", "--ipv4", "-6", "--ipv6", "-a", "--append",
            "-B", "--use-ascii", "-R", "--remote-time", "-l", "--list-only", "--compressed",
            "--create-dirs", "--anyauth", "--basic", "--digest", "--negotiate", "--ntlm", "-j",
            "--junk-session-cookies", "--tcp-nodelay", "--tcp-fastopen", "--raw",
            "--retry-all-errors", "--retry-connrefused", "--path-as-is", "-Z", "--parallel",
            "--ssl", "--ssl-reqd", "--styled-output", "--no-clobber", "-:", "--next", "-h",
            "--help", "-V", "--version", "-M", "--manual",
        ]),
        (Text, &[
            "-X", "--request", "-A", "--user-agent", "-e", "--referer", "-u", "--user", "-m",
            "--max-time", "--connect-timeout", "--retry", "--retry-delay", "--retry-max-time", "-x",
            "--proxy", "-U", "--proxy-user", "--noproxy", "-r", "--range", "-y", "--speed-time",
            "-Y", "--speed-limit", "--limit-rate", "--max-redirs", "--max-filesize", "--resolve",
            "--connect-to", "--interface", "--dns-servers", "-C", "--continue-at",
            "--oauth2-bearer", "--aws-sigv4", "--ciphers", "--tls-max", "--cert-type", "--key-type",
            "--pass", "--local-port", "--proto", "--proto-default", "--proto-redir", "-t",
            "--telnet-option", "--rate", "--parallel-max", "--keepalive-time", "--form-string",
            "--request-target", "--socks5", "--socks5-hostname", "--preproxy", "--doh-url", "-P",
            "--ftp-port", "--expect100-timeout", "--happy-eyeballs-timeout-ms",
        ]),
        (Data, &[
            "-d", "--data", "--data-ascii", "--data-binary", "--data-urlencode", "--json", "-H",
            "--header", "--proxy-header", "-w", "--write-out", "--url-query", "--variable",
            "--expand-data",
        ]),
        // A file with cookies, or the cookies.
        (Reads, &["-b", "--cookie"]),
        (Text, &["--data-raw"]),
        (Form, &["-F", "--form"]),
        (Uploads, &["-T", "--upload-file"]),
        (Reads, &[
            "-E", "--cert", "--key", "--cacert", "--capath", "--crlfile", "--netrc-file",
            "--pubkey", "--proxy-cacert", "-z", "--time-cond", "--etag-compare", "--unix-socket",
            "--abstract-unix-socket", "--random-file", "--pinnedpubkey",
        ]),
        (Writes, &[
            "-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header", "--trace",
            "--trace-ascii", "--stderr", "--etag-save", "--libcurl", "--hsts", "--alt-svc",
        ]),
        (Puts, &["--output-dir"]),
        (StoresByName, &["-O", "--remote-name", "--remote-name-all"]),
        (PutsHere, &["-J", "--remote-header-name"]),
        (UnclearValue, &["-K", "--config", "--engine", "-Q", "--quote", "--url"]),
    ],
    operands: Operands::Addresses,
    ..PLAIN
};

const WGET: Program = Program {
    names: &["wget"],
    options: &[
        (Flag, &[
            "-q", "--quiet", "-v", "--verbose", "-nv", "--no-verbose", "-c", "--continue", "-S",
            "--server-response", "--spider", "-N", "--timestamping", "-nc", "--no-clobber", "-4",
            "-6", "--no-check-certificate", "--show-progress", "--no-proxy", "-d", "-b", "-nd",
            "--no-directories", "--https-only", "--no-cache", "--no-hsts", "-V", "-h", "--help",
            "--version", "--no-cookies", "--no-config",
        ]),
        (Text, &[
            "-t", "--tries", "-T", "--timeout", "-w", "--wait", "-U", "--user-agent", "--header",
            "--referer", "--user", "--password", "--limit-rate", "--method", "--body-data",
            "--post-data", "--progress", "--max-redirect", "--dns-timeout", "--connect-timeout",
            "--read-timeout", "--waitretry", "--secure-protocol",
        ]),
        (Writes, &[
            "-O", "--output-document", "-o", "--output-file", "-a", "--append-output",
            "--save-cookies", "--warc-file", "--rejected-log",
        ]),
        (Reads, &[
            "--post-file", "--body-file", "--load-cookies", "--ca-certificate", "--certificate",
            "--private-key",
        ]),
        (Puts, &["-P", "--directory-prefix"]),
        (PutsHere, &[
            "-r", "--recursive", "-m", "--mirror", "-x", "--force-directories", "-k",
            "--convert-links", "-p", "--page-requisites", "--content-disposition",
            "--trust-server-names", "-E", "--adjust-extension",
        ]),
        (ListedIn, &["-i", "--input-file"]),
        (UnclearValue, &["-e", "--execute", "--config", "--use-askpass"]),
        (Unclear, &["-F", "--force-html"]),
    ],
    operands: Operands::Downloads,
    ..PLAIN
};

const SSH: Program = Program {
    names: &["ssh", "sftp", "mosh", "telnet", "nc", "ncat", "netcat", "socat"],
    options: &[
        (Flag, &["-4", "-6", "-v", "-T", "-N", "-q", "-V"]),
        (Text, &["-p", "-l"]),
        (Reads, &["-i"]),
    ],
    operands: Operands::Unclear,
    style: Style::Leading,
    ..PLAIN
};

const ASKS: Program = Program {
    names: &[
        "ping", "dig", "nslookup", "host", "traceroute", "whois", "ss", "netstat", "ip", "ifconfig",
        "lsof",
    ],
    options: &[
        (Flag, &[
            "-4", "-6", "-v", "-q", "-n", "-a", "-t", "-u", "-l", "-p", "-r", "-s", "-o", "-br",
            "-d", "-j", "-P", "-e", "-x",
        ]),
        (Text, &["-c", "-w", "-W", "-i", "-I"]),
        (Reads, &["-f", "-b"]),
    ],
    operands: Operands::Files(Use::Reads),
    style: Style::Whole,
    ..PLAIN
};

const HTTPIE: Program = Program {
    names: &["http", "https", "xh"],
    options: &[(MaybeText, &["--json"]), (Flag, &["-v", "-h", "-b"])],
    operands: Operands::Unclear,
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] = &[CURL, WGET, SSH, ASKS, HTTPIE];
