//! SHA-256 of many short keys at once, in the widest registers of the processor.
//!
//! A key waits for its own rounds, one after the other; sixteen keys side by side do not wait for each other. Keys may have
//! any length: a lane that is through with one takes the next.

use std::array;
use std::ops::Range;

use sha2::block_api::compress256;

use crate::hash::{BLOCK, INITIAL};

const LANES: usize = 16;

/// One word of each lane.
type Words = [u32; LANES];

/// A block of each lane.
type Blocks<'b> = [&'b [u8; BLOCK]; LANES];

/// Takes a block of each lane in.
pub(crate) type Compress = fn(&mut [Words; 8], &Blocks<'_>);

/// None where the processor gains nothing by keys side by side.
pub(crate) fn compress() -> Option<Compress> {
    wide::compress()
}

/// Fewer keys than that are digested faster one after the other.
const FEW: usize = 5;

/// Digests of padded keys, which lie one behind the other in `blocks`; `ends` says where each ends.
pub(crate) fn digests(compress: Compress, blocks: &[[u8; BLOCK]], ends: &[usize]) -> Vec<[u32; 8]> {
    let mut digests = vec![[0; 8]; ends.len()];
    let mut keys = (0..).zip(ends).scan(0, |begin, (key, &end)| {
        let blocks = *begin..end;
        *begin = end;
        Some((key, blocks))
    });
    // The key in each lane and what is left of it.
    let mut lanes: [Option<(usize, Range<usize>)>; LANES] = array::from_fn(|_| keys.next());
    let mut state: [Words; 8] = INITIAL.map(|it| [it; LANES]);
    while lanes.iter().flatten().count() > FEW {
        let next = lanes.each_ref().map(|lane| match lane {
            Some((_, left)) => &blocks[left.start],
            None => &[0; BLOCK],
        });
        compress(&mut state, &next);
        for (lane, slot) in lanes.iter_mut().enumerate() {
            let Some((key, left)) = slot else { continue };
            left.start += 1;
            if left.start == left.end {
                digests[*key] = array::from_fn(|it| state[it][lane]);
                state.iter_mut().zip(INITIAL).for_each(|(word, initial)| word[lane] = initial);
                *slot = keys.next();
            }
        }
    }
    for (lane, slot) in lanes.into_iter().enumerate() {
        let Some((key, left)) = slot else { continue };
        digests[key] = state.map(|it| it[lane]);
        compress256(&mut digests[key], &blocks[left]);
    }
    digests
}

#[cfg(not(target_arch = "x86_64"))]
mod wide {
    pub(super) fn compress() -> Option<super::Compress> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "whether the processor has wide registers is known at run time")]
mod wide {
    use std::arch::x86_64::*;

    use super::{Blocks, Compress, LANES, Words};

    /// Narrower registers would do no better than instructions for SHA-256 itself, which most processors have that have them.
    pub(super) fn compress() -> Option<Compress> {
        let has_all = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        // SAFETY: the processor has what the function needs.
        has_all.then_some(|state, blocks| unsafe { compress_avx512(state, blocks) })
    }

    const ROUNDS: [u32; 64] = [
        0x428a_2f98,
        0x7137_4491,
        0xb5c0_fbcf,
        0xe9b5_dba5,
        0x3956_c25b,
        0x59f1_11f1,
        0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98,
        0x1283_5b01,
        0x2431_85be,
        0x550c_7dc3,
        0x72be_5d74,
        0x80de_b1fe,
        0x9bdc_06a7,
        0xc19b_f174,
        0xe49b_69c1,
        0xefbe_4786,
        0x0fc1_9dc6,
        0x240c_a1cc,
        0x2de9_2c6f,
        0x4a74_84aa,
        0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152,
        0xa831_c66d,
        0xb003_27c8,
        0xbf59_7fc7,
        0xc6e0_0bf3,
        0xd5a7_9147,
        0x06ca_6351,
        0x1429_2967,
        0x27b7_0a85,
        0x2e1b_2138,
        0x4d2c_6dfc,
        0x5338_0d13,
        0x650a_7354,
        0x766a_0abb,
        0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1,
        0xa81a_664b,
        0xc24b_8b70,
        0xc76c_51a3,
        0xd192_e819,
        0xd699_0624,
        0xf40e_3585,
        0x106a_a070,
        0x19a4_c116,
        0x1e37_6c08,
        0x2748_774c,
        0x34b0_bcb5,
        0x391c_0cb3,
        0x4ed8_aa4a,
        0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee,
        0x78a5_636f,
        0x84c8_7814,
        0x8cc7_0208,
        0x90be_fffa,
        0xa450_6ceb,
        0xbef9_a3f7,
        0xc671_78f2,
    ];

