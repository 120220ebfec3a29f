//! Deterministic mutation of inputs.

/// Bytes inserted into inputs; each is significant to one of the parsers.
const TOKENS: [&[u8]; 24] = [
    b"\n",
    b"\r\n",
    b"\0",
    b"\"",
    b"\\",
    b"\\u0061",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"..",
    b"/",
    b"@",
    b"$${",
    b"${A:-",
    b"{file:",
    b"//",
    b"/*",
    b"\xff",
    b"\xef\xbb\xbf",
    b"18446744073709551616",
];
/// Maximum length of an input.
const MOST: usize = 4096;
/// Maximum number of changes per input.
const CHANGES: usize = 4;

/// Generates inputs with a pseudorandom generator seeded by the name of the parser.
#[derive(Debug)]
pub(crate) struct Mutator(u64);

impl Mutator {
    pub(crate) fn new(name: &str) -> Self {
        Self(
            name.bytes().fold(0x9e37_79b9_7f4a_7c15, |seed, byte| {
                (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            }) | 1,
        )
    }

    /// Returns a mutation of one of the seeds.
    pub(crate) fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(CHANGES) {
            self.change(&mut input, seeds);
        }
        input.truncate(MOST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = at + self.below(input.len() + 1 - at);
        match self.below(6) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 => drop(input.drain(at..end)),
            2 => drop(input.splice(at..at, TOKENS[self.below(TOKENS.len())].iter().copied())),
            3 => input.extend_from_within(at..end),
            4 => input.truncate(at),
            _ => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len() + 1);
                input.splice(at..end, other[from..].iter().copied());
            }
        }
    }

    /// Returns a pseudorandom number below `bound` (xorshift; quality matters little).
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("it is below a usize")
    }
}
