//! ChaCha with 8 rounds (Bernstein 2008), eight blocks side by side, so that the compiler makes vectors of them.
//!
//! The state of a block is sixteen words: four constants, eight of the key, a counter of 64 bits, and a stream of 64 bits. Our own
//! few lines rather than a crate, because a seed must mean the same in every release.

/// "expand 32-byte k", the constants of every block.
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
/// Blocks that are made together.
const LANES: usize = 8;

/// The words that each quarter round mixes: four columns of the state, then four diagonals.
const QUARTERS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// One word of each block.
type Word = [u32; LANES];

/// The generator, and the words that it has made and not given yet.
#[derive(Clone)]
pub(super) struct ChaCha8 {
    key: [u32; 8],
    stream: u64,
    /// The first block that is not made yet.
    counter: u64,
    words: [u32; 16 * LANES],
    /// How many of the words are given.
    given: usize,
}

impl ChaCha8 {
    /// Stream number `stream` of the generator whose key is drawn from a seed.
    pub(super) fn new(seed: u64, stream: u64) -> ChaCha8 {
        ChaCha8 { key: key_of(seed), stream, counter: 0, words: [0; 16 * LANES], given: 16 * LANES }
    }

    /// The next two words, the first of them as the lower half.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        if self.given == self.words.len() {
            self.refill();
        }
        let (low, high) = (self.words[self.given], self.words[self.given + 1]);
        self.given += 2;
        u64::from(high) << 32 | u64::from(low)
    }

    #[inline(never)]
    fn refill(&mut self) {
        let start = self.start();
        let mixed = eight_rounds(start);
        for (k, (word, before)) in mixed.iter().zip(&start).enumerate() {
            for lane in 0..LANES {
                self.words[16 * lane + k] = word[lane].wrapping_add(before[lane]);
            }
        }
        self.counter = self.counter.wrapping_add(LANES as u64);
        self.given = 0;
    }

    /// The state of the next blocks before any round.
    fn start(&self) -> [Word; 16] {
        let mut state = [[0; LANES]; 16];
        for (word, constant) in state.iter_mut().zip(CONSTANTS.iter().chain(&self.key)) {
            *word = [*constant; LANES];
        }
        for lane in 0..LANES {
            let counter = self.counter.wrapping_add(lane as u64);
            (state[12][lane], state[13][lane]) = (counter as u32, (counter >> 32) as u32);
            (state[14][lane], state[15][lane]) = (self.stream as u32, (self.stream >> 32) as u32);
        }
        state
    }
}

/// Eight rounds, on vectors of eight words where the machine has them.
fn eight_rounds(state: [Word; 16]) -> [Word; 16] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn wide(state: [Word; 16]) -> [Word; 16] {
            plain_rounds(state)
        }
        // SAFETY: the machine was asked, and has these instructions.
        return unsafe { wide(state) };
    }
    plain_rounds(state)
}

#[inline(always)]
fn plain_rounds(mut state: [Word; 16]) -> [Word; 16] {
    for _ in 0..4 {
        for [a, b, c, d] in QUARTERS {
            [state[a], state[b], state[c], state[d]] = quarter_round([state[a], state[b], state[c], state[d]]);
        }
    }
    state
}

#[inline(always)]
fn quarter_round([mut a, mut b, mut c, mut d]: [Word; 4]) -> [Word; 4] {
    (a, d) = add_and_turn::<16>(a, b, d);
    (c, b) = add_and_turn::<12>(c, d, b);
    (a, d) = add_and_turn::<8>(a, b, d);
    (c, b) = add_and_turn::<7>(c, d, b);
    [a, b, c, d]
}

/// x + y, and z turned left after an exclusive or with that.
#[inline(always)]
fn add_and_turn<const BITS: u32>(mut x: Word, y: Word, mut z: Word) -> (Word, Word) {
    for lane in 0..LANES {
        x[lane] = x[lane].wrapping_add(y[lane]);
        z[lane] = (z[lane] ^ x[lane]).rotate_left(BITS);
    }
    (x, z)
}

/// A key of 256 bits from a seed of 64: eight steps of PCG32 (O'Neill 2014), so that near seeds have keys far apart.
fn key_of(seed: u64) -> [u32; 8] {
    let mut state = seed;
    std::array::from_fn(|_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0xa176_54e4_6fbe_17f3);
        let shifted = (((state >> 18) ^ state) >> 27) as u32;
        shifted.rotate_right((state >> 59) as u32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng, SeedableRng};

    #[test]
    fn the_words_are_those_of_rand_chacha() {
        for (seed, stream) in [(0, 0), (1, 0), (42, 7), (u64::MAX, u64::MAX), (1 << 40, 1 << 33)] {
            let (mut ours, mut theirs) = (ChaCha8::new(seed, stream), ChaCha8Rng::seed_from_u64(seed));
            theirs.set_stream(stream);
            assert!((0..1000).all(|_| ours.next() == theirs.next_u64()), "seed {seed}, stream {stream}");
        }
    }

    #[test]
    fn a_counter_beyond_32_bits_goes_on_in_the_next_word() {
        let (mut ours, mut theirs) = (ChaCha8::new(3, 1), ChaCha8Rng::seed_from_u64(3));
        ours.counter = u64::from(u32::MAX) - 1;
        theirs.set_stream(1);
        theirs.set_word_pos(16 * (u128::from(u32::MAX) - 1));
        assert!((0..100).all(|_| ours.next() == theirs.next_u64()));
    }
}
