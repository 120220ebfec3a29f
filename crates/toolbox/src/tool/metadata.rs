//! Metadata of a tool for catalogues, listed in its `_meta`.

use serde::Serialize;
use std::collections::BTreeMap;
use trunkline_protocol::Raw;

/// Facts about a tool for which the protocol has no field.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Names of tools that this one replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deprecates: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, Raw>,
}

impl Metadata {
    /// `None` if no field is set.
    pub(super) fn to_raw(&self) -> Option<Raw> {
        let raw = Raw::encode(self).expect("texts, lists of texts and checked JSON can be written");
        (raw != Raw::empty_object()).then_some(raw)
    }
}
