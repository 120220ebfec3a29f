//! Resources: data that clients can read from a server.

use super::{Annotations, CacheScope, Icon, list::items};
use crate::{Number, Raw, view::view};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

view! {
    /// A resource as a server lists it.
    pub struct Resource {
        uri: String = "uri",
        name: String = "name",
    } optional {
        title: String = "title",
        description: String = "description",
        mime_type: String = "mimeType",
        /// In bytes, before any encoding.
        size: Number = "size",
        icons: Vec<Icon> = "icons",
        annotations: Annotations = "annotations",
        meta: Raw = "_meta",
    }

    /// A set of resources whose URIs are given by an RFC 6570 template.
    pub struct ResourceTemplate {
        uri_template: String = "uriTemplate",
        name: String = "name",
    } optional {
        title: String = "title",
        description: String = "description",
        mime_type: String = "mimeType",
        icons: Vec<Icon> = "icons",
        annotations: Annotations = "annotations",
        meta: Raw = "_meta",
    }

    /// The result of `resources/list`.
    pub struct ListResourcesResult {
        resources: Vec<Raw> = "resources",
    } optional {
        next_cursor: String = "nextCursor",
        result_type: String = "resultType",
        ttl_ms: Number = "ttlMs",
        cache_scope: CacheScope = "cacheScope",
        meta: Raw = "_meta",
    }

    /// The result of `resources/templates/list`.
    pub struct ListResourceTemplatesResult {
        resource_templates: Vec<Raw> = "resourceTemplates",
    } optional {
        next_cursor: String = "nextCursor",
        result_type: String = "resultType",
        ttl_ms: Number = "ttlMs",
        cache_scope: CacheScope = "cacheScope",
        meta: Raw = "_meta",
    }

    /// The parameters of `resources/read`, `resources/subscribe`, `resources/unsubscribe` and
    /// `notifications/resources/updated`.
    pub struct ResourceParams {
        uri: String = "uri",
    } optional {
        /// Only in `resources/read` of 2026-07-28, like `request_state`.
        input_responses: super::InputResponses = "inputResponses",
        request_state: String = "requestState",
        meta: Raw = "_meta",
    }

    /// The result of `resources/read`.
    pub struct ReadResourceResult {
        contents: Vec<ResourceContents> = "contents",
    } optional {
        result_type: String = "resultType",
        ttl_ms: Number = "ttlMs",
        cache_scope: CacheScope = "cacheScope",
        meta: Raw = "_meta",
    }

    /// Text contents.
    pub struct TextContents {
        uri: String = "uri",
        text: String = "text",
    } optional {
        mime_type: String = "mimeType",
        meta: Raw = "_meta",
    }

    /// Binary contents, in base64.
    pub struct BlobContents {
        uri: String = "uri",
        blob: String = "blob",
    } optional {
        mime_type: String = "mimeType",
        meta: Raw = "_meta",
    }
}

items!(ListResourcesResult, resources: Resource);
items!(ListResourceTemplatesResult, resource_templates: ResourceTemplate);

/// The contents of a resource. There is no tag: text has `text`, binary data has `blob`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceContents {
    Text(TextContents),
    Blob(BlobContents),
    /// It has neither `text` nor `blob`, or both, or it cannot be read.
    Unknown(Raw),
}

impl ResourceContents {
    /// Reads any value; this never fails.
    pub fn read(raw: Raw) -> Self {
        let members = raw.object().unwrap_or_default();
        let read = match (members.get("text"), members.get("blob")) {
            (Some(_), None) => raw.decode().map(Self::Text).ok(),
            (None, Some(_)) => raw.decode().map(Self::Blob).ok(),
            _ => None,
        };
        read.unwrap_or(Self::Unknown(raw))
    }
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Raw::deserialize(deserializer).map(Self::read)
    }
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Blob(blob) => blob.serialize(serializer),
            Self::Unknown(raw) => raw.serialize(serializer),
        }
    }
}
