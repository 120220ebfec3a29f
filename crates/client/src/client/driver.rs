//! Sends one request and routes its progress, questions and result.

use super::Client;
use crate::{
    conversation::Rounds,
    era::{Ask, Progress},
    host::Asked,
    resilience::{Timeouts, Verdict},
};
use trunkline_protocol::{
    Fault, FaultKind, Notification, Outcome, Part, Question, Raw, message::ProgressParams, method,
};

/// Callback for progress notifications.
pub(super) type OnProgress<'a> = &'a mut (dyn FnMut(ProgressParams) + Send);

impl Client {
    /// Sends a request, with retries if its method allows them.
    pub(super) async fn send(&self, ask: Ask) -> Outcome {
        let safety = ask.safety;
        let attempt = |_| self.send_once(ask.clone(), self.0.timeouts, None);
        self.0.retry.run(safety, judge, attempt).await
    }

    /// Sends a request once, unless the circuit breaker is open.
    pub(super) async fn send_once(
        &self,
        mut ask: Ask,
        timeouts: Timeouts,
        on_progress: Option<OnProgress<'_>>,
    ) -> Outcome {
        self.0.items.check(&ask)?;
        let admission = self.0.breaker.admit().map_err(|refused| {
            let fault =
                format!("calls to this server are suspended; failures in a row: {}", refused.failures);
            let detail = format!(
                "next try in {:.1} s; last failure: {}",
                refused.retry_after.as_secs_f64(),
                refused.last_error
            );
            Fault::new(FaultKind::Unavailable, fault).with_detail(detail)
        })?;
        if on_progress.is_some() {
            ask.progress = Progress::Wanted;
        }
        let outcome = self.drive(ask, timeouts, on_progress).await;
        match &outcome {
            Err(fault) if fault.counts_against_server() => admission.failed(fault),
            _ => admission.succeeded(),
        }
        outcome
    }

    async fn drive(&self, ask: Ask, timeouts: Timeouts, mut on_progress: Option<OnProgress<'_>>) -> Outcome {
        let mut reply = self.0.connection.ask(ask, Rounds::Driven, Some(timeouts));
        while let Some(part) = reply.next().await {
            match part {
                Part::Notification(notification) => match &mut on_progress {
                    Some(hear) => self.hear(notification, &mut **hear),
                    None => self.hear(notification, &mut |_| {}),
                },
                Part::Question(question) => self.answer(question),
                Part::Detach => {}
                Part::Final(outcome) => return outcome,
            }
        }
        Err(Fault::new(FaultKind::ConnectionLost, "the connection closed in the middle of the answer"))
    }

    fn hear(&self, notification: Notification, on_progress: OnProgress<'_>) {
        if notification.method != method::PROGRESS {
            return self.0.connection.publish(notification);
        }
        let params = notification.params.as_ref().and_then(|params| params.decode().ok());
        if let Some(params) = params {
            on_progress(params);
        }
    }

    /// Answers in a task of its own, so that the call's other messages are not delayed.
    fn answer(&self, question: Question) {
        let asked = Asked { method: question.method.clone(), params: question.params.clone() };
        let answer = self.0.connection.host().answer(asked);
        tokio::spawn(async move { question.answer(answer.await) });
    }
}

/// Decides on a retry. After a timeout or an exited process another attempt would not succeed.
fn judge(fault: &Fault) -> Verdict {
    match fault.kind() {
        FaultKind::Timeout | FaultKind::ServerExited | FaultKind::HeaderMismatch => Verdict::GiveUp,
        _ if fault.entry().retryable => Verdict::Retry,
        _ => Verdict::GiveUp,
    }
}

/// Decodes a result into the view of its method.
pub(super) fn read<T: serde::de::DeserializeOwned>(result: &Raw, name: &str) -> Result<T, Fault> {
    result.decode().map_err(|error| {
        Fault::new(FaultKind::BadAnswer, format!("the result of `{name}` cannot be read"))
            .with_detail(error.to_string())
    })
}
