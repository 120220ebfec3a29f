//! Pages of a job's output.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::super::{log_text::plain, redact::SECRETS};
use trunkline_process::Captured;

/// Bytes before and after a page that are also searched for secrets, because a secret may cross
/// the page's edge: for example, a key whose first line is on the previous page.
const AROUND: usize = 16 * 1024;

/// An output stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Stream {
    #[default]
    Stdout,
    Stderr,
}

/// A part of a stream. Offsets count the bytes as written, from the beginning of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Page {
    pub(in super::super) text: String,
    /// Offset of this part.
    pub(in super::super) offset: u64,
    /// Offset of the next part.
    pub(in super::super) next: u64,
    /// Bytes after the requested offset that were dropped.
    pub(in super::super) skipped: u64,
    /// Bytes written so far.
    pub(in super::super) total: u64,
    /// True if the job has ended and this is the last part.
    pub(in super::super) is_last: bool,
}

/// Up to `limit` bytes from `offset`, or from the next byte that was kept. The page ends after a
/// whole line if possible, so that words and secrets are not split.
pub(super) fn page(captured: &Captured, offset: u64, limit: usize, ended: bool) -> Page {
    let head = captured.head.len() as u64;
    let tail_start = captured.total - captured.tail.len() as u64;
    let asked = offset.min(captured.total);
    let (start, buffer, from) = if asked < head {
        (asked, &captured.head, index(asked))
    } else {
        let start = asked.max(tail_start);
        (start, &captured.tail, index(start - tail_start))
    };
    let kept = &buffer[from..];
    let end = if kept.len() > limit { cut(kept, limit) } else { kept.len() };
    let next = start + end as u64;
    Page {
        text: hidden(buffer, from..from + end),
        offset: start,
        next,
        skipped: start - asked,
        total: captured.total,
        is_last: ended && next == captured.total,
    }
}

/// A part of the buffer as text, with secrets redacted, also those that cross its edges.
fn hidden(buffer: &[u8], part: Range<usize>) -> String {
    let text = |range: Range<usize>| plain(&String::from_utf8_lossy(&buffer[range]));
    let before = text(part.start.saturating_sub(AROUND)..part.start);
    let shown = text(part.clone());
    let behind = text(part.end..buffer.len().min(part.end + AROUND));
    let (start, end) = (before.len(), before.len() + shown.len());
    SECRETS.hide_part(&(before + &shown + &behind), start..end)
}

/// End of the last line within `limit`, or of the last whole character if there is no line end.
fn cut(bytes: &[u8], limit: usize) -> usize {
    if let Some(at) = bytes[..limit].iter().rposition(|byte| *byte == b'\n') {
        return at + 1;
    }
    let whole = (limit.saturating_sub(3)..=limit).rev().find(|at| bytes[*at] & 0xC0 != 0x80);
    whole.filter(|at| *at > 0).unwrap_or(limit)
}

fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(head: &str, tail: &str, total: u64) -> Captured {
        Captured { head: head.into(), tail: tail.into(), total }
    }

    #[test]
    fn pages_follow_each_other_without_gaps_or_overlaps() {
        let captured = captured("one\ntwo\n", "three\n", 14);
        let first = page(&captured, 0, 6, true);
        assert_eq!((first.text.as_str(), first.next, first.is_last), ("one\n", 4, false));
        let second = page(&captured, first.next, 100, true);
        assert_eq!((second.text.as_str(), second.next), ("two\n", 8));
        let third = page(&captured, second.next, 100, true);
        assert_eq!((third.text.as_str(), third.next, third.is_last), ("three\n", 14, true));
        assert_eq!(
            page(&captured, 99, 10, false),
            Page { text: String::new(), offset: 14, next: 14, skipped: 0, total: 14, is_last: false }
        );
    }

    #[test]
    fn what_was_dropped_is_skipped_and_counted() {
        let captured = captured("abc", "xyz", 100);
        let page = page(&captured, 50, 10, true);
        assert_eq!((page.offset, page.skipped, page.text.as_str(), page.is_last), (97, 47, "xyz", true));
    }

    #[test]
    fn a_secret_at_the_border_of_a_page_is_hidden_on_both() {
        let text = "x ghp_a1B2c3D4e5F6a1B2c3D4e5F6 y";
        let captured = captured(text, "", text.len() as u64);
        assert_eq!(page(&captured, 0, 10, true).text, "x [redacted]");
        assert_eq!(page(&captured, 10, 100, true).text, "[redacted] y");
    }

    #[test]
    fn a_key_whose_first_lines_are_on_the_page_before_is_hidden() {
        let text = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb\n";
        let captured = captured(text, "", text.len() as u64);
        assert_eq!(page(&captured, 34, 9, true).text, "[redacted]");
        assert_eq!(page(&captured, 34, 200, true).text, "[redacted]\nb\n");
    }

    #[test]
    fn a_page_does_not_end_within_a_character() {
        let captured = captured("äöü", "", 6);
        assert_eq!(page(&captured, 0, 3, true).text, "ä");
        assert_eq!(page(&captured, 2, 3, true).text, "ö");
    }
}
