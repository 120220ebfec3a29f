//! Files that reproduce a fuzzing failure: the frames to send, one per line.

use crate::failure::Failure;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};
use trunkline_lint::{Mode, Report, rules};

/// Writes one file per finding of a fuzzing rule.
pub(super) fn write(folder: &Path, report: &Report, seed: u64) -> Result<Vec<PathBuf>, Failure> {
    let bad =
        |error: std::io::Error| Failure::usage(format!("{} cannot be written: {error}", folder.display()));
    let mut written = Vec::new();
    for (target, finding) in report.findings() {
        if rules::find(finding.rule).is_none_or(|rule| rule.mode != Mode::Fuzz) {
            continue;
        }
        fs::create_dir_all(folder).map_err(bad)?;
        let path = folder.join(format!("{}-{}.txt", finding.rule, finding.fingerprint));
        let mut head = String::new();
        for line in [
            format!("target: {}", target.target),
            format!("seed: {seed}"),
            format!("era: {}", finding.eras.join(", ")),
            format!("seen: {}", finding.message),
            "send the frames below, one a line, after the introduction of that era".to_owned(),
        ] {
            writeln!(head, "# {}", line.replace('\n', " ")).expect("a string takes everything");
        }
        let mut bytes = head.into_bytes();
        for frame in &finding.sent {
            bytes.extend_from_slice(frame);
            bytes.push(b'\n');
        }
        fs::write(&path, bytes).map_err(bad)?;
        written.push(path);
    }
    Ok(written)
}
