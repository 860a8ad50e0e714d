//! The messages between the host and the supervisor.
//!
//! The host sends a [`CommandRequest`] together with descriptors: a connection for this command
//! alone, the pipe for its output, the plan of its sandbox if it has one, and for a helper also
//! those for its errors and its input. Over the connection the keeper first reports that it has
//! accepted the request. It sends an [`EndReport`] once all processes of the command are gone. If
//! the connection closes before the first message, the command was not started and never will be.
//! The host may send a [`stop_message`]. Closing the connection also stops the command, so the
//! commands of a host end when the host dies.

use crate::sandbox_plan::LimitKind;

/// Identifies a process. The start time distinguishes it from a later process with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessIdentity {
    /// The process id.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did.
    pub started: u64,
}

/// The first message of a supervisor, followed by an encoded `SandboxSupport`. A supervisor that
/// sends another prefix has another version and is not used.
pub const HELLO: [u8; 8] = *b"tw-sup-5";

/// The longest request in bytes. A request is one message, so that exactly one of the waiting
/// processes receives all of it.
pub const MAX_REQUEST_BYTES: usize = 160 * 1024;

/// The most descriptors that are sent with a request.
pub const MAX_DESCRIPTORS: usize = 6;

/// The length of a stop message in bytes.
pub const STOP_BYTES: usize = 4;

/// The longest working directory that is reported, in bytes.
pub const MAX_CWD_BYTES: usize = 4_096;

/// The environment variable that marks all processes of a command. Children inherit it, even if they leave
/// their group, session and parent.
pub const COOKIE: &str = "TOOLWRIGHT_COMMAND";

/// The value of [`COOKIE`] for the command of a keeper.
pub fn cookie_of(keeper: ProcessIdentity) -> String {
    format!("{}-{}", keeper.pid, keeper.started)
}

/// The kind of command that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A command of a model: no input, one stream for output and errors, and the environment for
    /// commands.
    Command,
    /// A command of the host: an input, separate output and errors, and the environment for
    /// helpers.
    Helper,
    /// A third-party program that the host talks to: like a helper, but with the environment for
    /// commands.
    Server,
}

/// A request to run one command.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandRequest {
    /// The kind of command.
    pub kind: RequestKind,
    /// True if a file with the plan of its sandbox is sent along.
    pub is_sandboxed: bool,
    /// True if a socket is sent along, after the plan, over which the host's proxy receives its
    /// listening socket.
    pub is_proxied: bool,
    /// How long processes that the shell left behind may continue before they are stopped.
    pub linger_ms: u32,
    /// The time between SIGTERM and SIGKILL, for these processes, and for all when the host is gone.
    pub grace_ms: u32,
    /// The path of the shell.
    pub shell: Vec<u8>,
    /// The working directory to start in.
    pub cwd: Vec<u8>,
    /// The command line.
    pub command: Vec<u8>,
    /// Variables that add to or replace those of its kind, each as `NAME=value`.
    pub variables: Vec<Vec<u8>>,
    /// The positional parameters of the command line, `$1` and so on.
    pub parameters: Vec<Vec<u8>>,
}

