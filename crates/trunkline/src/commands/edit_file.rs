//! Changes a file after it was shown: as a diff, with a question, and with a backup.

use super::{Context, Ending};
use crate::{failure::Failure, render::safe, terminal::Screen};
use serde_json::json;
use std::{io, path::Path};
use trunkline_config::{read_regular_text, replace};

/// Maximum size of a file that is changed; some clients keep their history in it, too.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The user's consent to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// Given with `--yes`.
    Given,
    Ask,
}

impl Consent {
    pub(super) fn of(yes: bool) -> Self {
        if yes { Self::Given } else { Self::Ask }
    }
}

/// The content of a file; `None` if there is none.
pub(super) fn content(path: &Path) -> Result<Option<String>, Failure> {
    match read_regular_text(path, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::usage(format!("{} cannot be read: {error}", path.display()))),
    }
}

/// Shows the change, asks, and makes it. A backup of the previous content is kept beside the file.
pub(super) fn change(
    context: &Context,
    path: &Path,
    before: Option<&str>,
    after: &str,
    consent: Consent,
) -> Result<Ending, Failure> {
    let is_same = before == Some(after);
    if !context.output.json {
        let shown = if is_same { String::new() } else { diff(before.unwrap_or_default(), after) };
        context.print(&format!(
            "{}\n{}",
            safe::line(&path.display().to_string()),
            context.screen.hide(&safe::text(&shown))
        ))?;
    }
    let agreed = is_same || consent == Consent::Given || ask(context);
    let mut backup = None;
    if agreed && !is_same {
        backup = replace(path, before, after)
            .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())))?;
    }
    if context.output.json {
        let page = json!({"file": path, "changed": agreed && !is_same, "backup": backup});
        context.print_json(&page)?;
    } else if is_same {
        context.print("nothing to change\n")?;
    } else if agreed {
        let kept = backup.map(|path| format!("; the previous content is in {}", path.display()));
        context.print(&format!("written{}\n", kept.unwrap_or_default()))?;
    } else {
        context.print("not changed; --yes changes it\n")?;
    }
    Ok(if agreed { Ending::Fine } else { Ending::ToolError })
}

fn ask(context: &Context) -> bool {
    if context.output.json || !Screen::can_ask() {
        return false;
    }
    context.screen.tell("change it? [y/N] ");
    Screen::typed_yes()
}

/// The lines that differ, with one line of context before and after. The edits made here are in
/// one place.
pub(super) fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    let mut shown: Vec<String> = Vec::new();
    shown.extend(start.checked_sub(1).map(|place| format!("  {}", old[place])));
    shown.extend(old[start..old.len() - end].iter().map(|line| format!("- {line}")));
    shown.extend(new[start..new.len() - end].iter().map(|line| format!("+ {line}")));
    shown.extend(new.get(new.len() - end).map(|line| format!("  {line}")));
    shown.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_the_changed_lines_and_their_neighbours() {
        assert_eq!(diff("a\nb\nc\nd\n", "a\nb\nx\nd\n"), "  b\n- c\n+ x\n  d\n");
        assert_eq!(diff("", "a\n"), "+ a\n");
        assert_eq!(diff("a\na\n", "a\na\na\n"), "  a\n+ a\n");
        assert_eq!(diff("a\n", ""), "- a\n");
    }
}
