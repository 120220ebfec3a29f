//! `--fix`: shows the repairs that are safe to make, and makes them after confirmation.

use crate::{
    commands::{Context, edit_file::Consent},
    failure::Failure,
    render::safe,
    terminal::Screen,
};
use tokio::task;
use trunkline_doctor::{Diagnosis, Edit};

/// Shows the repairs for this diagnosis, and makes them after confirmation.
pub(super) async fn offer(context: &Context, diagnosis: &Diagnosis, consent: Consent) -> Result<(), Failure> {
    let edits = Edit::of(diagnosis);
    if edits.is_empty() {
        context.screen.note("there is nothing that can be repaired automatically");
    }
    apply(context, &edits, consent).await
}

/// Shows the edits, and makes them after confirmation.
pub(super) async fn apply(context: &Context, edits: &[Edit], consent: Consent) -> Result<(), Failure> {
    for edit in edits {
        context.screen.tell(&format!("{}\n", safe::text(&edit.diff())));
        if !agreed(context, consent).await {
            context.screen.note("not changed; pass `--yes` to apply it");
            continue;
        }
        edit.apply()
            .map_err(|error| Failure::usage(format!("{} was not changed: {error}", edit.path().display())))?;
        context.screen.note(&format!("{} was changed; run the doctor again", edit.path().display()));
    }
    Ok(())
}

async fn agreed(context: &Context, consent: Consent) -> bool {
    if consent == Consent::Given {
        return true;
    }
    if !Screen::can_ask() {
        return false;
    }
    context.screen.tell("change it? [y/N] ");
    // On a blocking thread, so that Ctrl-C is still handled while we wait for input.
    task::spawn_blocking(Screen::typed_yes).await.unwrap_or(false)
}
