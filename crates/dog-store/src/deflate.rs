//! The compression of logs and reviews.

use std::io::{self, Read};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};

/// What `write` writes, compressed.
///
/// # Errors
/// Those of `write`.
pub(super) fn deflate(
    write: impl FnOnce(&mut DeflateEncoder<Vec<u8>>) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    write(&mut encoder)?;
    encoder.finish()
}

/// The first `max` bytes of what was compressed.
///
/// # Errors
/// The bytes are damaged.
pub(super) fn inflate(packed: &[u8], max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut decoder = DeflateDecoder::new(packed).take(max);
    decoder.read_to_end(&mut bytes)?;
    Ok(bytes)
}
