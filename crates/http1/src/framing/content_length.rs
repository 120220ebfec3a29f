//! Writing a `Content-Length` header without allocating.

/// Digits of `u64::MAX`.
const DIGITS: usize = 20;

/// Appends the header to a message head.
pub fn write_content_length(out: &mut Vec<u8>, mut length: u64) {
    let mut digits = [0; DIGITS];
    let mut from = DIGITS;
    loop {
        from -= 1;
        digits[from] = b"0123456789"[(length % 10) as usize];
        length /= 10;
        if length == 0 {
            break;
        }
    }
    out.extend_from_slice(b"content-length: ");
    out.extend_from_slice(&digits[from..]);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_written_as_it_is_read() {
        for length in [0, 7, 10, 99, 100, 1_234_567_890, u64::MAX] {
            let mut out = Vec::new();
            write_content_length(&mut out, length);
            assert_eq!(String::from_utf8(out).unwrap(), format!("content-length: {length}\r\n"));
        }
    }
}
