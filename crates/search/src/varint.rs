//! Numbers of seven bits a byte, lowest first; a set high bit says that more follow.

pub(crate) fn write(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn length(number: u32) -> usize {
    // One byte for zero too.
    (38 - (number | 1).leading_zeros() as usize) / 7
}

/// None at the end of the bytes and for what is no number of 32 bits.
#[inline]
pub(crate) fn read(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u32::from(first));
    }
    let mut number = u32::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u32::from(byte & 0x7f);
        if shift == 28 && byte > 15 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_and_their_length_is_known() {
        for number in
            [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455, 268_435_456, u32::MAX]
        {
            let mut bytes = Vec::new();
            write(&mut bytes, number);
            assert_eq!(bytes.len(), length(number), "{number}");
            let mut at = 0;
            assert_eq!(read(&bytes, &mut at), Some(number));
            assert_eq!(at, bytes.len());
            assert_eq!(read(&bytes[..bytes.len() - 1], &mut 0), None);
        }
        assert_eq!(read(&[0xff; 9], &mut 0), None);
    }
}