impl CommandRequest {
    /// Encodes the request as one message.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.command.len() + self.cwd.len() + 64);
        body.push(match self.kind {
            RequestKind::Command => 0,
            RequestKind::Helper => 1,
            RequestKind::Server => 2,
        });
        body.push(u8::from(self.is_sandboxed));
        body.push(u8::from(self.is_proxied));
        body.extend(self.linger_ms.to_le_bytes());
        body.extend(self.grace_ms.to_le_bytes());
        body.extend(u32::try_from(self.variables.len()).unwrap_or(u32::MAX).to_le_bytes());
        let texts = [&self.shell, &self.cwd, &self.command].into_iter();
        for text in texts.chain(&self.variables).chain(&self.parameters) {
            body.extend(length(text).to_le_bytes());
            body.extend(text);
        }
        body
    }

    /// Decodes a request.
    pub fn decode(mut body: &[u8]) -> Option<Self> {
        let kind = match take_byte(&mut body)? {
            0 => RequestKind::Command,
            1 => RequestKind::Helper,
            2 => RequestKind::Server,
            _ => return None,
        };
        let is_sandboxed = take_byte(&mut body)? == 1;
        let is_proxied = take_byte(&mut body)? == 1;
        let (linger_ms, grace_ms) = (take_u32(&mut body)?, take_u32(&mut body)?);
        let variables = take_u32(&mut body)?;
        Some(Self {
            kind,
            is_sandboxed,
            is_proxied,
            linger_ms,
            grace_ms,
            shell: take_text(&mut body)?,
            cwd: take_text(&mut body)?,
            command: take_text(&mut body)?,
            variables: (0..variables).map(|_| take_text(&mut body)).collect::<Option<Vec<_>>>()?,
            parameters: take_texts(&mut body)?,
        })
    }
}

/// A message from a keeper to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeeperMessage {
    /// This process is the keeper and has accepted the request. Its id is also the id of the
    /// command's session.
    Accepted(ProcessIdentity),
    /// All processes of the command have ended.
    Ended(EndReport),
}

impl KeeperMessage {
    /// Encodes the message with its length.
    pub fn encode(&self) -> Vec<u8> {
        let (tag, body) = match self {
            Self::Accepted(keeper) => {
                let mut body = keeper.pid.to_le_bytes().to_vec();
                body.extend(keeper.started.to_le_bytes());
                (0, body)
            }
            Self::Ended(ended) => (1, ended.encode()),
        };
        let mut message = vec![tag];
        message.extend(length(&body).to_le_bytes());
        message.extend(body);
        message
    }

    /// Removes the first message from the received bytes. `None` while it is incomplete.
    pub fn take(bytes: &mut Vec<u8>) -> Option<Self> {
        let mut rest = bytes.as_slice();
        let tag = take_byte(&mut rest)?;
        let body = take_text(&mut rest)?;
        let consumed = bytes.len() - rest.len();
        bytes.drain(..consumed);
        match tag {
            0 => {
                let mut body = body.as_slice();
                let pid = take_u32(&mut body)?.cast_signed();
                let started = u64::from_le_bytes(body.try_into().ok()?);
                Some(Self::Accepted(ProcessIdentity { pid, started }))
            }
            _ => EndReport::decode(&body).map(Self::Ended),
        }
    }
}

/// How a command ended, as its keeper reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndReport {
    /// The exit code of the shell, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the shell, if one did.
    pub signal: Option<i32>,
    /// The error number of the failed start, if the shell could not be started.
    pub spawn_error: Option<i32>,
    /// Why the sandbox could not be made, if it could not. The shell was not started then.
    pub sandbox_error: Option<String>,
    /// The sandbox limit that the command reached, if known.
    pub limit_hit: Option<LimitKind>,
    /// How many processes outlived the shell and were stopped.
    pub stopped: u32,
    /// How many processes could not be killed.
    pub survivors: u32,
    /// True when a process that outlived the shell could still write to the output.
    pub held_output: bool,
    /// The shell's last working directory, if it is known.
    pub cwd: Option<Vec<u8>>,
}

impl EndReport {
    fn encode(&self) -> Vec<u8> {
        let mut message = Vec::with_capacity(64);
        for number in [self.exit_code, self.signal, self.spawn_error] {
            message.push(u8::from(number.is_some()));
            message.extend(number.unwrap_or_default().to_le_bytes());
        }
        message.push(self.limit_hit.map_or(0, limit_byte));
        message.push(u8::from(self.sandbox_error.is_some()));
        let error = self.sandbox_error.as_deref().unwrap_or_default();
        message.extend(length(error.as_bytes()).to_le_bytes());
        message.extend(error.as_bytes());
        message.extend(self.stopped.to_le_bytes());
        message.extend(self.survivors.to_le_bytes());
        message.push(u8::from(self.held_output));
        message.push(u8::from(self.cwd.is_some()));
        let cwd = self.cwd.as_deref().unwrap_or_default();
        message.extend(length(cwd).to_le_bytes());
        message.extend(cwd);
        message
    }

