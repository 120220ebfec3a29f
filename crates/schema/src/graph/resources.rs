//! Resources: the parts of a schema with an identifier, which references can name.

use super::build::Unsupported;
use serde_json::Value;
use std::{borrow::Cow, collections::HashMap};

/// The root for references within one resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resource<'a> {
    pub(super) root: &'a Value,
}

/// The resources of a schema and their anchors. If the engine might resolve a reference to another
/// target than we do, the schema is refused, because the computed cost would be wrong.
#[derive(Debug)]
pub(super) struct Resources<'a> {
    root: &'a Value,
    /// Resources by identifier without fragment; `None` if two resources have the same identifier.
    by_id: HashMap<&'a str, Option<&'a Value>>,
    /// Anchors by the pointer to their resource and by name; `None` if two have the same name.
    anchors: HashMap<(*const Value, &'a str), Option<&'a Value>>,
    pub(super) embedded: usize,
}

/// The resource whose root is this subschema, if it has an identifier.
pub(super) fn resource_at(schema: &Value) -> Option<Resource<'_>> {
    id(schema).map(|_| Resource { root: schema })
}

impl<'a> Resources<'a> {
    pub(super) fn new(root: &'a Value) -> Result<Self, Unsupported> {
        let mut resources = Self { root, by_id: HashMap::new(), anchors: HashMap::new(), embedded: 0 };
        resources.index(root, Resource { root });
        resources.embedded = resources.embedded.saturating_sub(usize::from(id(root).is_some()));
        if names_old_draft(root) && (resources.embedded > 0 || has_old_ids(root, root)) {
            return Err(Unsupported::OldIds);
        }
        Ok(resources)
    }

    /// The target of a reference, and the resource that contains it.
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
            return anchor.copied().flatten().map(|schema| (schema, resource)).ok_or_else(missing);
        }
        let segments: Vec<String> = fragment
            .split('/')
            .skip(1)
            .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
            .collect();
        let mut at = resource.root;
        for (place, segment) in segments.iter().enumerate() {
            if place > 0 && id(at).is_some() {
                return Err(missing());
            }
            at = match at {
                Value::Object(members) => members.get(segment),
                Value::Array(items) => segment.parse::<usize>().ok().and_then(|place| items.get(place)),
                _ => None,
            }
            .ok_or_else(missing)?;
        }
        let defined = matches!(&segments[..], [keyword, _] if ["$defs", "definitions", "properties"].contains(&keyword.as_str()));
        match resource_at(at) {
            Some(resource) if defined => Ok((at, resource)),
            Some(_) => Err(missing()),
            None => Ok((at, resource)),
        }
    }

    /// The resource whose identifier is this text or ends with it as a path, if it is the only
    /// identifier of the schema. The engine normalises addresses and this search does not, so with
    /// a second identifier it could find another resource than the one whose cost was counted.
    fn named(&self, base: &str) -> Option<&'a Value> {
        if self.by_id.len() != 1 {
            return None;
        }
        let ends = |id: &str| {
            id.strip_suffix(base).is_some_and(|front| front.is_empty() || front.ends_with(['/', ':']))
        };
        let mut found = self.by_id.iter().filter(|(id, _)| ends(id)).map(|(_, schema)| *schema);
        match (found.next(), found.next()) {
            (Some(only), None) => only,
            _ => None,
        }
    }

    /// Indexes every object, even those that the engine does not treat as a schema. An extra
    /// identifier can only cause a refusal: as ambiguous, or by counting towards `MAX_EMBEDDED`.
    fn index(&mut self, value: &'a Value, within: Resource<'a>) {
        match value {
            Value::Object(members) => {
                let within = resource_at(value).unwrap_or(within);
                if let Some(id) = id(value) {
                    self.embedded += 1;
                    let id = id.split('#').next().unwrap_or_default();
                    self.by_id.entry(id).and_modify(|known| *known = None).or_insert(Some(value));
                }
                for anchor in anchors_of(value) {
                    let known = self.anchors.entry((std::ptr::from_ref(within.root), anchor));
                    let same = |other: &&Value| std::ptr::eq(*other, value);
                    known.and_modify(|known| *known = known.filter(same)).or_insert(Some(value));
                }
                members.values().for_each(|member| self.index(member, within));
            }
            Value::Array(items) => items.iter().for_each(|item| self.index(item, within)),
            _ => {}
        }
    }

    pub(super) fn root(&self) -> Resource<'a> {
        Resource { root: self.root }
    }
}

fn anchors_of(schema: &Value) -> impl Iterator<Item = &str> {
    let old = ["$id", "id"].into_iter().filter_map(|name| schema.get(name)?.as_str()?.strip_prefix('#'));
    let new = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(|name| schema.get(name)?.as_str());
    old.chain(new)
}

/// The identifier of a resource. An identifier that is only a fragment is an anchor instead.
fn id(schema: &Value) -> Option<&str> {
    schema.get("$id").and_then(Value::as_str).filter(|id| !id.is_empty() && !id.starts_with('#'))
}

/// True if a part of the schema names draft 4, which has `id` instead of `$id`.
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

/// True if a part of the schema has an `id` that draft 4 may treat as a resource.
fn has_old_ids(value: &Value, root: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let named = !std::ptr::eq(value, root) && members.get("id").is_some_and(Value::is_string);
            named || members.values().any(|member| has_old_ids(member, root))
        }
        Value::Array(items) => items.iter().any(|item| has_old_ids(item, root)),
        _ => false,
    }
}

/// The percent-decoded fragment.
fn decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return fragment.into();
    }
    let bytes = fragment.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = fragment.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            decoded.push(byte);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned().into()
}
