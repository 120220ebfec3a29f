//! One-way messages of a running call: progress, partial results and log messages.

use super::{Context, Item};
use serde::Serialize;
use trunkline_protocol::{
    Notification, Number, Object, Raw,
    message::{ContentBlock, Level, LogParams, ProgressParams, meta::PARTIAL},
    method,
};

/// Added to the progress with each partial result: the protocol requires rising values, and a
/// partial result does not say how far the work is.
const PARTIAL_STEP: f64 = 1e-6;

/// The last progress sent.
#[derive(Debug, Default)]
pub(crate) struct LastProgress {
    progress: Option<f64>,
    total: Option<f64>,
}

impl Context {
    /// Reports progress, if the caller sent a progress token. A value that is not greater than the
    /// last one is not sent.
    #[expect(clippy::cast_precision_loss, reason = "progress is for people")]
    pub fn progress(&self, value: u64, total: Option<u64>, message: impl Into<String>) {
        self.progress_of(value as f64, total.map(|total| total as f64), message);
    }

    /// Same as [`progress`](Self::progress), with fractions.
    pub fn progress_of(&self, value: f64, total: Option<f64>, message: impl Into<String>) {
        let mut last = self.shared.progress.lock();
        if last.progress.is_some_and(|last| value <= last) {
            return;
        }
        last.progress = Some(value);
        last.total = total;
        drop(last);
        self.send_progress(value, total, message.into(), None);
    }

    /// Sends a part of the result early, for callers that show results as they arrive: a progress
    /// notification with the text as `message` and the block in `_meta` under `trunkline/partial`.
    /// The final result must still be complete.
    pub fn partial(&self, content: impl Into<ContentBlock>) {
        let content = content.into();
        let mut last = self.shared.progress.lock();
        let value = last.progress.map_or(0.0, |last| last + PARTIAL_STEP);
        last.progress = Some(value);
        let total = last.total;
        drop(last);
        let message = match &content {
            ContentBlock::Text(text) => text.text.clone(),
            _ => String::new(),
        };
        let block = Raw::encode(&content).expect("a content block holds nothing but checked JSON");
        let mut meta = Object::new();
        meta.set(PARTIAL, block);
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

    /// Sends a log message, if the caller asked for this level.
    pub fn log(&self, level: Level, logger: &str, data: impl Serialize) {
        if self.shared.request.log_level.is_none_or(|wanted| level < wanted) {
            return;
        }
        let Ok(data) = Raw::encode(&data) else { return };
        let mut params = LogParams::new(level, data);
        params.logger = Some(logger.to_owned());
        self.notify(Notification::new(method::MESSAGE, Some(params.to_raw())));
    }

    /// Sends any notification on the stream of the answer.
    pub fn notify(&self, notification: Notification) {
        if !self.is_cancelled() {
            self.shared.outbox.push(Item::Notification(notification));
        }
    }

    /// Announces a long silence, so that a caller with a resumable stream may disconnect.
    pub fn detach(&self) {
        self.shared.outbox.push(Item::Detach);
    }
}
