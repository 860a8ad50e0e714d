//! What a host and its supervisor say to each other. Both compile this file; it knows nothing else.
//!
//! The host sends a [`Request`] with two descriptors: where output goes, and one end of the command's own
//! line. Over that line it may send [`stop_message`]; closing it is a stop, too, which is how the death
//! of a host reaches every command. The answer is one [`Ended`].

/// What a supervisor says first; another version of it is not used.
pub(crate) const HELLO: [u8; 8] = *b"tw-sup-1";

/// The longest request. It is one message, so that only one of those who wait gets all of it.
pub(crate) const MAX_REQUEST_BYTES: usize = 160 * 1024;

/// A stop message has this many bytes.
pub(crate) const STOP_BYTES: usize = 4;

/// The longest working directory that is told.
pub(crate) const MAX_CWD_BYTES: usize = 4_096;

/// One command to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
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

impl Request {
    /// The request as it is sent.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.command.len() + self.cwd.len() + 64);
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
            linger_ms: take_u32(&mut body)?,
            grace_ms: take_u32(&mut body)?,
            shell: take_text(&mut body)?,
            cwd: take_text(&mut body)?,
            command: take_text(&mut body)?,
        })
    }
}

/// How a command ended, with everything it had started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
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
    /// The shell's last working directory, where it could tell.
    pub(crate) cwd: Option<Vec<u8>>,
}

impl Ended {
    /// The message as it is sent.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut message = Vec::with_capacity(64);
        for number in [self.exit_code, self.signal, self.spawn_error] {
            message.push(u8::from(number.is_some()));
            message.extend(number.unwrap_or_default().to_le_bytes());
        }
        message.extend(self.stopped.to_le_bytes());
        message.extend(self.survivors.to_le_bytes());
        message.push(u8::from(self.cwd.is_some()));
        let cwd = self.cwd.as_deref().unwrap_or_default();
        message.extend(length(cwd).to_le_bytes());
        message.extend(cwd);
        message
    }

    /// The message as it came, in one piece.
    pub(crate) fn decode(mut message: &[u8]) -> Option<Self> {
        let mut optional = || {
            let (present, rest) = message.split_first()?;
            message = rest;
            let number = take_u32(&mut message)?.cast_signed();
            Some((*present == 1).then_some(number))
        };
        let (exit_code, signal, spawn_error) = (optional()?, optional()?, optional()?);
        let (stopped, survivors) = (take_u32(&mut message)?, take_u32(&mut message)?);
        let (present, rest) = message.split_first()?;
        message = rest;
        let cwd = take_text(&mut message)?;
        let cwd = (*present == 1).then_some(cwd);
        Some(Self { exit_code, signal, spawn_error, stopped, survivors, cwd })
    }
}

/// Asks for the end of a command: TERM now, KILL after so long.
pub(crate) fn stop_message(grace_ms: u32) -> [u8; STOP_BYTES] {
    grace_ms.to_le_bytes()
}

/// A command that tells where it ended up, however it ends: by its last line, `exit`, an error or TERM.
pub(crate) struct Telling {
    /// What the shell runs.
    pub(crate) script: Vec<u8>,
    /// The script's first argument, which it takes away before the command runs.
    pub(crate) trap: String,
}

/// Makes a command tell.
///
/// What it tells goes to a file and not to an inherited descriptor, whose number the command might use
/// for something of its own. What makes it tell stands on the command's first line, so that the line
/// numbers in the shell's messages are those of the command, and is short, because bash shows that line
/// when it has a syntax error.
///
/// The trap leaves no trace in the output and no mark on the exit code, whatever options and traps the
/// command has set. Only the shell itself tells: one that it forked and that is killed at once still has
/// the trap.
pub(crate) fn telling_cwd(command: &[u8], file: &str) -> Telling {
    let script = [b"trap \"$1\" EXIT;shift;", command].concat();
    let trap = format!(
        "{{ set +ex; trap - DEBUG; [ \"${{BASHPID:-$$}}\" = $$ ] && command pwd -P >\"{file}\"; }} \
         >/dev/null 2>&1"
    );
    Telling { script, trap }
}

fn length(text: &[u8]) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
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
    fn what_is_sent_is_what_arrives() {
        let request = Request {
            linger_ms: 1,
            grace_ms: u32::MAX,
            shell: b"/bin/bash".to_vec(),
            cwd: b"/tmp/\xff".to_vec(),
            command: b"true".to_vec(),
        };
        let body = request.encode();
        assert_eq!(Request::decode(&body), Some(request));
        assert_eq!(body.split_last().and_then(|(_, short)| Request::decode(short)), None);
        let ended = Ended {
            exit_code: Some(-1),
            stopped: 3,
            cwd: Some(b"/a\nb".to_vec()),
            ..Ended::default()
        };
        assert_eq!(Ended::decode(&ended.encode()), Some(ended));
        assert_eq!(Ended::decode(b"short"), None);
    }
}
