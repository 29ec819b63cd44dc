//! Gzip files with a checksum that is right, so that the fuzzer need not find it.

use flate2::{Compression, Crc};
use std::io::{Read, Write};

/// Bytes as they stand inside a gzip file.
pub fn packed(plain: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
    writer.write_all(plain).expect("memory takes any bytes");
    writer.finish().expect("memory takes any bytes")
}

/// The file around them; if they are not sound, around what can be unpacked of them.
pub fn with_ends(inside: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut reader = flate2::bufread::DeflateDecoder::new(inside);
    // What is wrong inside is for the reader to find.
    let _ = reader.read_to_end(&mut plain);
    let taken = usize::try_from(reader.total_in()).unwrap_or(0).min(inside.len());
    let mut crc = Crc::new();
    crc.update(&plain);
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    file.extend_from_slice(&inside[..taken]);
    file.extend_from_slice(&crc.sum().to_le_bytes());
    file.extend_from_slice(&crc.amount().to_le_bytes());
    // What is left over may be a second file.
    file.extend_from_slice(&inside[taken..]);
    file
}
