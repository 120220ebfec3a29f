//! Aside: a future that is polled when it was woken itself, and not whenever its task is.

use futures_util::task::AtomicWaker;
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// A future beside the work of a task, that seldom has anything to say.
pub(crate) struct Aside<T> {
    future: Pin<Box<dyn Future<Output = T> + Send>>,
    bell: Arc<Bell>,
    waker: Waker,
}

struct Bell {
    rung: AtomicBool,
    task: AtomicWaker,
}

impl<T> Aside<T> {
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), task: AtomicWaker::new() });
        Self { future: Box::pin(future), waker: Waker::from(bell.clone()), bell }
    }
}

impl<T> Future for Aside<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        self.bell.task.register(cx.waker());
        if !self.bell.rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let this = &mut *self;
        this.future.as_mut().poll(&mut Context::from_waker(&this.waker))
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::sync::atomic::AtomicU32;
    use tokio::sync::Notify;

    #[tokio::test]
    async fn it_is_polled_when_it_was_woken_and_only_then() {
        let (go, polled) = (Arc::new(Notify::new()), Arc::new(AtomicU32::new(0)));
        let (going, counted) = (go.clone(), polled.clone());
        let mut aside = Aside::new(async move {
            let mut going = std::pin::pin!(going.notified());
            std::future::poll_fn(|cx| {
                counted.fetch_add(1, Ordering::Relaxed);
                going.as_mut().poll(cx)
            })
            .await;
        });
        for _ in 0..3 {
            assert!((&mut aside).now_or_never().is_none());
        }
        assert_eq!(polled.load(Ordering::Relaxed), 1);
        go.notify_one();
        aside.await;
        assert_eq!(polled.load(Ordering::Relaxed), 2);
    }
}
