//! Brings the user to the authorization page: in a browser here, or one elsewhere.

use crate::{commands::Context, terminal};
use futures_util::future::BoxFuture;
use std::{sync::Arc, time::Duration};
use tokio::io::{AsyncBufReadExt, BufReader};
use trunkline_oauth::{CallbackListener, CallbackParams, Interaction, OAuthError, Secret};
use trunkline_resilience::timeout;
use url::Url;

/// The page of a login, and the loopback address that waits for its answer.
pub(in crate::commands) struct Page {
    pub(in crate::commands) context: Context,
    pub(in crate::commands) listener: CallbackListener,
    /// The redirect URI that was registered, if the configuration gives one.
    pub(in crate::commands) redirect_uri: Option<String>,
    pub(in crate::commands) place: BrowserPlace,
    pub(in crate::commands) limit: Duration,
}

/// The machine on which the user has a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum BrowserPlace {
    Here,
    /// The user copies the address of the last page back.
    Elsewhere,
}

impl Page {
    async fn answer(&self, page: Url, state: Secret) -> Result<CallbackParams, OAuthError> {
        let screen = &self.context.screen;
        screen.tell(&format!("Sign in on this page:\n\n  {page}\n\n"));
        let path =
            Url::parse(&self.redirect_uri()).map_or_else(|_| "/".to_owned(), |url| url.path().to_owned());
        match self.place {
            BrowserPlace::Here => {
                let browser = self.context.environment.get_filled(crate::environment::BROWSER);
                if let Err(error) = terminal::open_page(&page, browser) {
                    screen.note(&format!("the browser cannot be started ({error}); open the page yourself"));
                }
                self.listener.wait(&path, &state).await
            }
            BrowserPlace::Elsewhere => {
                screen.tell(
                    "After the login the browser shows an address that begins with the one below, perhaps \
                     with an error. Copy that whole address and paste it here.\n",
                );
                screen.tell(&format!("  {}\n", self.redirect_uri()));
                tokio::select! {
                    answer = self.listener.wait(&path, &state) => answer,
                    answer = pasted(&state) => answer,
                }
            }
        }
    }
}

impl Interaction for Page {
    fn redirect_uri(&self) -> String {
        self.redirect_uri.clone().unwrap_or_else(|| self.listener.redirect_uri().to_owned())
    }

    fn visit(&self, page: Url, state: Secret) -> BoxFuture<'_, Result<CallbackParams, OAuthError>> {
        Box::pin(async move {
            timeout(self.limit, Box::pin(self.answer(page, state)))
                .await
                .unwrap_or_else(|| Err(self.listener.unfinished(self.limit)))
        })
    }
}

/// The pasted address; lines that are no answer to this login are skipped.
async fn pasted(state: &Secret) -> Result<CallbackParams, OAuthError> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match CallbackParams::from_pasted(&line) {
            Some(answer) if answer.state.as_ref() == Some(state) => return Ok(answer),
            Some(_) => return Err(OAuthError::WrongState),
            None => {}
        }
    }
    // Standard input has ended; the answer can still come to the loopback address.
    std::future::pending().await
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("place", &self.place).finish_non_exhaustive()
    }
}

/// A page as the interaction of an account.
pub(in crate::commands) fn shared(page: Page) -> Arc<dyn Interaction> {
    Arc::new(page)
}
