//! Feature hashing: MurmurHash3 (Appleby 2011, 32 bits, seed 0), as scikit-learn's `HashingVectorizer` has it.

/// The place of a word and the sign it counts with.
pub(super) fn place_and_sign(word: &[u8], places: usize) -> (u32, i32) {
    let hash = murmur3(word) as i32;
    ((u64::from(hash.unsigned_abs()) % places as u64) as u32, if hash >= 0 { 1 } else { -1 })
}

fn murmur3(bytes: &[u8]) -> u32 {
    let scramble = |block: u32| block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (blocks, rest) = bytes.as_chunks::<4>();
    let mut hash = 0u32;
    for block in blocks {
        hash ^= scramble(u32::from_le_bytes(*block));
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    hash ^= scramble(u32::from_le_bytes(last));
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published test vectors for seed 0.
    #[test]
    fn hashes_are_those_of_the_reference() {
        assert_eq!(murmur3(b""), 0);
        assert_eq!(murmur3(b"test"), 0xba6b_d213);
        assert_eq!(murmur3(b"Hello, world!"), 0xc036_3e43);
        assert_eq!(murmur3(b"The quick brown fox jumps over the lazy dog"), 0x2e4f_f723);
    }
}
