//! Reads bodies within time and size limits.

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

/// How much longer than its content a compressed body may be. Compression adds a little to incompressible
/// content.
const PACKING_EXCESS: usize = 64 * 1024;

/// How many compressed bytes are decompressed without a break. They may expand a thousandfold.
const STEP: usize = 16 * 1024;

/// Limits how many decoders with a large window (16 MiB each) run at once in this process.
static LARGE_DECODERS: Semaphore = Semaphore::const_new(4);

/// A body, or its beginning if it was cut.
#[derive(Debug)]
pub(super) struct ReadBody {
    pub(super) bytes: Bytes,
    pub(super) was_cut: bool,
}

/// Reads and decompresses a body, and keeps its first `limit` bytes.
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
    // A body that needs a large decoder is read completely first, so that a slow server does not hold one of
    // the few large decoders.
    let mut gathered: Option<Vec<u8>> = None;
    let mut end = Unpacking::NeedsMore;
    while end == Unpacking::NeedsMore {
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
        // A compressed body may be endless and yet produce no content.
        if end == Unpacking::NeedsMore && unpacker.packed_bytes() > max_packed {
            return Err(too_large());
        }
    }
    if let Some(packed) = gathered {
        let _turn = deadline.before_end(TimedPhase::Body, LARGE_DECODERS.acquire()).await?;
        end = unpack(&mut unpacker, &packed).await.map_err(unpackable)?;
        if end == Unpacking::NeedsMore && packed.len() > max_packed {
            return Err(too_large());
        }
        return finished(unpacker, end).map_err(unpackable);
    }
    finished(unpacker, end).map_err(unpackable)
}

/// Decompresses a piece of a body in small steps.
async fn unpack(unpacker: &mut Unpacker, piece: &[u8]) -> Result<Unpacking, UnpackError> {
    for step in piece.chunks(STEP) {
        let end = unpacker.push(step)?;
        if end != Unpacking::NeedsMore {
            return Ok(end);
        }
        // Lets other tasks run, and is the point where a cancelled fetch ends.
        tokio::task::yield_now().await;
    }
    Ok(Unpacking::NeedsMore)
}

/// The decompressed body, after the last piece.
fn finished(mut unpacker: Unpacker, end: Unpacking) -> Result<ReadBody, UnpackError> {
    let end = if end == Unpacking::NeedsMore { unpacker.finish()? } else { end };
    let was_cut = end == Unpacking::Full;
    Ok(ReadBody { bytes: unpacker.into_bytes().into(), was_cut })
}
