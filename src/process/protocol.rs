//! What a host and its supervisor say to each other. Both compile this file; it knows nothing else.
//!
//! The host sends a [`CommandRequest`] with descriptors: where output goes, one end of the command's own line,
//! and for a helper also its errors and its input. Over the line the keeper says that it has taken the
//! request before it does anything, and [`EndReport`] once everything is gone. A line that closes before the
//! first message belongs to a request that nobody will run. The host may send [`stop_message`]; closing
//! the line is a stop, too, which is how the death of a host reaches every command.

/// A process as it was seen. Its start time tells it from a later one with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: i32,
    pub(crate) started: u64,
}

/// What a supervisor says first; another version of it is not used.
pub(crate) const HELLO: [u8; 8] = *b"tw-sup-2";

/// The longest request. It is one message, so that only one of those who wait gets all of it.
pub(crate) const MAX_REQUEST_BYTES: usize = 160 * 1024;

/// The most descriptors that come with a request.
pub(crate) const MAX_DESCRIPTORS: usize = 4;

/// A stop message has this many bytes.
pub(crate) const STOP_BYTES: usize = 4;

/// The longest working directory that is told.
pub(crate) const MAX_CWD_BYTES: usize = 4_096;

/// The variable that tells everything a command starts from everything else: it is passed on to children
/// and survives whatever they do to leave their group, session and parent.
pub(crate) const COOKIE: &str = "TOOLWRIGHT_COMMAND";

/// The value of [`COOKIE`] for the command of a keeper.
pub(crate) fn cookie_of(keeper: ProcessIdentity) -> String {
    format!("{}-{}", keeper.pid, keeper.started)
}

/// What kind of command a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A command of a model: without input, its outputs in one, in the environment for commands.
    Command,
    /// A command of the host itself: with input, its outputs apart, in the host's environment.
    Helper,
}

/// One command to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandRequest {
    /// What kind it is.
    pub(crate) kind: RequestKind,
    /// How long processes that the shell left behind may take to end by themselves.
    pub(crate) linger_ms: u32,
    /// How long they get between TERM and KILL then, and all of them when the host is gone.
    pub(crate) grace_ms: u32,
    /// The shell's path.
    pub(crate) shell: Vec<u8>,
    /// Where it starts.
    pub(crate) cwd: Vec<u8>,
    /// What it runs.
    pub(crate) command: Vec<u8>,
}

impl CommandRequest {
    /// The request as it is sent.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.command.len() + self.cwd.len() + 64);
        body.push(match self.kind {
            RequestKind::Command => 0,
            RequestKind::Helper => 1,
        });
        body.extend(self.linger_ms.to_le_bytes());
        body.extend(self.grace_ms.to_le_bytes());
        for text in [&self.shell, &self.cwd, &self.command] {
            body.extend(length(text).to_le_bytes());
            body.extend(text);
        }
        body
    }

    /// The request as it came.
    pub(crate) fn decode(mut body: &[u8]) -> Option<Self> {
        Some(Self {
            kind: match take_byte(&mut body)? {
                0 => RequestKind::Command,
                1 => RequestKind::Helper,
                _ => return None,
            },
            linger_ms: take_u32(&mut body)?,
            grace_ms: take_u32(&mut body)?,
            shell: take_text(&mut body)?,
            cwd: take_text(&mut body)?,
            command: take_text(&mut body)?,
        })
    }
}

/// What a keeper says over its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeeperMessage {
    /// It has taken the request and is this process. Its id is also the id of the session that the command
    /// is in.
    Taken(ProcessIdentity),
    /// The command has ended, with everything it had started.
    Ended(EndReport),
}

impl KeeperMessage {
    /// The message as it is sent.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (tag, body) = match self {
            Self::Taken(keeper) => {
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

    /// Takes the first message out of what has come; none while it is not whole.
    pub(crate) fn take(bytes: &mut Vec<u8>) -> Option<Self> {
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
                Some(Self::Taken(ProcessIdentity { pid, started }))
            }
            _ => EndReport::decode(&body).map(Self::Ended),
        }
    }
}

/// How a command ended, with everything it had started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndReport {
    /// The exit code of the shell, where it exited.
    pub(crate) exit_code: Option<i32>,
    /// The signal that ended the shell.
    pub(crate) signal: Option<i32>,
    /// Why the shell could not be started, as an error number.
    pub(crate) spawn_error: Option<i32>,
    /// Processes that outlived the shell and were stopped.
    pub(crate) stopped: u32,
    /// Processes that could not be stopped.
    pub(crate) survivors: u32,
    /// True when one of those that outlived the shell could still write to its output.
    pub(crate) held_output: bool,
    /// The shell's last working directory, where it is known.
    pub(crate) cwd: Option<Vec<u8>>,
}

impl EndReport {
    fn encode(&self) -> Vec<u8> {
        let mut message = Vec::with_capacity(64);
        for number in [self.exit_code, self.signal, self.spawn_error] {
            message.push(u8::from(number.is_some()));
            message.extend(number.unwrap_or_default().to_le_bytes());
        }
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
        let (stopped, survivors) = (take_u32(&mut message)?, take_u32(&mut message)?);
        let held_output = take_byte(&mut message)? == 1;
        let has_cwd = take_byte(&mut message)? == 1;
        let cwd = Some(take_text(&mut message)?).filter(|_| has_cwd);
        Some(Self { exit_code, signal, spawn_error, stopped, survivors, held_output, cwd })
    }
}

/// Asks for the end of a command: TERM now, KILL after so long.
pub(crate) fn stop_message(grace_ms: u32) -> [u8; STOP_BYTES] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_arrives_in_whatever_pieces() {
        let request = CommandRequest {
            kind: RequestKind::Helper,
            linger_ms: 1,
            grace_ms: u32::MAX,
            shell: b"/bin/bash".to_vec(),
            cwd: b"/tmp/\xff".to_vec(),
            command: b"true".to_vec(),
        };
        let body = request.encode();
        assert_eq!(CommandRequest::decode(&body), Some(request));
        assert_eq!(body.split_last().and_then(|(_, short)| CommandRequest::decode(short)), None);
        let news = [
            KeeperMessage::Taken(ProcessIdentity { pid: 7, started: u64::MAX }),
            KeeperMessage::Ended(EndReport {
                exit_code: Some(-1),
                stopped: 3,
                held_output: true,
                cwd: Some(b"/a\nb".to_vec()),
                ..EndReport::default()
            }),
        ];
        let (mut came, mut heard) = (Vec::new(), Vec::new());
        for byte in news.iter().flat_map(KeeperMessage::encode) {
            came.push(byte);
            heard.extend(KeeperMessage::take(&mut came));
        }
        assert_eq!((heard.as_slice(), came.len()), (news.as_slice(), 0));
    }
}
