//! The messages between the host and the supervisor.
//!
//! The host sends a [`CommandRequest`] together with descriptors: a connection for this command
//! alone, the pipe for its output, the plan of its sandbox if it has one, and for a helper also
//! those for its errors and its input. Over the connection the keeper first reports that it has
//! accepted the request. It sends an [`EndReport`] once all processes of the command are gone. If
//! the connection closes before the first message, the command was not started and never will be.
//! The host may send a [`stop_message`]. Closing the connection also stops the command, so the
//! commands of a host end when the host dies.

use serde::{Deserialize, Serialize};

use crate::{sandbox_plan::LimitKind, wire};

/// Identifies a process. The start time distinguishes it from a later process with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct ProcessIdentity {
    /// The process id.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did.
    pub started: u64,
}

/// The first message of a supervisor, followed by an encoded `SandboxSupport`. A supervisor that
/// sends another prefix has another version and is not used.
pub const HELLO: [u8; 8] = *b"tw-sup-6";

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
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
        wire::encode(self)
    }

    /// Decodes a request. `None` if the bytes are not exactly one request.
    pub fn decode(message: &[u8]) -> Option<Self> {
        wire::decode(message)
    }
}

/// A message from a keeper to the host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
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
        let body = wire::encode(self);
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        [length.to_le_bytes().as_slice(), &body].concat()
    }

    /// Removes the first message from the received bytes. `None` while it is incomplete.
    pub fn take(bytes: &mut Vec<u8>) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let message = rest.get(..length).map(wire::decode)?;
        bytes.drain(..4 + length);
        message
    }
}

/// How a command ended, as its keeper reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
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

/// A request to stop a command: SIGTERM now, SIGKILL after the grace period.
pub fn stop_message(grace_ms: u32) -> [u8; STOP_BYTES] {
    grace_ms.to_le_bytes()
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
