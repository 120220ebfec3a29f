//! Selects the rules of a run and the probes they need.

use super::Options;
use crate::{probes::Probe, rule::Rule, rules};
use trunkline_client::Carrier;
use trunkline_protocol::Era;

/// The selected rules.
pub(super) fn rules(options: &Options) -> impl Iterator<Item = &'static Rule> {
    rules::all().filter(|rule| options.selection.includes(rule))
}

/// The probes that these rules need in this era, each once, in the order of the rules.
pub(super) fn probes(options: &Options, era: Era, carrier: Carrier) -> Vec<&'static Probe> {
    let mut needed: Vec<&'static Probe> = Vec::new();
    for rule in rules(options) {
        if !rule.eras.include(era) || !rule.carriers.include(carrier) {
            continue;
        }
        for probe in rule.needs {
            let fits =
                probe.mode <= options.mode && probe.eras.include(era) && probe.carriers.include(carrier);
            if fits && !needed.iter().any(|known| known.name == probe.name) {
                needed.push(probe);
            }
        }
    }
    needed
}
