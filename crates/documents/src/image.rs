//! Recognises images by their content and prepares them for a model.
//!
//! The limits are those of model providers. This module must not know about file names, tools,
//! policy or JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The most bytes of an image, so that its base64 form is within 5 MiB.
pub(crate) const MAX_IMAGE_BYTES: usize = 3_932_160;
/// The largest width and height of an image, in pixels.
pub(crate) const MAX_IMAGE_SIDE: u32 = 8000;

/// The properties of an image that are in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImageInfo {
    /// The media type, such as `image/png`.
    pub(crate) mime: &'static str,
    /// The width in pixels.
    pub(crate) width: u32,
    /// The height in pixels.
    pub(crate) height: u32,
}

/// An image in the form that a model receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageBlock {
    /// The media type, such as `image/png`.
    pub mime: &'static str,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The unchanged bytes in base64.
    pub base64: String,
}

/// Why bytes cannot be used as an image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The bytes are not one of the supported formats.
    #[error("not a PNG, JPEG, GIF or WebP image; convert it to one of these first")]
    Unsupported,
    /// The format is supported, but the dimensions cannot be read.
    #[error(
        "the `{mime}` image is damaged: its dimensions cannot be read; replace the file or convert it again"
    )]
    Damaged {
        /// The media type according to the first bytes.
        mime: &'static str,
    },
    /// The image has too many bytes.
    #[error(
        "the image has {bytes} bytes, more than the limit of {MAX_IMAGE_BYTES}; scale it down or compress it first"
    )]
    TooManyBytes {
        /// The size of the image.
        bytes: usize,
    },
    /// The image has too many pixels.
    #[error(
        "the image is `{width}x{height}` pixels, more than the limit of `{MAX_IMAGE_SIDE}x{MAX_IMAGE_SIDE}`; scale it down first"
    )]
    TooManyPixels {
        /// The width of the image.
        width: u32,
        /// The height of the image.
        height: u32,
    },
}

/// The media type according to the first bytes, if the format is supported.
#[must_use]
pub fn image_mime(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Reads format and dimensions from the header. `None` if the bytes are not a supported image.
///
/// # Errors
/// An image whose dimensions are missing or zero is damaged.
pub(crate) fn inspect_image(bytes: &[u8]) -> Result<Option<ImageInfo>, ImageError> {
    let Some(mime) = image_mime(bytes) else {
        return Ok(None);
    };
    let damaged = ImageError::Damaged { mime };
    let size = imagesize::blob_size(bytes).map_err(|_| damaged.clone())?;
    match (u32::try_from(size.width), u32::try_from(size.height)) {
        (Ok(width @ 1..), Ok(height @ 1..)) => Ok(Some(ImageInfo { mime, width, height })),
        _ => Err(damaged),
    }
}

/// Checks an image against the limits and encodes it.
///
/// # Errors
/// Says which limit is exceeded, or why the bytes are not a usable image.
pub fn load_image(bytes: &[u8]) -> Result<ImageBlock, ImageError> {
    let ImageInfo { mime, width, height } = inspect_image(bytes)?.ok_or(ImageError::Unsupported)?;
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(ImageError::TooManyBytes { bytes: bytes.len() });
    }
    if width > MAX_IMAGE_SIDE || height > MAX_IMAGE_SIDE {
        return Err(ImageError::TooManyPixels { width, height });
    }
    Ok(ImageBlock { mime, width, height, base64: STANDARD.encode(bytes) })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0]);
        bytes
    }

    fn gif(width: u16, height: u16) -> Vec<u8> {
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(width.to_le_bytes());
        bytes.extend(height.to_le_bytes());
        bytes.extend([0; 8]);
        bytes
    }

    fn jpeg(width: u16, height: u16) -> Vec<u8> {
        let mut bytes =
            b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08".to_vec();
        bytes.extend(height.to_be_bytes());
        bytes.extend(width.to_be_bytes());
        bytes.extend([3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1, 0xff, 0xd9]);
        bytes
    }

    fn webp(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"RIFF\x1a\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
        bytes.extend(&(width - 1).to_le_bytes()[..3]);
        bytes.extend(&(height - 1).to_le_bytes()[..3]);
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn recognises_each_format_by_its_content() {
        for (bytes, mime) in [
            (png(30, 20), "image/png"),
            (jpeg(30, 20), "image/jpeg"),
            (gif(30, 20), "image/gif"),
            (webp(30, 20), "image/webp"),
        ] {
            assert_eq!(inspect_image(&bytes), Ok(Some(ImageInfo { mime, width: 30, height: 20 })));
        }
    }

    #[test]
    fn takes_no_other_content_for_an_image() {
        for bytes in [
            &b""[..],
            b"plain text",
            b"BM\0\0\0\0",
            b"RIFF\0\0\0\0WAVEfmt ",
            b"<svg/>",
            b"GIF88a\x01\0\x01\0",
        ] {
            assert_eq!(inspect_image(bytes), Ok(None));
            assert_eq!(load_image(bytes), Err(ImageError::Unsupported));
        }
    }

    #[test]
    fn reports_an_image_cut_in_its_header_as_damaged() {
        assert_eq!(
            inspect_image(&png(30, 20)[..12]),
            Err(ImageError::Damaged { mime: "image/png" })
        );
        assert_eq!(
            inspect_image(&jpeg(30, 20)[..10]),
            Err(ImageError::Damaged { mime: "image/jpeg" })
        );
        assert_eq!(inspect_image(&gif(0, 20)), Err(ImageError::Damaged { mime: "image/gif" }));
    }

    #[test]
    fn encodes_the_bytes_unchanged() {
        let bytes = png(2, 3);
        let block = load_image(&bytes).unwrap();
        assert_eq!((block.mime, block.width, block.height), ("image/png", 2, 3));
        assert_eq!(STANDARD.decode(block.base64).unwrap(), bytes);
    }

    #[test]
    fn refuses_too_many_bytes_or_pixels_and_names_the_figures() {
        let mut bytes = png(2, 3);
        bytes.resize(MAX_IMAGE_BYTES, 0);
        assert!(load_image(&bytes).unwrap().base64.len() <= 5 * 1024 * 1024);
        bytes.push(0);
        let error = load_image(&bytes).unwrap_err().to_string();
        assert_eq!(
            error,
            "the image has 3932161 bytes, more than the limit of 3932160; scale it down or compress it first"
        );
        assert!(load_image(&png(8000, 8000)).is_ok());
        let error = load_image(&png(8001, 5)).unwrap_err().to_string();
        assert_eq!(
            error,
            "the image is `8001x5` pixels, more than the limit of `8000x8000`; scale it down first"
        );
    }

    proptest! {
        #[test]
        fn survives_any_bytes_after_a_valid_start(kind in 0..4_usize, cut in 4..30_usize, noise: Vec<u8>) {
            let mut bytes = [png(3, 4), jpeg(3, 4), gif(3, 4), webp(3, 4)][kind].clone();
            bytes.truncate(cut);
            bytes.extend(noise);
            let _ = inspect_image(&bytes);
            let _ = load_image(&bytes);
        }

        #[test]
        fn survives_any_bytes(bytes: Vec<u8>) {
            let _ = inspect_image(&bytes);
        }
    }
}
