//! Reads bodies within limits of time and size.

use bytes::Bytes;
use reqwest::{Response, header::CONTENT_ENCODING};
use tokio::sync::Semaphore;

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

/// Those that unpack with much memory, which is 16 MiB each: only so many at once in the whole process.
static LARGE_DECODERS: Semaphore = Semaphore::const_new(4);

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
    let too_large = || FetchError::TooLarge {
        host: host.clone(),
        what: "the packed answer",
        limit: max_packed,
    };
    // A body whose decoder is large is gathered first, so that a slow server does not keep others from
    // unpacking theirs.
    let mut gathered: Option<Vec<u8>> = None;
    let mut end = Unpacking::GoesOn;
    while end == Unpacking::GoesOn {
        let next = deadline.within(TimedPhase::Body, limits.idle, response.chunk()).await?;
        let Some(piece) = next.map_err(|err| failure_of(&err, &host, route, limits))? else {
            break;
        };
        if unpacker.packed_bytes() == 0 && gathered.is_none() && unpacker.is_large(&piece) {
            gathered = Some(Vec::new());
        }
        if let Some(gathered) = &mut gathered {
            gathered.extend_from_slice(&piece);
            if gathered.len() > max_packed {
                break;
            }
            continue;
        }
        end = unpack(&mut unpacker, &piece).await.map_err(unpackable)?;
        // A packed body may go on and on without any content.
        if end == Unpacking::GoesOn && unpacker.packed_bytes() > max_packed {
            return Err(too_large());
        }
    }
    if let Some(packed) = gathered {
        let _turn = deadline.before_end(TimedPhase::Body, LARGE_DECODERS.acquire()).await?;
        end = unpack(&mut unpacker, &packed).await.map_err(unpackable)?;
        if end == Unpacking::GoesOn && packed.len() > max_packed {
            return Err(too_large());
        }
        return finished(unpacker, end).map_err(unpackable);
    }
    finished(unpacker, end).map_err(unpackable)
}

/// Unpacks a piece of a body in small steps.
async fn unpack(unpacker: &mut Unpacker, piece: &[u8]) -> Result<Unpacking, UnpackError> {
    for step in piece.chunks(STEP) {
        let end = unpacker.push(step)?;
        if end != Unpacking::GoesOn {
            return Ok(end);
        }
        // Somebody else's turn, and the place where a cancelled fetch ends.
        tokio::task::yield_now().await;
    }
    Ok(Unpacking::GoesOn)
}

/// What was unpacked, after the last piece.
fn finished(mut unpacker: Unpacker, end: Unpacking) -> Result<ReadBody, UnpackError> {
    let end = if end == Unpacking::GoesOn { unpacker.finish()? } else { end };
    let was_cut = end == Unpacking::Full;
    Ok(ReadBody { bytes: unpacker.into_bytes().into(), was_cut })
}
