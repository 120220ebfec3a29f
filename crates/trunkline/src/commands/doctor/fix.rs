//! `--fix`: what can be mended safely is shown, and done when the person says yes.

use crate::{commands::Context, failure::Failure, render::safe, terminal::Screen};
use std::io::BufRead;
use tokio::task;
use trunkline_doctor::{Diagnosis, Edit};

/// Whether the person has said yes already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    Given,
    Ask,
}

impl Consent {
    pub(super) fn of(yes: bool) -> Self {
        if yes { Self::Given } else { Self::Ask }
    }
}

/// Shows what would be changed, and changes it.
pub(super) async fn offer(context: &Context, diagnosis: &Diagnosis, consent: Consent) -> Result<(), Failure> {
    let edits = Edit::of(diagnosis);
    if edits.is_empty() {
        context.screen.note("there is nothing that could be mended safely by itself");
    }
    apply(context, &edits, consent).await
}

/// Shows edits, and makes them.
pub(super) async fn apply(context: &Context, edits: &[Edit], consent: Consent) -> Result<(), Failure> {
    for edit in edits {
        context.screen.tell(&format!("{}\n", safe::text(&edit.diff())));
        if !agreed(context, consent).await {
            context.screen.note("not changed; say `--yes` to have it done");
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
    // Beside, so that Ctrl-C is heard meanwhile.
    let typed = task::spawn_blocking(|| {
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    matches!(typed.await, Ok(Ok(answer)) if answer.trim().eq_ignore_ascii_case("y"))
}
