//! The chunked transfer coding, read byte by byte where it is structure and whole where it is data.
//!
//! Strict, because what two readers of one stream take differently is how requests are smuggled: a size is 1 to 16
//! hexadecimal digits, and lines end with CR and LF.

use bytes::{Buf as _, BytesMut};

use super::{BadFraming, Taken};

/// How long the extensions of one chunk, or all trailers together, may be. Nobody reads them.
const IGNORED_LIMIT: usize = 16 * 1024;
const MAX_DIGITS: u8 = 16;

/// A chunked body being read.
#[derive(Debug)]
pub struct Chunked {
    at: At,
    /// Bytes passed over since the last that meant something.
    ignored: usize,
}

/// What comes next.
#[derive(Debug, Clone, Copy)]
enum At {
    Size {
        size: u64,
        digits: u8,
    },
    /// Blanks behind the size.
    Blank(u64),
    Extension(u64),
    /// The end of the line with the size.
    SizeEnd(u64),
    Data(u64),
    DataReturn,
    DataEnd,
    /// The beginning of a line behind the last chunk.
    Trailers,
    TrailerName,
    Trailer,
    TrailerEnd,
    LastEnd,
    Over,
}

impl Default for Chunked {
    fn default() -> Self {
        Self { at: SIZE, ignored: 0 }
    }
}

impl Chunked {
    pub(super) fn take(&mut self, input: &mut BytesMut) -> Result<Taken, BadFraming> {
        let mut used = 0;
        loop {
            match self.at {
                At::Over => {
                    input.advance(used);
                    return Ok(Taken::End);
                }
                At::Data(left) => {
                    input.advance(used);
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                    if here == 0 {
                        return Ok(Taken::Nothing);
                    }
                    let left = left - here as u64;
                    self.at = if left == 0 { At::DataReturn } else { At::Data(left) };
                    return Ok(Taken::Data(input.split_to(here).freeze()));
                }
                _ => {}
            }
            let Some(byte) = input.get(used) else {
                input.clear();
                return Ok(Taken::Nothing);
            };
            self.at = self.step(*byte)?;
            used += 1;
        }
    }

    /// What is left of the chunk that is being read.
    pub(super) fn left(&self) -> u64 {
        match self.at {
            At::Data(left) => left,
            _ => 0,
        }
    }

    fn step(&mut self, byte: u8) -> Result<At, BadFraming> {
        Ok(match (self.at, byte) {
            (At::Size { size, digits }, _) => return self.size(size, digits, byte),
            (At::Blank(size) | At::Extension(size), b'\r') => At::SizeEnd(size),
            (At::Blank(size), b';') => At::Extension(size),
            (At::Blank(size), b' ' | b'\t') => self.pass_over(At::Blank(size))?,
            (At::Blank(_), _) => return Err(BadFraming::ChunkSize),
            (At::SizeEnd(0), b'\n') => {
                self.ignored = 0;
                At::Trailers
            }
            (At::SizeEnd(size), b'\n') => At::Data(size),
            (At::DataReturn, b'\r') => At::DataEnd,
            (At::DataEnd, b'\n') => SIZE,
            (At::Trailers, b'\r') => At::LastEnd,
            (At::Trailer, b'\r') => At::TrailerEnd,
            (At::TrailerEnd, b'\n') => At::Trailers,
            (At::LastEnd, b'\n') => At::Over,
            (At::Extension(size), b'\t' | b' '..=b'~' | 0x80..) => self.pass_over(At::Extension(size))?,
            (At::Trailers | At::TrailerName, _) if is_of_name(byte) => self.pass_over(At::TrailerName)?,
            (At::TrailerName, b':') | (At::Trailer, b'\t' | b' '..=b'~' | 0x80..) => {
                self.pass_over(At::Trailer)?
            }
            _ => return Err(BadFraming::Chunk),
        })
    }

    fn size(&mut self, size: u64, digits: u8, byte: u8) -> Result<At, BadFraming> {
        match (char::from(byte).to_digit(16), byte) {
            (Some(digit), _) if digits < MAX_DIGITS => {
                Ok(At::Size { size: size << 4 | u64::from(digit), digits: digits + 1 })
            }
            (None, b'\r') if digits > 0 => Ok(At::SizeEnd(size)),
            (None, b';' | b' ' | b'\t') if digits > 0 => {
                self.ignored = 0;
                Ok(if byte == b';' { At::Extension(size) } else { At::Blank(size) })
            }
            _ => Err(BadFraming::ChunkSize),
        }
    }

    fn pass_over(&mut self, at: At) -> Result<At, BadFraming> {
        self.ignored += 1;
        if self.ignored > IGNORED_LIMIT { Err(BadFraming::Chunk) } else { Ok(at) }
    }
}

