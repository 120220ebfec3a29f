//! One finding as it is shown, with its frames and its fingerprint.

use super::{SECRETS, Source, inline, snippet::Snippet};
use crate::{
    evidence::{Direction, FrameRef},
    outcome::{Finding, Level},
    rule::Rule,
};
use bytes::Bytes;
use serde::Serialize;
use std::borrow::Cow;
use trunkline_protocol::Era;

/// Bytes of a frame in a report.
const FRAME_SHOWN: usize = 2000;

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FindingReport {
    pub rule: &'static str,
    pub level: Level,
    /// Identifies the same fault in every run.
    pub fingerprint: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The eras in which it occurs.
    pub eras: Vec<String>,
    /// JSON pointer (RFC 6901) into the last received frame of `frames`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
    pub frames: Vec<FrameReport>,
    /// The complete sent frames, to reproduce the finding.
    #[serde(skip)]
    pub sent: Vec<Bytes>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub fix: Cow<'static, str>,
    pub clause: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<Ignored>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameReport {
    pub line: usize,
    pub purpose: &'static str,
    pub direction: Direction,
    pub at_ms: u64,
    pub text: String,
    pub length: usize,
}

/// The source and reason of an ignore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ignored {
    pub by: String,
    pub reason: String,
}

impl FindingReport {
    pub(super) fn new(rule: &'static Rule, finding: &Finding, era: Option<Era>, source: Source<'_>) -> Self {
        let pointer = finding.place.as_ref().map(|place| place.pointer.clone()).filter(|at| !at.is_empty());
        let snippet = match (source, &finding.place) {
            (Source::Evidence(evidence), Some(place)) if !place.pointer.is_empty() => {
                evidence.frame(place.frame).and_then(|frame| Snippet::of(frame.json()?, &place.pointer))
            }
            (Source::Config(config), Some(place)) => Snippet::of(&config.value, &place.pointer),
            _ => None,
        };
        let frames = match source {
            Source::Evidence(evidence) => {
                let shown = |at: &FrameRef| {
                    let (line, frame) = (evidence.lines.get(at.line)?, evidence.frame(*at)?);
                    Some(FrameReport {
                        line: at.line,
                        purpose: line.purpose,
                        direction: frame.direction,
                        at_ms: u64::try_from(frame.at.as_millis()).unwrap_or(u64::MAX),
                        text: shown_frame(&frame.text()),
                        length: frame.length,
                    })
                };
                finding.frames.iter().filter_map(shown).collect()
            }
            Source::Config(_) | Source::Nothing => Vec::new(),
        };
        let ignored = match (source, &finding.place) {
            (Source::Evidence(evidence), Some(place)) => evidence
                .frame(place.frame)
                .and_then(|frame| inline::find(rule, frame.json()?, &place.pointer)),
            _ => None,
        };
        let sent = match source {
            Source::Evidence(evidence) => {
                let frames = finding.frames.iter().filter_map(|at| evidence.frame(*at));
                frames
                    .filter(|frame| frame.direction == Direction::Sent)
                    .map(|frame| frame.bytes.clone())
                    .collect()
            }
            Source::Config(_) | Source::Nothing => Vec::new(),
        };
        Self {
            rule: rule.name,
            level: finding.level.unwrap_or(rule.level),
            fingerprint: fingerprint(rule.name, finding.about.as_deref(), pointer.as_deref()),
            message: hidden(&finding.message),
            about: finding.about.as_deref().map(hidden),
            eras: era.iter().map(ToString::to_string).collect(),
            pointer: pointer.as_deref().map(hidden),
            snippet,
            frames,
            sent,
            notes: finding.notes.iter().map(|note| hidden(note)).collect(),
            fix: finding.fix.clone().map_or(Cow::Borrowed(rule.fix), Cow::Owned),
            clause: rule.clause.to_string(),
            ignored,
        }
    }
}

/// Adds a finding, or adds its era to an identical one.
pub(super) fn merge(findings: &mut Vec<FindingReport>, finding: FindingReport) {
    let same = |known: &&mut FindingReport| {
        known.about == finding.about && known.message == finding.message && known.level == finding.level
    };
    match findings.iter_mut().find(same) {
        Some(known) => {
            let new = finding.eras.into_iter().filter(|era| !known.eras.contains(era)).collect::<Vec<_>>();
            known.eras.extend(new);
        }
        None => findings.push(finding),
    }
}

/// Masks secrets in a text of a server or file.
fn hidden(text: &str) -> String {
    SECRETS.hide(text).into_owned()
}

/// The beginning of a frame, with secrets masked. Masking sees twice the shown length, so that a
/// secret at the cut is recognised.
fn shown_frame(text: &str) -> String {
    let near = &text[..text.floor_char_boundary(2 * FRAME_SHOWN)];
    let end = text.floor_char_boundary(FRAME_SHOWN);
    let shown = SECRETS.hide_part(near, 0..end);
    if end < text.len() { shown + "…" } else { shown }
}

/// Cuts a text at a character boundary and marks the cut.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}

/// FNV-1a hash of rule, subject and pointer. Numbers in the pointer are left out, so that an item
/// may move in its list.
fn fingerprint(rule: &str, about: Option<&str>, pointer: Option<&str>) -> String {
    let place: Vec<&str> =
        pointer.unwrap_or_default().split('/').filter(|part| part.parse::<u64>().is_err()).collect();
    let text = format!("{rule}\0{}\0{}", about.unwrap_or_default(), place.join("/"));
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
