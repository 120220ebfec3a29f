//! The server's questions to the caller, and the answers.

use super::clock::OpenQuestion;
use futures_util::task::AtomicWaker;
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};
use trunkline_protocol::{Outcome, Question, message::InputRequests};

/// The questions of one round.
pub(super) struct Answers {
    keys: Vec<String>,
    unasked: std::vec::IntoIter<Question>,
    slots: Arc<AnswerSlots>,
}

#[derive(Default)]
struct AnswerSlots {
    answers: Mutex<Vec<Option<Outcome>>>,
    waker: AtomicWaker,
}

impl Answers {
    pub(super) fn to(requests: InputRequests) -> Self {
        let slots = Arc::new(AnswerSlots::default());
        slots.with(|answers| answers.resize_with(requests.0.len(), || None));
        let mut keys = Vec::new();
        let mut questions = Vec::new();
        for (index, (key, request)) in requests.0.into_iter().enumerate() {
            let slots = slots.clone();
            let answer = move |outcome| {
                slots.with(|answers| answers[index] = Some(outcome));
                slots.waker.wake();
            };
            keys.push(key);
            questions.push(Question::new(request.method, request.params, answer));
        }
        Self { keys, unasked: questions.into_iter(), slots }
    }

    /// The next question that the caller has not seen.
    pub(super) fn next_question(&mut self) -> Option<Question> {
        self.unasked.next()
    }

    /// Waits until every question is answered.
    pub(super) fn poll_collect(&mut self, cx: &mut Context<'_>) -> Poll<Vec<(String, Outcome)>> {
        self.slots.waker.register(cx.waker());
        let answers = self.slots.with(|answers| {
            let all = answers.iter().all(Option::is_some);
            all.then(|| answers.drain(..).flatten().collect::<Vec<_>>())
        });
        answers.map_or(Poll::Pending, |answers| Poll::Ready(self.keys.drain(..).zip(answers).collect()))
    }
}

impl AnswerSlots {
    fn with<T>(&self, act: impl FnOnce(&mut Vec<Option<Outcome>>) -> T) -> T {
        act(&mut self.answers.lock())
    }
}

/// Number of unanswered questions of a call; `None` until the first question.
#[derive(Clone, Default)]
pub(super) struct OpenQuestions(Option<Arc<AtomicUsize>>);

impl OpenQuestions {
    pub(super) fn any_open(&self) -> OpenQuestion {
        match &self.0 {
            Some(count) if count.load(Ordering::Acquire) > 0 => OpenQuestion::Yes,
            _ => OpenQuestion::No,
        }
    }

    /// Counts this question as open until it is answered.
    pub(super) fn track(&mut self, question: Question) -> Question {
        let count = self.0.get_or_insert_default().clone();
        count.fetch_add(1, Ordering::AcqRel);
        let (method, params) = (question.method.clone(), question.params.clone());
        Question::new(method, params, move |outcome| {
            count.fetch_sub(1, Ordering::AcqRel);
            question.answer(outcome);
        })
    }
}