    fn decode(mut message: &[u8]) -> Option<Self> {
        let mut optional = || {
            let present = take_byte(&mut message)?;
            let number = take_u32(&mut message)?.cast_signed();
            Some((present == 1).then_some(number))
        };
        let (exit_code, signal, spawn_error) = (optional()?, optional()?, optional()?);
        let limit_hit = limit_of(take_byte(&mut message)?);
        let has_error = take_byte(&mut message)? == 1;
        let error = String::from_utf8_lossy(&take_text(&mut message)?).into_owned();
        let (stopped, survivors) = (take_u32(&mut message)?, take_u32(&mut message)?);
        let held_output = take_byte(&mut message)? == 1;
        let has_cwd = take_byte(&mut message)? == 1;
        let cwd = Some(take_text(&mut message)?).filter(|_| has_cwd);
        Some(Self {
            exit_code,
            signal,
            spawn_error,
            sandbox_error: has_error.then_some(error),
            limit_hit,
            stopped,
            survivors,
            held_output,
            cwd,
        })
    }
}

/// A limit as one byte, which is not 0.
pub const fn limit_byte(limit: LimitKind) -> u8 {
    match limit {
        LimitKind::Cpu => 1,
        LimitKind::Memory => 2,
        LimitKind::Processes => 3,
        LimitKind::FileSize => 4,
    }
}

/// The limit of a byte.
pub const fn limit_of(byte: u8) -> Option<LimitKind> {
    match byte {
        1 => Some(LimitKind::Cpu),
        2 => Some(LimitKind::Memory),
        3 => Some(LimitKind::Processes),
        4 => Some(LimitKind::FileSize),
        _ => None,
    }
}

/// A request to stop a command: SIGTERM now, SIGKILL after the grace period.
pub fn stop_message(grace_ms: u32) -> [u8; STOP_BYTES] {
    grace_ms.to_le_bytes()
}

fn length(text: &[u8]) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}

fn take_text(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let length = take_u32(bytes)? as usize;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(text.to_vec())
}

/// All texts up to the end of a message.
fn take_texts(bytes: &mut &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    while !bytes.is_empty() {
        texts.push(take_text(bytes)?);
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_encoding_and_arrive_in_any_pieces() {
        let request = CommandRequest {
            kind: RequestKind::Helper,
            is_sandboxed: true,
            is_proxied: true,
            linger_ms: 1,
            grace_ms: u32::MAX,
            shell: b"/bin/bash".to_vec(),
            cwd: b"/tmp/\xff".to_vec(),
            command: b"true".to_vec(),
            variables: vec![b"A=b=c".to_vec(), b"EMPTY=".to_vec()],
            parameters: vec![b"-x \n'$(id)".to_vec(), Vec::new()],
        };
        let body = request.encode();
        assert_eq!(CommandRequest::decode(&body), Some(request));
        assert_eq!(body.split_last().and_then(|(_, short)| CommandRequest::decode(short)), None);
        let sent = [
            KeeperMessage::Accepted(ProcessIdentity { pid: 7, started: u64::MAX }),
            KeeperMessage::Ended(EndReport {
                exit_code: Some(-1),
                stopped: 3,
                sandbox_error: Some("no".to_owned()),
                limit_hit: Some(LimitKind::FileSize),
                held_output: true,
                cwd: Some(b"/a\nb".to_vec()),
                ..EndReport::default()
            }),
        ];
        let (mut bytes, mut messages) = (Vec::new(), Vec::new());
        for byte in sent.iter().flat_map(KeeperMessage::encode) {
            bytes.push(byte);
            messages.extend(KeeperMessage::take(&mut bytes));
        }
        assert_eq!((messages.as_slice(), bytes.len()), (sent.as_slice(), 0));
    }
}
