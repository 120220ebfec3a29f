//! Lineage: the chain of gateways that started this process. A gateway that finds itself among its
//! ancestors was configured as its own upstream and would start itself endlessly.

/// The variable that passes the chain to child processes.
pub(crate) const VARIABLE: &str = "TRUNKLINE_LINEAGE";
/// Maximum length of the chain; real setups are shorter.
const DEEPEST: usize = 8;
const BETWEEN: char = '\n';

/// The gateways from the first to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lineage(Vec<String>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Looped {
    #[error(
        "this gateway was started by itself: one of its servers runs `trunkline` with the same configuration"
    )]
    Itself,
    #[error("a chain of {DEEPEST} gateways started each other; one of them probably starts the first again")]
    TooDeep,
}

impl Lineage {
    /// Adds this gateway, identified by its configuration, to the inherited chain.
    pub(crate) fn enter(inherited: Option<&str>, configuration: &str) -> Result<Self, Looped> {
        let mut ancestors: Vec<String> = inherited
            .unwrap_or_default()
            .split(BETWEEN)
            .filter(|one| !one.is_empty())
            .map(str::to_owned)
            .collect();
        let ours = configuration.replace(BETWEEN, " ");
        if ancestors.contains(&ours) {
            return Err(Looped::Itself);
        }
        if ancestors.len() >= DEEPEST {
            return Err(Looped::TooDeep);
        }
        ancestors.push(ours);
        Ok(Self(ancestors))
    }

    /// The variable for child processes.
    pub(crate) fn variable(&self) -> (String, String) {
        (VARIABLE.to_owned(), self.0.join(&BETWEEN.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u16_a_gateway_that_starts_itself_is_noticed_by_the_second() {
        let first = Lineage::enter(None, "/home/a/trunkline.json").unwrap();
        let (_, inherited) = first.variable();
        assert_eq!(Lineage::enter(Some(&inherited), "/home/a/trunkline.json"), Err(Looped::Itself));
        let (_, inherited) = Lineage::enter(Some(&inherited), "/home/b/trunkline.json").unwrap().variable();
        assert_eq!(Lineage::enter(Some(&inherited), "/home/a/trunkline.json"), Err(Looped::Itself));
    }

    #[test]
    fn a_chain_that_never_repeats_ends_too() {
        let mut inherited = None;
        let deepest = (0..100).find(|n| match Lineage::enter(inherited.as_deref(), &n.to_string()) {
            Ok(lineage) => {
                inherited = Some(lineage.variable().1);
                false
            }
            Err(looped) => looped == Looped::TooDeep,
        });
        assert_eq!(deepest, Some(DEEPEST));
    }
}
