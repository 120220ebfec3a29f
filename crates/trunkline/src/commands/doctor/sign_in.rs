//! `doctor --sign-in`: a user signs in for the examination.

use crate::{
    commands::{
        Context,
        auth::page::{BrowserPlace, Page, shared},
    },
    failure::Failure,
};
use std::time::Duration;
use trunkline_doctor::DoctorOptions;
use trunkline_oauth::CallbackListener;

/// Time for the login, unless `--timeout` gives another one.
const LOGIN: Duration = Duration::from_mins(5);

/// Options with which a user signs in on a page.
pub(super) async fn by_page(
    context: &Context,
    timeout: Option<Duration>,
    mut options: DoctorOptions,
) -> Result<DoctorOptions, Failure> {
    let Some(account) = options.account() else {
        return Err(Failure::usage("this server has no login to make")
            .hint("only servers with an address have one, over https or on this machine")
            .hint("`oauth` must not be false, and `headers` must not have an Authorization header"));
    };
    let listener = CallbackListener::bind(account.callback_port)
        .await
        .map_err(|error| Failure::usage(format!("the callback port cannot be opened: {error}")))?;
    let limit = timeout.unwrap_or(LOGIN);
    let page = Page {
        context: context.clone(),
        listener,
        redirect_uri: account.redirect_uri.clone(),
        place: BrowserPlace::Here,
        limit,
    };
    options.limits.total += limit * 2;
    Ok(options.signing_in_by(shared(page)))
}
