//! The visit of a browser to the authorization server, started and received at our own door.

use futures_util::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use std::fmt;
use tokio::sync::oneshot;
use trunkline_oauth::{CallbackParams, Interaction, OAuthError, Secret};
use url::Url;

/// Passes the page to the browser that waits for it, and waits for the redirect.
pub(super) struct DoorVisit {
    redirect_uri: String,
    page: Mutex<Option<oneshot::Sender<(Url, Secret)>>>,
    answer: Mutex<Option<oneshot::Receiver<CallbackParams>>>,
}

/// The ends of a visit that the door holds.
pub(super) struct VisitEnds {
    /// The page to send the browser to, and the `state` that it comes back with.
    pub(super) page: oneshot::Receiver<(Url, Secret)>,
    pub(super) answer: oneshot::Sender<CallbackParams>,
}

impl DoorVisit {
    pub(super) fn new(redirect_uri: String) -> (Self, VisitEnds) {
        let (show, page) = oneshot::channel();
        let (answer, answered) = oneshot::channel();
        let visit = Self { redirect_uri, page: Mutex::new(Some(show)), answer: Mutex::new(Some(answered)) };
        (visit, VisitEnds { page, answer })
    }
}

impl Interaction for DoorVisit {
    fn redirect_uri(&self) -> String {
        self.redirect_uri.clone()
    }

    fn visit(&self, page: Url, state: Secret) -> BoxFuture<'_, Result<CallbackParams, OAuthError>> {
        let (show, answered) = (self.page.lock().take(), self.answer.lock().take());
        async move {
            // The other end of the channel was dropped with the login.
            let ended = || OAuthError::Unfinished { seconds: 0 };
            show.ok_or_else(ended)?.send((page, state)).map_err(|_| ended())?;
            answered.ok_or_else(ended)?.await.map_err(|_| ended())
        }
        .boxed()
    }
}

impl fmt::Debug for DoorVisit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoorVisit").field("redirect_uri", &self.redirect_uri).finish_non_exhaustive()
    }
}
