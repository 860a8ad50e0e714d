//! Serves one client over a pair of pipes, with one message per line. One thread reads and one writes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    time::Duration,
};

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    ServedTools,
    line::{ClientMessage, Incoming, Outgoing, serve_line},
    unreadable::{too_long, unreadable},
};

/// The maximum size of a message.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;
/// The size of the queue in each direction, in messages.
const QUEUE: usize = 64;
/// How long the client has to read the last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The two streams of a line to a client.
pub struct StdioLine {
    /// The messages from the client.
    pub input: Box<dyn Read + Send>,
    /// The messages to the client.
    pub output: Box<dyn Write + Send>,
}

/// Serves the client until it closes one of the streams or `closing` is cancelled. Running calls are then
/// cancelled.
pub async fn serve_stdio(
    tools: ServedTools,
    line: StdioLine,
    closing: CancellationToken,
) -> std::io::Result<()> {
    let disconnected = closing.child_token();
    let (to_client, texts) = mpsc::channel(QUEUE);
    let (from_client, messages) = mpsc::channel(QUEUE);
    let (written, all_written) = oneshot::channel();
    let StdioLine { input, output } = line;
    let answers = to_client.downgrade();
    // The threads are not joined, because a read from a pipe that stays open never returns.
    std::thread::Builder::new().name("toolwright-stdin".to_owned()).spawn(move || {
        read_messages(BufReader::with_capacity(1 << 16, input), &from_client, &answers);
    })?;
    let gone = disconnected.clone();
    std::thread::Builder::new().name("toolwright-stdout".to_owned()).spawn(move || {
        if write_texts(output, texts).is_err() {
            gone.cancel();
        }
        let _ = written.send(());
    })?;
    serve_line(tools, Incoming::Bounded(messages), Outgoing::Queue(to_client), disconnected).await;
    // Limited in time, because the client may have stopped reading.
    drop(tokio::time::timeout(LAST_ANSWERS, all_written).await);
    Ok(())
}

/// Reads messages until the client sends no more, or the receiver is gone.
fn read_messages(
    mut input: impl BufRead,
    messages: &mpsc::Sender<ClientMessage>,
    answers: &mpsc::WeakSender<String>,
) {
    let mut line = Vec::new();
    loop {
        let answer = match read_line(&mut input, &mut line) {
            Ok(ReadLine::End) | Err(_) => return,
            Ok(ReadLine::TooLong) => too_long(MAX_MESSAGE),
            Ok(ReadLine::Whole) if line.trim_ascii().is_empty() => continue,
            Ok(ReadLine::Whole) => match serde_json::from_slice(&line) {
                Ok(message) => match messages.blocking_send(message) {
                    Ok(()) => continue,
                    Err(_) => return,
                },
                Err(error) => unreadable(&line, &error),
            },
        };
        // A weak sender, so that the queue ends with the service. This thread may wait for input forever.
        let is_sent = answers.upgrade().is_some_and(|it| it.blocking_send(answer).is_ok());
        if !is_sent {
            return;
        }
    }
}

enum ReadLine {
    Whole,
    TooLong,
    End,
}

/// Reads one line. Discards a line that is longer than the maximum size of a message.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<ReadLine> {
    line.clear();
    // Releases the memory of a long message.
    line.shrink_to(1 << 20);
    let mut is_too_long = false;
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            return Ok(match (is_too_long, line.is_empty()) {
                (true, _) => ReadLine::TooLong,
                (false, true) => ReadLine::End,
                (false, false) => ReadLine::Whole,
            });
        }
        let end = memchr::memchr(b'\n', piece);
        let (content, _) = piece.split_at(end.unwrap_or(piece.len()));
        is_too_long |= line.len() + content.len() > MAX_MESSAGE;
        if is_too_long {
            line.clear();
        } else {
            line.extend_from_slice(content);
        }
        let used = content.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(if is_too_long { ReadLine::TooLong } else { ReadLine::Whole });
        }
    }
}

/// Writes texts until there are no more.
fn write_texts(mut output: impl Write, mut texts: mpsc::Receiver<String>) -> std::io::Result<()> {
    while let Some(mut text) = texts.blocking_recv() {
        // A single write, so that the reader wakes up once.
        text.push('\n');
        output.write_all(text.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}
