//! Annotations for GitHub Actions (workflow commands on standard output).

use super::Report;
use crate::outcome::Level;
use std::fmt::Write as _;
use trunkline_secrets::visible;

pub fn github(report: &Report) -> String {
    let mut out = String::new();
    for target in &report.targets {
        if let Some(why) = &target.unreachable {
            let text = format!("{} cannot be reached: {why}", target.target);
            writeln!(out, "::error title=trunkline lint::{}", data(&text))
                .expect("a string takes everything");
        }
    }
    for (target, finding) in report.findings().filter(|(_, finding)| finding.ignored.is_none()) {
        let command = match finding.level {
            Level::Critical | Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "notice",
        };
        let about = finding.about.as_ref().map(|about| format!("{about}: ")).unwrap_or_default();
        let text = format!(
            "{}: {about}{}\nfix: {}\n{}",
            target.target, finding.message, finding.fix, finding.clause
        );
        writeln!(out, "::{command} title={}::{}", property(finding.rule), data(&text))
            .expect("a string takes everything");
    }
    out
}

fn data(text: &str) -> String {
    visible::text(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
