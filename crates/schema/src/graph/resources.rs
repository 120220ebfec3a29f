//! Resources: the parts of a schema that references can name.

use super::build::Unsupported;
use serde_json::Value;
use std::{borrow::Cow, collections::HashMap};

/// Where references within one resource begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resource<'a> {
    pub(super) root: &'a Value,
}

/// The resources of a schema and their anchors.
#[derive(Debug)]
pub(super) struct Resources<'a> {
    root: &'a Value,
    /// Identifiers without their fragments. A value is `None` where two resources have the same one.
    by_id: HashMap<&'a str, Option<&'a Value>>,
    /// Anchors by the address of their resource.
    anchors: HashMap<(*const Value, &'a str), &'a Value>,
    /// Draft 4 says `id` instead of `$id`.
    old_ids: bool,
    pub(super) embedded: usize,
}

impl<'a> Resources<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let mut resources = Self {
            root,
            by_id: HashMap::new(),
            anchors: HashMap::new(),
            old_ids: names_old_draft(root),
            embedded: 0,
        };
        resources.index(root, Resource { root });
        resources.embedded = resources.embedded.saturating_sub(usize::from(resources.id(root).is_some()));
        resources
    }

    /// The resource that a subschema begins, if it has an identifier.
    pub(super) fn begun_by(&self, schema: &'a Value) -> Option<Resource<'a>> {
        self.id(schema).map(|_| Resource { root: schema })
    }

    /// The subschema that a reference names, and the resource it is part of.
    pub(super) fn resolve(
        &self,
        reference: &str,
        from: Resource<'a>,
    ) -> Result<(&'a Value, Resource<'a>), Unsupported> {
        let missing = || Unsupported::Reference(reference.chars().take(120).collect());
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource =
            if base.is_empty() { from } else { Resource { root: self.named(base).ok_or_else(missing)? } };
        let fragment = decoded(fragment);
        if fragment.is_empty() {
            return Ok((resource.root, resource));
        }
        if !fragment.starts_with('/') {
            let anchor = self.anchors.get(&(std::ptr::from_ref(resource.root), fragment.as_ref()));
            return anchor.map(|schema| (*schema, resource)).ok_or_else(missing);
        }
        let (mut at, mut resource) = (resource.root, resource);
        for segment in fragment.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            at = match at {
                Value::Object(members) => members.get(&segment),
                Value::Array(items) => segment.parse::<usize>().ok().and_then(|place| items.get(place)),
                _ => None,
            }
            .ok_or_else(missing)?;
            resource = self.begun_by(at).unwrap_or(resource);
        }
        Ok((at, resource))
    }

    /// The only resource whose identifier is this text or ends with it as a path. Where the engine would resolve it to
    /// something else, it finds nothing and refuses the schema.
    fn named(&self, base: &str) -> Option<&'a Value> {
        let ends = |id: &str| {
            id.strip_suffix(base).is_some_and(|front| front.is_empty() || front.ends_with(['/', ':']))
        };
        let mut found = self.by_id.iter().filter(|(id, _)| ends(id)).map(|(_, schema)| *schema);
        match (found.next(), found.next()) {
            (Some(only), None) => only,
            _ => None,
        }
    }

    /// Every object counts, whether the engine takes it for a schema or not: a name too many is ambiguous at worst.
    fn index(&mut self, value: &'a Value, within: Resource<'a>) {
        match value {
            Value::Object(members) => {
                let within = self.begun_by(value).unwrap_or(within);
                if let Some(id) = self.id(value) {
                    self.embedded += 1;
                    let id = id.split('#').next().unwrap_or_default();
                    self.by_id.entry(id).and_modify(|known| *known = None).or_insert(Some(value));
                }
                for anchor in self.anchors_of(value) {
                    self.anchors.insert((std::ptr::from_ref(within.root), anchor), value);
                }
                members.values().for_each(|member| self.index(member, within));
            }
            Value::Array(items) => items.iter().for_each(|item| self.index(item, within)),
            _ => {}
        }
    }

    fn anchors_of(&self, schema: &'a Value) -> impl Iterator<Item = &'a str> + use<'a> {
        let old = ["$id", "id"].into_iter().filter_map(|name| schema.get(name)?.as_str()?.strip_prefix('#'));
        let new = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(|name| schema.get(name)?.as_str());
        old.chain(new)
    }

    /// An identifier that begins a resource; one that is only a fragment is an anchor. The root is one anyway.
    fn id(&self, schema: &'a Value) -> Option<&'a str> {
        let id = |name| {
            schema.get(name).and_then(Value::as_str).filter(|id| !id.is_empty() && !id.starts_with('#'))
        };
        id("$id").or_else(|| if self.old_ids { id("id") } else { None })
    }

    pub(super) fn root(&self) -> Resource<'a> {
        Resource { root: self.root }
    }
}

fn names_old_draft(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let named = members.get("$schema").and_then(Value::as_str);
            named.is_some_and(|draft| draft.contains("draft-04")) || members.values().any(names_old_draft)
        }
        Value::Array(items) => items.iter().any(names_old_draft),
        _ => false,
    }
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return fragment.into();
    }
    let bytes = fragment.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = fragment.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned().into()
}
