//! Loops: a gateway that is its own upstream, directly or through other gateways.
//!
//! A gateway lists in its introduction the gateways behind it, itself included. One that finds its
//! own id there would call itself.

use super::offer::Offer;
use std::sync::Arc;
use trunkline_protocol::{Fault, FaultKind, Raw};

/// The key of `_meta` in an introduction.
pub const BEHIND: &str = "io.trunkline/behind";
/// More gateways than any real chain has.
const MOST: usize = 256;

/// The gateway's own id and those that its upstreams list.
pub fn behind<'a>(instance: &str, offers: impl IntoIterator<Item = &'a Arc<Offer>>) -> Raw {
    let mut ids = vec![instance.to_owned()];
    for id in offers.into_iter().flat_map(|offer| read(&offer.introduction)) {
        if ids.len() < MOST && !ids.contains(&id) {
            ids.push(id);
        }
    }
    serde_json::Value::from(ids).into()
}

/// Refuses an upstream that leads back here.
pub(super) fn check(introduction: &Raw, instance: Option<&str>) -> Result<(), Fault> {
    let Some(instance) = instance else { return Ok(()) };
    if read(introduction).iter().any(|id| id == instance) {
        let fault = "this upstream is this gateway itself, or leads back to it";
        return Err(Fault::new(FaultKind::InvalidRequest, fault));
    }
    Ok(())
}

fn read(introduction: &Raw) -> Vec<String> {
    introduction.member("_meta").and_then(|meta| meta.member_as(BEHIND)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::Revision;

    fn offer(ids: &Raw) -> Arc<Offer> {
        let introduction = serde_json::json!({"_meta": {BEHIND: ids}}).into();
        let none: Arc<[Raw]> = Arc::new([]);
        Arc::new(Offer {
            introduction,
            revision: Revision::NEWEST,
            tools: none.clone(),
            prompts: none.clone(),
            resources: none.clone(),
            templates: none,
            beside: Default::default(),
            announced: [0; 4],
            faults: Default::default(),
            stale: false,
            signs_in: false,
            own_tools: &[],
        })
    }

    #[test]
    fn u16_a_loop_over_two_gateways_is_noticed_by_the_one_that_closes_it() {
        let a = offer(&behind("a", []));
        assert!(check(&a.introduction, Some("b")).is_ok());
        let b = offer(&behind("b", [&a]));
        let fault = check(&b.introduction, Some("a")).unwrap_err();
        assert!(fault.message().contains("leads back"));
        assert!(check(&a.introduction, Some("a")).is_err());
        assert!(check(&a.introduction, None).is_ok());
    }
}
