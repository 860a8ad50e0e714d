//! Reads bodies within limits of time and size.

use bytes::Bytes;
use reqwest::{Response, header::CONTENT_ENCODING};

use super::{
    FetchError, TimedPhase, WebLimits,
    causes::failure_of,
    deadline::Deadline,
    decompress::{UnpackError, Unpacker, Unpacking},
    guard::shown_place,
    routes::Route,
};

/// How much longer than its content a packed body may be. Packing adds a little where it gains nothing.
const PACKING_EXCESS: usize = 64 * 1024;

/// How many bytes are unpacked without a break. They may become a thousand times as many.
const STEP: usize = 16 * 1024;

/// A body, or its beginning.
#[derive(Debug)]
pub(super) struct ReadBody {
    pub(super) bytes: Bytes,
    pub(super) was_cut: bool,
}

/// Reads and unpacks a body, of which `limit` bytes are kept.
pub(super) async fn read_body(
    mut response: Response,
    limit: usize,
    route: &Route,
    limits: &WebLimits,
    deadline: &Deadline,
) -> Result<ReadBody, FetchError> {
    let host = shown_place(response.url());
    let unpackable =
        |UnpackError(cause): UnpackError| FetchError::Decompress { host: host.clone(), cause };
    let encodings = response.headers().get_all(CONTENT_ENCODING).iter();
    let encodings: Vec<_> = encodings.map(|it| String::from_utf8_lossy(it.as_bytes())).collect();
    let mut unpacker = Unpacker::new(&encodings.join(","), limit).map_err(unpackable)?;
    let max_packed = limit.saturating_add(limit / 8).saturating_add(PACKING_EXCESS);
    let was_cut = 'body: loop {
        let next = deadline.within(TimedPhase::Body, limits.idle, response.chunk()).await?;
        let Some(piece) = next.map_err(|err| failure_of(&err, &host, route, limits))? else {
            break unpacker.finish().map_err(unpackable)? == Unpacking::Full;
        };
        for step in piece.chunks(STEP) {
            match unpacker.push(step).map_err(unpackable)? {
                Unpacking::GoesOn => {}
                Unpacking::Ended => break 'body false,
                Unpacking::Full => break 'body true,
            }
            // Somebody else's turn, and the place where a cancelled fetch ends.
            tokio::task::yield_now().await;
        }
        // A packed body may go on and on without any content.
        if unpacker.packed_bytes() > max_packed {
            return Err(FetchError::TooLarge {
                host,
                what: "the packed answer",
                limit: max_packed,
            });
        }
    };
    Ok(ReadBody { bytes: unpacker.into_bytes().into(), was_cut })
}
