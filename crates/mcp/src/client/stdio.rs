//! Servers that are started as programs, with one message per line of their standard input and output.

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{JsonRpcMessage, RequestId},
    service::TxJsonRpcMessage,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::unix::pipe,
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;
use toolwright_core::CommandSandbox;
use toolwright_process::{ServerCommand, ServerProcess, TaskManager};

use super::{
    message_pipe::{IncomingMessages, MAX_MESSAGE_BYTES, MessagePipe, NotPassedOn, PipeEnd},
    server_link::OutputNoise,
};

/// How many bytes of the beginning and end of a too long message are kept, to find its id.
const KEPT_END: usize = 64;

/// Starts a server.
pub(super) async fn open(
    tasks: &Arc<TaskManager>,
    command: &ServerCommand,
    sandbox: &CommandSandbox,
    noise: Arc<OutputNoise>,
) -> Result<(ServerProcess, MessagePipe), String> {
    let planned = sandbox.of_command(&CancellationToken::new()).await;
    let planned = planned.map_err(|cause| cause.to_string())?;
    let started = ServerProcess::start(tasks, command, planned.plan, planned.proxy).await;
    let (process, input, output) = started.map_err(|cause| cause.to_string())?;
    let (mut messages, PipeEnd { received, to_send }) = MessagePipe::new();
    messages.ends(&tokio::spawn(read(output, received, noise)));
    // Not aborted with the connection. When the connection is dropped, the queue ends, which closes the server's
    // input.
    tokio::spawn(write(input, to_send));
    Ok((process, messages))
}

/// Writes messages until there are no more. Dropping the pipe then closes the server's input.
async fn write(mut input: pipe::Sender, mut to_send: mpsc::Receiver<TxJsonRpcMessage<RoleClient>>) {
    while let Some(message) = to_send.recv().await {
        let Ok(mut line) = serde_json::to_vec(&message) else { continue };
        line.push(b'\n');
        if input.write_all(&line).await.is_err() {
            // The server reads nothing more. Its output is still read until it ends.
            return;
        }
    }
}

/// Reads lines until the output ends.
async fn read(output: pipe::Receiver, received: IncomingMessages, noise: Arc<OutputNoise>) {
    let mut lines = MessageLines { output: BufReader::with_capacity(64 * 1024, output) };
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.next(&mut line).await {
            LineOutcome::Line => {
                let text = line.trim_ascii();
                if text.is_empty() {
                    continue;
                }
                match received.text(text).await {
                    Ok(()) => {}
                    Err(NotPassedOn::NoMessage) => {
                        noise.add(text);
                        if let Some(id) = answered_id(text) {
                            let cause = "its answer does not follow the protocol".to_owned();
                            received.failure(id, cause).await;
                        }
                    }
                    Err(NotPassedOn::Closed) => return,
                }
            }
            LineOutcome::TooLong { bytes, answers } => {
                noise.add_too_long();
                if let Some(id) = answers {
                    let limit = MAX_MESSAGE_BYTES;
                    let cause = format!(
                        "its answer has {bytes} bytes, and at most {limit} are accepted; ask for less"
                    );
                    received.failure(id, cause).await;
                }
            }
            LineOutcome::End => return,
        }
    }
}

struct MessageLines<Output> {
    output: BufReader<Output>,
}

/// The outcome of reading a line.
#[derive(Debug, PartialEq)]
enum LineOutcome {
    Line,
    /// A line that was discarded, and the id of the request that it answers, if found.
    TooLong {
        bytes: usize,
        answers: Option<RequestId>,
    },
    End,
}

impl<Output: tokio::io::AsyncRead + Unpin> MessageLines<Output> {
    async fn next(&mut self, line: &mut Vec<u8>) -> LineOutcome {
        let mut bytes = 0;
        let (mut beginning, mut end) = (Vec::new(), Vec::new());
        loop {
            let available = match self.output.fill_buf().await {
                Ok(available) if !available.is_empty() => available,
                // A line without a line break at its end is incomplete.
                Ok(_) | Err(_) => return LineOutcome::End,
            };
            let newline = memchr::memchr(b'\n', available);
            let piece = available.get(..newline.unwrap_or(available.len())).unwrap_or_default();
            bytes += piece.len();
            if bytes <= MAX_MESSAGE_BYTES {
                line.extend_from_slice(piece);
            } else {
                if end.is_empty() {
                    end.append(line);
                    beginning.extend_from_slice(end.get(..KEPT_END).unwrap_or_default());
                }
                end.extend_from_slice(piece);
                end.drain(..end.len().saturating_sub(KEPT_END));
                line.shrink_to(0);
            }
            let consumed = piece.len() + usize::from(newline.is_some());
            self.output.consume(consumed);
            if newline.is_some() {
                if bytes <= MAX_MESSAGE_BYTES {
                    return LineOutcome::Line;
                }
                let answers = id_at_the_beginning(&beginning).or_else(|| id_at_the_end(&end));
                return LineOutcome::TooLong { bytes, answers };
            }
        }
    }
}

