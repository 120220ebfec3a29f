//! `traceparent` of W3C Trace Context, in `_meta` or in a header: the trace of a message and the
//! span that sent it.

use std::{fmt, str::FromStr};

/// Length of version 00.
const LENGTH: usize = 55;
const SAMPLED: u8 = 1;
/// The flags that the standard defines: sampled, and random trace id.
const KNOWN_FLAGS: u8 = 3;

/// The trace of a message and the span that sent it. Ids are never all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    pub flags: u8,
}

/// The text is not a valid `traceparent` and is treated as absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a W3C traceparent")]
pub struct BadTraceParent;

impl TraceParent {
    /// True if the sender records this trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Another span of the same trace.
    #[must_use]
    pub fn child(&self, span_id: [u8; 8]) -> Self {
        Self { span_id, flags: self.flags & KNOWN_FLAGS, ..*self }
    }

    /// The root span of a new trace.
    pub fn root(trace_id: [u8; 16], span_id: [u8; 8], sampled: Sampled) -> Self {
        Self { trace_id, span_id, flags: if sampled == Sampled::Yes { SAMPLED } else { 0 } }
    }
}

/// Says if a trace is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampled {
    Yes,
    No,
}

impl FromStr for TraceParent {
    type Err = BadTraceParent;

    /// Reads version 00, and from later versions the fields that they share with it.
    fn from_str(text: &str) -> Result<Self, BadTraceParent> {
        let bytes = text.as_bytes();
        let head = bytes.get(..LENGTH).ok_or(BadTraceParent)?;
        let [version] = hex(&head[..2])?;
        let longer = bytes.len() > LENGTH;
        let is_known = version != 0xff && !(version == 0 && longer) && !(longer && bytes[LENGTH] != b'-');
        if !is_known || [2, 35, 52].iter().any(|at| head[*at] != b'-') {
            return Err(BadTraceParent);
        }
        let (trace_id, span_id) = (hex(&head[3..35])?, hex(&head[36..52])?);
        let [flags] = hex(&head[53..])?;
        if trace_id == [0; 16] || span_id == [0; 8] {
            return Err(BadTraceParent);
        }
        Ok(Self { trace_id, span_id, flags })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, span) = (u128::from_be_bytes(self.trace_id), u64::from_be_bytes(self.span_id));
        write!(f, "00-{trace:032x}-{span:016x}-{:02x}", self.flags)
    }
}

/// Accepts lower case only, as the standard requires.
fn hex<const N: usize>(digits: &[u8]) -> Result<[u8; N], BadTraceParent> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(BadTraceParent),
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_is_read_is_written_the_same() {
        let read: TraceParent = GIVEN.parse().unwrap();
        assert!(read.is_sampled());
        assert_eq!(read.to_string(), GIVEN);
        let child = read.child([1; 8]);
        assert_eq!(child.to_string(), "00-4bf92f3577b34da6a3ce929d0e0e4736-0101010101010101-01");
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        let later = format!("{}-what-comes", GIVEN.replacen("00-", "cc-", 1));
        assert_eq!(later.parse(), GIVEN.parse::<TraceParent>());
        assert_eq!(GIVEN.replacen("-01", "-ff", 1).parse::<TraceParent>().unwrap().child([1; 8]).flags, 3);
    }

    #[test]
    fn what_is_malformed_counts_as_none() {
        let cases = [
            String::new(),
            "00".into(),
            GIVEN.to_uppercase(),
            GIVEN.replacen("00-", "ff-", 1),
            format!("{GIVEN}-more"),
            format!("{}x", GIVEN.replacen("00-", "01-", 1)),
            GIVEN.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            GIVEN.replace("00f067aa0ba902b7", &"0".repeat(16)),
            GIVEN.replace('-', "_"),
            GIVEN.replace("4bf9", "4bé"),
        ];
        for case in cases {
            assert_eq!(case.parse::<TraceParent>(), Err(BadTraceParent), "{case}");
        }
    }
}
