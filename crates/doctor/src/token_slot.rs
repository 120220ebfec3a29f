//! The token of an examination: obtained after the first refusal, then sent with each request.

use http::HeaderValue;
use parking_lot::Mutex;
use std::{fmt, sync::Arc};
use trunkline_oauth::{Account, AccountOptions, Interaction};
use trunkline_transport::http::{Credentials, Refusal, Supply, Supplying};

/// The way to a token; [`DoctorOptions::signing_in`](crate::DoctorOptions::signing_in) makes one.
#[derive(Clone)]
pub struct SignIn {
    pub(super) account: Account,
    /// Signs a user in; otherwise only a stored login or the client's own credentials are used.
    pub(super) page: Option<Arc<dyn Interaction>>,
    pub(super) slot: TokenSlot,
}

/// Credentials that are empty until a token is put there. They answer no refusal, so that the
/// examination sees it.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenSlot(Arc<Mutex<Option<HeaderValue>>>);

impl SignIn {
    pub(super) fn new(account: AccountOptions, page: Option<Arc<dyn Interaction>>) -> Self {
        Self { account: Account::new(account), page, slot: TokenSlot::default() }
    }

    /// Revokes a token that was issued for this examination only.
    pub(super) async fn end(&self) {
        if self.page.is_some() {
            // The report is about the server; a token that stays valid until it expires is no part
            // of it.
            self.account.logout().await.ok();
        }
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("account", &self.account).finish_non_exhaustive()
    }
}

impl TokenSlot {
    pub(super) fn put(&self, header: HeaderValue) {
        *self.0.lock() = Some(header);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().is_none()
    }
}

impl Credentials for TokenSlot {
    fn header(&self) -> Supply {
        Supply::Ready(self.0.lock().clone())
    }

    fn refused(&self, _: Refusal) -> Supplying {
        Box::pin(async { Ok(None) })
    }
}