    #[target_feature(enable = "avx512f,avx512bw")]
    fn compress_avx512(state: &mut [Words; 8], blocks: &Blocks<'_>) {
        let add = |one, other| _mm512_add_epi32(one, other);
        // Truth tables of three operands: the one or the other by the first; what most say; whether an odd number do.
        let choose = |by, one, other| _mm512_ternarylogic_epi32::<0xca>(by, one, other);
        let most = |one, other, third| _mm512_ternarylogic_epi32::<0xe8>(one, other, third);
        let odd = |one, other, third| _mm512_ternarylogic_epi32::<0x96>(one, other, third);

        let mut w = words_of(blocks);
        // SAFETY: a line is as long as the register.
        let before = state.each_ref().map(|line| unsafe { _mm512_loadu_si512(line.as_ptr().cast()) });
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = before;
        macro_rules! round {
            ($sixteen:ident, $at:literal) => {
                if $sixteen > 0 {
                    let (early, late) = (w[($at + 1) % 16], w[($at + 14) % 16]);
                    let low = odd(
                        _mm512_ror_epi32::<7>(early),
                        _mm512_ror_epi32::<18>(early),
                        _mm512_srli_epi32::<3>(early),
                    );
                    let high = odd(
                        _mm512_ror_epi32::<17>(late),
                        _mm512_ror_epi32::<19>(late),
                        _mm512_srli_epi32::<10>(late),
                    );
                    w[$at] = add(add(w[$at], low), add(w[($at + 9) % 16], high));
                }
                let round = _mm512_set1_epi32(ROUNDS[$sixteen * 16 + $at] as i32);
                let high =
                    odd(_mm512_ror_epi32::<6>(e), _mm512_ror_epi32::<11>(e), _mm512_ror_epi32::<25>(e));
                let first = add(add(high, choose(e, f, g)), add(add(h, round), w[$at]));
                let low = odd(_mm512_ror_epi32::<2>(a), _mm512_ror_epi32::<13>(a), _mm512_ror_epi32::<22>(a));
                let second = add(low, most(a, b, c));
                (h, g, f, e) = (g, f, e, add(d, first));
                (d, c, b, a) = (c, b, a, add(first, second));
            };
        }
        for sixteen in 0..4 {
            // One by one: words that are looked up by a number would go through memory.
            round!(sixteen, 0);
            round!(sixteen, 1);
            round!(sixteen, 2);
            round!(sixteen, 3);
            round!(sixteen, 4);
            round!(sixteen, 5);
            round!(sixteen, 6);
            round!(sixteen, 7);
            round!(sixteen, 8);
            round!(sixteen, 9);
            round!(sixteen, 10);
            round!(sixteen, 11);
            round!(sixteen, 12);
            round!(sixteen, 13);
            round!(sixteen, 14);
            round!(sixteen, 15);
        }
        for ((line, before), after) in state.iter_mut().zip(before).zip([a, b, c, d, e, f, g, h]) {
            // SAFETY: a line is as long as the register.
            unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), add(before, after)) };
        }
    }

    /// Line by line what lies block by block: the first word of every lane, the second, and so on.
    #[target_feature(enable = "avx512f,avx512bw")]
    fn words_of(blocks: &Blocks<'_>) -> [__m512i; LANES] {
        let order = _mm512_set4_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203);
        // SAFETY: a block is as long as the register.
        let rows = blocks.map(|it| unsafe { _mm512_loadu_si512(it.as_ptr().cast()) });
        let rows = rows.map(|it| _mm512_shuffle_epi8(it, order));
        // Squares of four by four words within each quarter of four rows, then quarters of the rows among each other.
        let mut quarters = rows;
        for four in quarters.as_chunks_mut::<4>().0 {
            let [one, two, three, last] = *four;
            let (low, high) = (_mm512_unpacklo_epi32(one, two), _mm512_unpackhi_epi32(one, two));
            let (low_after, high_after) =
                (_mm512_unpacklo_epi32(three, last), _mm512_unpackhi_epi32(three, last));
            *four = [
                _mm512_unpacklo_epi64(low, low_after),
                _mm512_unpackhi_epi64(low, low_after),
                _mm512_unpacklo_epi64(high, high_after),
                _mm512_unpackhi_epi64(high, high_after),
            ];
        }
        let mut words = quarters;
        for at in 0..4 {
            let [one, two, three, last] = std::array::from_fn(|it| quarters[it * 4 + at]);
            let (even, odd) =
                (_mm512_shuffle_i32x4::<0x88>(one, two), _mm512_shuffle_i32x4::<0xdd>(one, two));
            let (even_after, odd_after) =
                (_mm512_shuffle_i32x4::<0x88>(three, last), _mm512_shuffle_i32x4::<0xdd>(three, last));
            words[at] = _mm512_shuffle_i32x4::<0x88>(even, even_after);
            words[4 + at] = _mm512_shuffle_i32x4::<0x88>(odd, odd_after);
            words[8 + at] = _mm512_shuffle_i32x4::<0xdd>(even, even_after);
            words[12 + at] = _mm512_shuffle_i32x4::<0xdd>(odd, odd_after);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_by_one(state: &mut [Words; 8], blocks: &Blocks<'_>) {
        for (lane, block) in blocks.iter().enumerate() {
            let mut own = state.map(|it| it[lane]);
            compress256(&mut own, &[**block]);
            state.iter_mut().zip(own).for_each(|(word, own)| word[lane] = own);
        }
    }

    #[test]
    fn every_lane_gives_what_one_would() {
        let bytes: Vec<u8> = (0..BLOCK * 800).map(|it| ((it * 7919) >> 3) as u8).collect();
        let blocks = bytes.as_chunks().0;
        let ends: Vec<usize> =
            (1..).map(|it| it * (it + 1) / 2).take_while(|it| *it <= blocks.len()).collect();
        let begins = [0].into_iter().chain(ends.iter().copied());
        let expected: Vec<[u32; 8]> = begins
            .zip(&ends)
            .map(|(begin, &end)| {
                let mut state = INITIAL;
                compress256(&mut state, &blocks[begin..end]);
                state
            })
            .collect();
        assert!(expected.len() > 2 * LANES);
        for compress in [one_by_one as Compress].into_iter().chain(compress()) {
            assert_eq!(digests(compress, blocks, &ends), expected);
        }
    }
}
