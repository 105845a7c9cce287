//! The sum that tells whether a derived file or a stored blob is still what was written: for accidents, not for attacks.

/// A multiply-fold over words. Each step is a bijection of the word and of the state, so that a change of any one word
/// changes the sum. Four lanes keep the multiplier busy: about 10 GB a second. A last part of a word is filled with zeros.
pub fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [1_u64, 2, 3, 4];
    let fold = |lane: u64, word: u64| (lane ^ word).wrapping_mul(ODD).rotate_left(29);
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        let [one, two, three, four] = block.as_chunks::<8>().0 else {
            unreachable!("32 bytes are four words")
        };
        // Lane by lane: a loop over them is slow in builds that inline less.
        lanes[0] = fold(lanes[0], u64::from_le_bytes(*one));
        lanes[1] = fold(lanes[1], u64::from_le_bytes(*two));
        lanes[2] = fold(lanes[2], u64::from_le_bytes(*three));
        lanes[3] = fold(lanes[3], u64::from_le_bytes(*four));
    }
    for part in rest.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        lanes[0] = fold(lanes[0], u64::from_le_bytes(word));
    }
    lanes.into_iter().fold(bytes.len() as u64, fold)
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn any_flipped_bit_and_any_cut_changes_the_sum() {
        let bytes: Vec<u8> = (0..75).map(|it: u8| it.wrapping_mul(37)).collect();
        let whole = checksum(&bytes);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert_ne!(checksum(&flipped), whole, "bit {bit} of byte {at}");
            }
            assert_ne!(checksum(&bytes[..at]), whole, "cut at {at}");
        }
    }
}
