//! Hashes of texts: one that is quick, for tables in memory, and one for feature hashing, whose values are part of a model:
//! MurmurHash3 (Appleby 2011, 32 bits, seed 0), as scikit-learn's `HashingVectorizer` has it.

/// Eight bytes at a time, multiplied and folded. Texts made to collide slow it down, no more.
#[inline]
pub(super) fn hash(word: &[u8]) -> u64 {
    let mix = |hash: u64, bytes: u64| {
        let product = u128::from(hash ^ bytes) * 0x9e37_79b9_7f4a_7c15_u128;
        (product ^ (product >> 64)) as u64
    };
    let four = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    let mut hash = word.len() as u64 ^ 0x243f_6a88_85a3_08d3;
    for chunk in word.as_chunks::<8>().0 {
        hash = mix(hash, u64::from_le_bytes(*chunk));
    }
    // What is left is read with bytes before it: together with the length they are no others than those of this word.
    let last = if let Some(last) = word.last_chunk::<8>() {
        u64::from_le_bytes(*last)
    } else if let (Some(first), Some(last)) = (word.first_chunk::<4>(), word.last_chunk::<4>()) {
        four(first) << 32 | four(last)
    } else if let (Some(&first), Some(&last)) = (word.first(), word.last()) {
        u64::from(first) << 16 | u64::from(word[word.len() / 2]) << 8 | u64::from(last)
    } else {
        0
    };
    mix(hash, last)
}

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
