//! Reserves the standard streams of the process for the protocol.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
};

use super::StdioLine;

/// Takes standard input and output. From then on, other output of the process and its children goes to standard
/// error, and their standard input is empty. On Windows the streams are only duplicated, not replaced.
pub fn take_standard_streams() -> io::Result<StdioLine> {
    let (input, output) = streams()?;
    Ok(StdioLine { input: Box::new(Blocking(input)), output: Box::new(Blocking(output)) })
}

#[cfg(unix)]
fn streams() -> io::Result<(File, File)> {
    use std::os::fd::AsFd as _;
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((input, output))
}

#[cfg(windows)]
fn streams() -> io::Result<(File, File)> {
    use std::os::windows::io::AsHandle as _;
    let input = File::from(io::stdin().as_handle().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_handle().try_clone_to_owned()?);
    Ok((input, output))
}

/// A stream with blocking reads and writes. Another holder of the same stream, such as the runtime or the client,
/// may have set it to non-blocking.
struct Blocking(File);

impl Read for Blocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait(&self.0, false)?,
                read => return read,
            }
        }
    }
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait(&self.0, true)?,
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until a stream can be read or written.
#[cfg(unix)]
fn wait(stream: &File, to_write: bool) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let wanted = if to_write { PollFlags::OUT } else { PollFlags::IN };
    match poll(&mut [PollFd::new(stream, wanted)], None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// On Windows, streams always block.
#[cfg(windows)]
#[expect(clippy::unnecessary_wraps, reason = "the signature is the same as on Unix")]
fn wait(_stream: &File, _to_write: bool) -> io::Result<()> {
    std::thread::yield_now();
    Ok(())
}