/// Whether names of fields are made of this byte (RFC 9110 §5.6.2).
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

const SIZE: At = At::Size { size: 0, digits: 0 };

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads what comes in these pieces: the data, and what is left behind the end, if that was reached.
    fn read(pieces: &[&[u8]]) -> Result<(Vec<u8>, Option<usize>), BadFraming> {
        let (mut chunked, mut input, mut data) = (Chunked::default(), BytesMut::new(), Vec::new());
        for piece in pieces {
            input.extend_from_slice(piece);
            loop {
                match chunked.take(&mut input)? {
                    Taken::Data(bytes) => {
                        assert!(!bytes.is_empty());
                        data.extend_from_slice(&bytes);
                    }
                    Taken::Nothing => break,
                    Taken::End => return Ok((data, Some(input.len()))),
                }
            }
            assert!(input.is_empty());
        }
        Ok((data, None))
    }

    #[test]
    fn chunks_are_joined_and_the_end_is_exact() {
        let body =
            b"5\r\nhello\r\n00b;name=\"x\"\r\n, friends..\r\n0 \t;y\tz\xff\r\nx-trailer: 1\r\n\r\nHTTP";
        assert_eq!(read(&[&body[..]]).unwrap(), (b"hello, friends..".to_vec(), Some(4)));
        assert_eq!(read(&[&b"5\r\nhel"[..]]).unwrap(), (b"hel".to_vec(), None));
    }

    #[test]
    fn a_size_that_can_be_read_in_two_ways_is_refused() {
        for size in [
            "",
            "-1",
            "+1",
            "0x1",
            "1_0",
            "g",
            " 1",
            "1\n",
            "1 0",
            "1\ta",
            "00000000000000001",
            "11111111111111111",
        ] {
            let body = format!("{size}\r\nx\r\n0\r\n\r\n");
            assert!(matches!(read(&[body.as_bytes()]), Err(BadFraming::ChunkSize)), "{size}");
        }
    }

    #[test]
    fn lines_that_do_not_end_as_they_must_are_refused() {
        for body in [
            "1\rx",
            "1;a\nx\r\n",
            "1;a\0\r\nx\r\n",
            "1;a\x01=b\r\nx\r\n",
            "1;a\x7f\r\nx\r\n",
            "1; \x1b[2J\r\nx\r\n",
            "1\r\nxy\r\n",
            "1\r\nx\n",
            "1\r\nx\rx",
            "0\r\na: b\n\r\n",
            "0\r\n\rx",
            "0\r\nno field\r\n\r\n",
            "0\r\n: b\r\n\r\n",
            "0\r\na : b\r\n\r\n",
            "0\r\na: \0\r\n\r\n",
        ] {
            assert!(matches!(read(&[body.as_bytes()]), Err(BadFraming::Chunk)), "{body:?}");
        }
    }

    #[test]
    fn what_nobody_reads_is_bounded() {
        let long = "a".repeat(IGNORED_LIMIT + 1);
        for body in [
            format!("1;{long}"),
            format!("1{}", " ".repeat(IGNORED_LIMIT + 2)),
            format!("0\r\n{long}"),
            "0\r\n".to_owned() + &"a:b\r\n".repeat(9000),
        ] {
            assert!(matches!(read(&[body.as_bytes()]), Err(BadFraming::Chunk)));
        }
        let chunks = "1;a\r\nx\r\n".repeat(IGNORED_LIMIT);
        assert_eq!(read(&[chunks.as_bytes()]).unwrap().0.len(), IGNORED_LIMIT);
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_same_is_read(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut body = Vec::new();
            for (nth, chunk) in chunks.iter().enumerate() {
                let extension = if nth % 2 == 0 { "" } else { ";a=\"b\"" };
                body.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(b"0\r\nt: u\r\n\r\n");
            let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(body.len())).collect();
            at.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in at {
                pieces.push(&body[from..cut]);
                from = cut;
            }
            pieces.push(&body[from..]);
            prop_assert_eq!(read(&pieces).unwrap(), (chunks.concat(), Some(0)));
        }

        #[test]
        fn whatever_comes_is_read_or_refused(body in prop::collection::vec(prop_oneof![
            Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'1'), Just(b';'), any::<u8>(),
        ], 0..60)) {
            let bytes: Vec<_> = body.chunks(1).collect();
            let outcome = |pieces: &[&[u8]]| read(pieces).map(|(data, rest)| (data, rest.is_some())).ok();
            prop_assert_eq!(outcome(&[&body]), outcome(&bytes));
        }
    }
}
