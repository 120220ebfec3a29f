//! `auth logout`: revokes the tokens and forgets them.

use super::{ServerArgs, failed};
use crate::{
    commands::{Context, Ending},
    failure::Failure,
    runtime,
};
use serde_json::json;
use trunkline_oauth::Account;

/// Sign out: revoke the tokens at the authorization server, and forget them
///
/// The tokens are forgotten even if they cannot be revoked.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// Sign out a caller of the gateway, such as `key:ada`; `auth status` shows them
    #[arg(long, value_name = "CALLER")]
    user: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let mut options = args.server.account(&context.environment)?;
    options.principal.clone_from(&args.user);
    let account = Account::new(options);
    let can_revoke =
        account.stored().ok().flatten().is_some_and(|login| login.issuer.revocation_endpoint.is_some());
    let was_signed_in = runtime::start()?.block_on(account.logout()).map_err(|error| {
        failed(&error).during("the tokens were revoked; they are forgotten here, but may still be valid")
    })?;
    let revoked = was_signed_in && can_revoke;
    if context.output.json {
        return context.print_json(&json!({"signedOut": was_signed_in, "revoked": revoked}));
    }
    context.print(match (was_signed_in, revoked) {
        (false, _) => "you were not signed in\n",
        (true, true) => "signed out; the tokens were revoked\n",
        (true, false) => {
            "signed out; the server cannot revoke tokens, so they stay valid until they expire\n"
        }
    })
}
