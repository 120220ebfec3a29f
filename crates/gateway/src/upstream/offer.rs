//! The offer of an upstream, as last read.

use super::{item::examine, options::ListOptions};
use std::sync::Arc;
use trunkline_protocol::{Fault, Object, Raw, Revision};

/// The complete lists of one server. Items are as the server wrote them.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The server's description of itself, in the form of a `server/discover` result.
    pub introduction: Raw,
    pub revision: Revision,
    pub tools: Arc<[Raw]>,
    pub prompts: Arc<[Raw]>,
    pub resources: Arc<[Raw]>,
    pub templates: Arc<[Raw]>,
    /// Members of each list in addition to its items, in the order of [`Kind::ALL`].
    pub beside: [Object; 4],
    /// Number of announced changes of each list; a burst counts once.
    pub announced: [u64; 4],
    /// The server's error for each list that it declares and has never given.
    pub faults: [Option<Fault>; 4],
    /// True if the server is not connected and this is its previous offer.
    pub stale: bool,
    /// True if it is ours and not the server's: its only tool signs the caller in.
    pub signs_in: bool,
    /// Names of tools that are ours, among those of the server.
    pub own_tools: &'static [&'static str],
}

impl Offer {
    /// The offer as a JSON object, for [`Offer::kept`].
    pub fn to_json(&self) -> Raw {
        let mut kept = Object::new();
        kept.set("introduction", self.introduction.clone());
        kept.set("revision", Raw::string(self.revision.as_str()));
        for (kind, member) in Kind::ALL.into_iter().zip(MEMBERS) {
            kept.set(member, Raw::array(self.list(kind)));
        }
        kept.set("beside", Raw::array(&self.beside.each_ref().map(Object::to_raw)));
        kept.to_raw()
    }

    /// The stale offer that was written by [`Offer::to_json`]; `None` if the text is anything else.
    /// Its items are checked as if the server had just sent them.
    pub fn kept(json: &Raw) -> Option<Self> {
        let kept = json.object()?;
        let limits = ListOptions::default();
        let lists = Kind::ALL.map(|kind| {
            let items: Vec<Raw> = kept.get(MEMBERS[kind as usize])?.decode().ok()?;
            Some(items.into_iter().filter(|item| examine(kind, item, &limits).is_ok()).collect())
        });
        let [Some(tools), Some(prompts), Some(resources), Some(templates)] = lists else { return None };
        let beside: Vec<Raw> = kept.get("beside")?.decode().ok()?;
        let beside: Vec<Object> = beside.iter().map(Raw::object).collect::<Option<_>>()?;
        Some(Self {
            introduction: kept.get("introduction")?.clone(),
            revision: kept.get("revision")?.text()?.parse().ok()?,
            tools,
            prompts,
            resources,
            templates,
            beside: beside.try_into().ok()?,
            announced: [0; 4],
            faults: Default::default(),
            stale: true,
            signs_in: false,
            own_tools: &[],
        })
    }

    pub(super) fn list(&self, kind: Kind) -> &[Raw] {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
            Kind::Resources => &self.resources,
            Kind::Templates => &self.templates,
        }
    }
}

/// Names of the lists in a kept offer, in the order of [`Kind::ALL`].
const MEMBERS: [&str; 4] = ["tools", "prompts", "resources", "templates"];

/// The kinds of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_offer_is_the_same_but_stale() {
        let raw = |text: &str| Raw::parse(text.to_owned()).unwrap();
        let offer = Offer {
            introduction: raw(r#"{"capabilities":{"tools":{}}}"#),
            revision: Revision::NEWEST,
            tools: [raw(r#"{"name":"a","inputSchema":{"x":1.50}}"#)].into(),
            prompts: Arc::new([]),
            resources: [raw(r#"{"uri":"file:///a","name":"\u0061"}"#)].into(),
            templates: Arc::new([]),
            beside: [raw(r#"{"x":1}"#).object().unwrap(), Object::new(), Object::new(), Object::new()],
            announced: [3, 0, 0, 0],
            faults: Default::default(),
            stale: false,
            signs_in: false,
            own_tools: &[],
        };
        let kept = Offer::kept(&offer.to_json()).unwrap();
        assert!(kept.stale);
        assert_eq!((&kept.tools, &kept.resources), (&offer.tools, &offer.resources));
        assert_eq!(kept.beside, offer.beside);
        assert_eq!(kept.to_json(), offer.to_json());
    }

    #[test]
    fn anything_else_is_no_offer_and_broken_items_are_left_out() {
        let raw = |text: &str| Raw::parse(text.to_owned()).unwrap();
        for text in ["[]", "{}", r#"{"introduction":{},"revision":"2025-11-25","tools":7}"#] {
            assert!(Offer::kept(&raw(text)).is_none(), "{text}");
        }
        let text = r#"{"introduction":{},"revision":"2025-11-25","tools":[7,{"name":"a","inputSchema":{}}],"prompts":[],"resources":[],"templates":[],"beside":[{},{},{},{}]}"#;
        assert_eq!(Offer::kept(&raw(text)).unwrap().tools.len(), 1);
    }
}
