//! How a running call speaks without waiting for an answer: progress, partial results, log messages.

use super::{Context, Item};
use serde::Serialize;
use std::sync::PoisonError;
use trunkline_protocol::{
    Notification, Number, Object, Raw,
    message::{ContentBlock, Level, LogParams, ProgressParams},
    method,
};

/// Under this key of a progress notification's `_meta` stands a part of the result.
const PARTIAL_META: &str = "trunkline/partial";
/// How far a partial result moves the progress: values must rise, and this one says nothing about how far the work is.
const PARTIAL_STEP: f64 = 1e-6;

/// What was told so far.
#[derive(Debug, Default)]
pub(crate) struct Told {
    progress: Option<f64>,
    total: Option<f64>,
}

impl Context {
    /// Says how far the work is. Heard only by callers who asked for progress; a value that does not rise is not sent.
    #[expect(clippy::cast_precision_loss, reason = "progress is for people")]
    pub fn progress(&self, value: u64, total: Option<u64>, message: impl Into<String>) {
        self.progress_of(value as f64, total.map(|total| total as f64), message);
    }

    /// The same with fractions.
    pub fn progress_of(&self, value: f64, total: Option<f64>, message: impl Into<String>) {
        let mut told = self.shared.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if told.progress.is_some_and(|last| value <= last) {
            return;
        }
        told.progress = Some(value);
        told.total = total;
        drop(told);
        self.send_progress(value, total, message.into(), None);
    }

    /// Sends a part of the result ahead, for callers who show results as they come: a progress notification whose `message`
    /// is the text and whose `_meta` holds the block under `trunkline/partial`. The final result must still hold everything.
    pub fn partial(&self, content: impl Into<ContentBlock>) {
        let content = content.into();
        let mut told = self.shared.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let value = told.progress.map_or(0.0, |last| last + PARTIAL_STEP);
        told.progress = Some(value);
        let total = told.total;
        drop(told);
        let message = match &content {
            ContentBlock::Text(text) => text.text.clone(),
            _ => String::new(),
        };
        let block = Raw::encode(&content).expect("a content block holds nothing but checked JSON");
        let mut meta = Object::new();
        meta.set(PARTIAL_META, block);
        self.send_progress(value, total, message, Some(meta.to_raw()));
    }

    fn send_progress(&self, value: f64, total: Option<f64>, message: String, meta: Option<Raw>) {
        let Some(token) = self.shared.request.meta.progress_token.clone() else { return };
        let Some(value) = Number::from_f64(value) else { return };
        let mut params = ProgressParams::new(token, value);
        params.total = total.and_then(Number::from_f64);
        params.message = (!message.is_empty()).then_some(message);
        params.meta = meta;
        self.notify(Notification::new(method::PROGRESS, Some(params.to_raw())));
    }

    /// Writes to the caller's log. Heard only by callers who asked for this level.
    pub fn log(&self, level: Level, logger: &str, data: impl Serialize) {
        if self.shared.request.log_level.is_none_or(|wanted| level < wanted) {
            return;
        }
        let Ok(data) = Raw::encode(&data) else { return };
        let mut params = LogParams::new(level, data);
        params.logger = Some(logger.to_owned());
        self.notify(Notification::new(method::MESSAGE, Some(params.to_raw())));
    }

    /// Sends any notification along with the answer.
    pub fn notify(&self, notification: Notification) {
        if !self.is_cancelled() {
            self.shared.outbox.push(Item::Notification(notification));
        }
    }

    /// Says that nothing will come for a while, so a caller with a stream that can be taken up again may hang up.
    pub fn detach(&self) {
        self.shared.outbox.push(Item::Detach);
    }
}