/// The id of the request that a line answers, if the line cannot be parsed, for example because it is nested too
/// deeply.
fn answered_id(line: &[u8]) -> Option<RequestId> {
    let beginning = line.get(..line.len().min(KEPT_END)).unwrap_or_default();
    if let Some(id) = id_at_the_beginning(beginning) {
        return Some(id);
    }
    let has = |word: &str| memchr::memmem::find(beginning, word.as_bytes()).is_some();
    if !line.starts_with(b"{") || !(has("\"result\":") || has("\"error\":")) {
        return None;
    }
    id_at_the_end(line.get(line.len().saturating_sub(KEPT_END)..).unwrap_or_default())
}

/// The id at the beginning of an answer, before its result, where most servers put it. Our ids are numbers.
fn id_at_the_beginning(beginning: &[u8]) -> Option<RequestId> {
    let text: String = String::from_utf8_lossy(beginning).split_ascii_whitespace().collect();
    let text = text.strip_prefix('{')?;
    let text = text.strip_prefix("\"jsonrpc\":\"2.0\",").unwrap_or(text);
    let (id, rest) = text.strip_prefix("\"id\":")?.split_once(',')?;
    // A request of the server also has an id.
    let is_answer = rest.starts_with("\"result\":") || rest.starts_with("\"error\":");
    is_answer.then(|| id.parse().ok().map(RequestId::Number)).flatten()
}

/// The id at the end of an answer, where the official TypeScript SDK puts it.
fn id_at_the_end(end: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(end);
    let (_, id) = text.trim_end().strip_suffix('}')?.rsplit_once("\"id\":")?;
    let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":0,"message":""}}}}"#);
    match serde_json::from_str::<rmcp::service::RxJsonRpcMessage<RoleClient>>(&message) {
        Ok(JsonRpcMessage::Error(error)) => error.id,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[tokio::test]
    async fn too_long_lines_are_counted_and_discarded() {
        let long =
            format!(r#"{{"result":"{}","jsonrpc":"2.0","id":7}}"#, "x".repeat(MAX_MESSAGE_BYTES));
        let text = format!("first\n{long}\nlast\nunfinished");
        let mut lines = MessageLines { output: BufReader::new(text.as_bytes()) };
        let mut line = Vec::new();
        assert_eq!(lines.next(&mut line).await, LineOutcome::Line);
        assert_eq!(line, b"first");
        line.clear();
        let answers = Some(RequestId::Number(7));
        assert_eq!(
            lines.next(&mut line).await,
            LineOutcome::TooLong { bytes: long.len(), answers }
        );
        line.clear();
        assert_eq!(lines.next(&mut line).await, LineOutcome::Line);
        assert_eq!(line, b"last");
        line.clear();
        assert_eq!(lines.next(&mut line).await, LineOutcome::End);
    }

    #[test]
    fn an_id_is_found_only_at_the_beginning_or_end_of_a_line() {
        assert_eq!(id_at_the_end(br#"x","jsonrpc":"2.0","id":12}"#), Some(RequestId::Number(12)));
        assert_eq!(id_at_the_end(br#"{"id":12},"more":1}"#), None);
        for (beginning, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"content":["#, Some(7)),
            (r#"{ "id": 7, "error": {"#, Some(7)),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"#, None),
            (r#"{"jsonrpc":"2.0","result":{"id":7,"result":{"#, None),
        ] {
            let found = id_at_the_beginning(beginning.as_bytes());
            assert_eq!(found, id.map(RequestId::Number), "{beginning}");
        }
        assert_eq!(id_at_the_end(b"xxxx"), None);
        assert_eq!(
            answered_id(br#"{"result":[[[],"jsonrpc":"2.0","id":4}"#),
            Some(RequestId::Number(4))
        );
        assert_eq!(answered_id(br#"received {"result":1,"id":4}"#), None);
    }
}
