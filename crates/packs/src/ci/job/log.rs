//! Paging through what a job wrote.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::super::{log_text::plain, redact::SECRETS};
use trunkline_process::Captured;

/// Bytes on both sides of a page in which a secret is looked for that reaches into it, such as the first line of a key.
const AROUND: usize = 16 * 1024;

/// Which of the two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Stream {
    #[default]
    Stdout,
    Stderr,
}

/// A part of a stream. Offsets count bytes from its beginning, as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Page {
    pub(in super::super) text: String,
    /// Where this part begins.
    pub(in super::super) offset: u64,
    /// Where the next part begins.
    pub(in super::super) next: u64,
    /// Bytes from the offset asked for that are not kept any more.
    pub(in super::super) skipped: u64,
    /// Bytes written by now.
    pub(in super::super) total: u64,
    /// Whether nothing follows, now or later.
    pub(in super::super) is_last: bool,
}

/// Up to `limit` bytes from `offset`, or from where the stream goes on if that part was dropped. Cut after the last
/// whole line where there is one, so that words and secrets are not torn.
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

/// A part of the buffer as text without secrets, also those that begin before it or end behind it.
fn hidden(buffer: &[u8], part: Range<usize>) -> String {
    let text = |range: Range<usize>| plain(&String::from_utf8_lossy(&buffer[range]));
    let before = text(part.start.saturating_sub(AROUND)..part.start);
    let shown = text(part.clone());
    let behind = text(part.end..buffer.len().min(part.end + AROUND));
    let (start, end) = (before.len(), before.len() + shown.len());
    SECRETS.hide_part(&(before + &shown + &behind), start..end)
}

/// The end of the last line within `limit`, or else of the last whole character.
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
