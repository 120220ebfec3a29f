//! Protected files that are not tracked: once they are staged or stashed, every diff shows them.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};

use trunkline_toolbox::ToolError;

use super::repository::Repository;
use crate::sandbox::names;

/// Maximum size of a list of names in bytes.
const LIST_SIZE: usize = 64 * 1024 * 1024;

impl Repository<'_> {
    /// Refuses to take an untracked protected file in `paths` into the repository; an empty list
    /// means all files.
    pub(super) async fn takes_no_secret(&self, paths: &[String]) -> Result<(), ToolError> {
        let others = self.read("ls-files").args(["--others", "--exclude-standard", "-z", "--"]);
        let output = others.args(paths).output_limit(LIST_SIZE).ok().await?;
        if output.truncated() {
            return Err(ToolError::new("too many new files at once to be checked")
                .hint("Take one directory at a time."));
        }
        for name in output.stdout.head.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let name = Path::new(OsStr::from_bytes(name));
            if let Some(rule) = self.hiding(name)? {
                let text = format!("{:?} is protected by the rule `{rule}`", name.display().to_string());
                return Err(ToolError::new(text).hint("Name other files, or add it to .gitignore."));
            }
        }
        Ok(())
    }

    /// The rule that forbids reading a file below the top of the working tree, if any.
    fn hiding(&self, name: &Path) -> Result<Option<String>, ToolError> {
        let protected = &self.git().options().protected;
        let path = self.top()?.join(name);
        let root = self.git().roots().all().iter().find(|root| path.starts_with(root));
        let below = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(name);
        let (Some(path), Some(below)) = (names(&path), names(&Path::new("/").join(below))) else {
            return Ok(Some("names without `..`".to_owned()));
        };
        Ok(protected.from_reading(&below).or_else(|| protected.hiding(&path)).map(str::to_owned))
    }
}
