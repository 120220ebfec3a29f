//! JSON text: accepted if `serde_json` accepts it and it is within our limits; members are found
//! and changed without touching any other byte.

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{collections::HashSet, fmt, ops::Range};
use trunkline_protocol::{Defect, MAX_DEPTH, MemberEdit, RareMember, Raw};

/// Maximum number of values checked, and of members per object.
const LOOKS: usize = 16;
/// Maximum number of members changed per object.
const CHANGES: usize = 6;
/// A name that hardly any object has.
const NEW: &str = "new\"\\ \u{e9}";

static RARE: RareMember = RareMember::new("isError");

pub fn holds(data: &[u8]) {
    let is_json = serde_json::from_slice::<&RawValue>(data).is_ok();
    match Raw::parse(Bytes::copy_from_slice(data)) {
        Ok(raw) => {
            assert!(is_json, "accepted, though it is not JSON");
            assert_eq!(raw.as_bytes(), data.trim_ascii());
            assert!(depth(data) <= MAX_DEPTH);
            assert!(
                !matches!(serde_json::from_slice(data), Ok(Names::Twice)),
                "accepted with a duplicate name"
            );
            looks(&raw);
        }
        Err(malformed) => {
            assert!(malformed.offset <= data.len());
            let names = serde_json::from_slice::<Names>(data);
            match malformed.defect {
                Defect::Depth => assert!(depth(data) > MAX_DEPTH),
                Defect::DuplicateKey => assert!(!matches!(names, Ok(Names::Differ)), "no name is duplicated"),
                Defect::Json("half a surrogate pair in a member name") => assert!(names.is_err()),
                _ => assert!(!is_json, "rejected, though it is JSON: {malformed}"),
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let written = Raw::string(text);
        assert_eq!(written.text().as_deref(), Some(text));
        assert_eq!(Raw::parse(written.bytes().clone()).as_ref(), Ok(&written));
    }
}

/// Returns the nesting depth of brackets and braces outside strings.
fn depth(text: &[u8]) -> usize {
    let (mut now, mut most, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !in_text => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Checks a value and the values inside it.
fn looks(whole: &Raw) {
    let mut waiting = vec![whole.clone()];
    for _ in 0..LOOKS {
        let Some(raw) = waiting.pop() else { return };
        assert_eq!(raw.text().map(Into::into), serde_json::from_slice::<String>(raw.as_bytes()).ok());
        assert_eq!(raw.detached(), raw);
        let Some(members) = Members::of(raw.as_str()) else {
            assert!(!raw.is_object() && raw.members().next().is_none());
            assert!(raw.object().is_none() && raw.with(NEW, &Raw::null()).is_none());
            continue;
        };
        finds(&raw, &members);
        changes(&raw, &members);
        leaves_out(&raw, &members);
        let below = raw.members().take(LOOKS);
        waiting.extend(below.map(|(name, _)| raw.member(&name).expect("it was named")));
    }
}

fn finds(raw: &Raw, members: &Members) {
    let text = raw.as_str();
    let found: Vec<(String, &[u8])> = raw.members().map(|(name, value)| (name.into_owned(), value)).collect();
    let want: Vec<(String, &[u8])> =
        members.0.iter().map(|(name, place)| (name.clone(), text[place.clone()].as_bytes())).collect();
    assert_eq!(found, want);
    let object = raw.object().expect("it has members");
    assert!(object.iter().map(|(name, value)| (name.to_owned(), value.as_bytes())).eq(want.iter().cloned()));
    for (name, value) in want.iter().take(LOOKS) {
        assert_eq!(raw.member(name).expect("it is there").as_bytes(), *value);
        // A name with other characters than letters may be written with escapes that `may_name`
        // does not search for.
        assert!(raw.may_name(name) || !name.bytes().all(|byte| byte.is_ascii_alphabetic()), "{name}");
        assert_eq!(raw.text_of(name).map(Into::into), serde_json::from_slice::<String>(value).ok());
    }
    assert_eq!(RARE.of(raw), raw.member("isError"));
    let names = ["isError", "a", "id", ""];
    assert_eq!(raw.pick(names), names.map(|name| raw.member(name)));
}

/// Checks that a replaced value stays in its position, an added one is last, and no other byte
/// changes.
fn changes(raw: &Raw, members: &Members) {
    let text = raw.as_str();
    let value = Raw::string("new\n");
    for (name, place) in members.0.iter().take(CHANGES) {
        let want = format!("{}{value}{}", &text[..place.start], &text[place.end..]);
        assert_eq!(raw.with(name, &value).expect("an object").as_str(), want);
        let trimmed = format!("{}}}", want[..want.len() - 1].trim_end_matches([' ', '\t', '\r', '\n']));
        assert_eq!(raw.with_all(&[(name, &value)]).expect("an object").as_str(), trimmed);
        let edit_members = raw.edit_members(|member| {
            if member.is(name) { MemberEdit::Became(value.clone()) } else { MemberEdit::Kept }
        });
        let edit_members = edit_members.expect("one was changed");
        assert_eq!(Members::of(edit_members.as_str()).expect("an object").names(), members.names());
        assert_eq!(edit_members.member(name).as_ref(), Some(&value));
    }
    if !members.names().contains(&NEW) {
        let added = raw.with(NEW, &value).expect("an object");
        assert_eq!(raw.with_all(&[(NEW, &value)]).as_ref(), Some(&added));
        let other = Raw::empty_object().with(NEW, &value).expect("an object");
        assert_eq!(raw.joined(&other).as_ref(), Some(&added));
        assert!(added.as_str().starts_with(text[..text.len() - 1].trim_end_matches([' ', '\t', '\r', '\n'])));
        let again = Raw::parse(added.bytes().clone()).expect("what is added leaves it JSON");
        assert_eq!(again.members().count(), members.0.len() + 1);
        assert_eq!(again.member(NEW), Some(value));
    }
}

fn leaves_out(raw: &Raw, members: &Members) {
    let text = raw.as_str();
    for (left_out, (name, _)) in members.0.iter().enumerate().take(CHANGES) {
        let rest = raw.without(&[name]).expect("it was there");
        let rest = Raw::parse(rest.bytes().clone()).expect("what is left is JSON");
        let found: Vec<(String, &[u8])> =
            rest.members().map(|(name, value)| (name.into_owned(), value)).collect();
        let mut want: Vec<(String, &[u8])> =
            members.0.iter().map(|(name, place)| (name.clone(), text[place.clone()].as_bytes())).collect();
        want.remove(left_out);
        assert_eq!(found, want);
    }
    let all = members.names();
    assert_eq!(raw.without(&all).map(|rest| rest.to_string()), (!all.is_empty()).then(|| "{}".to_owned()));
    assert_eq!(raw.edit_members(|_| MemberEdit::Kept), None);
}

/// The members of an object as `serde_json` finds them: names, and the ranges of the values.
struct Members(Vec<(String, Range<usize>)>);

impl Members {
    fn of(text: &str) -> Option<Self> {
        let Entries(entries) = serde_json::from_str(text).ok()?;
        let place = |value: &RawValue| {
            let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
            start..start + value.get().len()
        };
        Some(Self(entries.into_iter().map(|(name, value)| (name, place(value))).collect()))
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }
}

struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(All)
    }
}

/// Tells if any object has a duplicate name, at any depth, according to `serde_json` (which has
/// its own depth limit).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Differ,
    Twice,
}

impl Names {
    fn and(self, other: Self) -> Self {
        if self == Self::Differ { other } else { self }
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let (mut names, mut verdict) = (HashSet::new(), Names::Differ);
                while let Some((name, below)) = map.next_entry::<String, Names>()? {
                    verdict = verdict.and(below);
                    if !names.insert(name) {
                        verdict = Names::Twice;
                    }
                }
                Ok(verdict)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Names, A::Error> {
                let mut verdict = Names::Differ;
                while let Some(item) = items.next_element()? {
                    verdict = verdict.and(item);
                }
                Ok(verdict)
            }

            fn visit_unit<E>(self) -> Result<Names, E> {
                Ok(Names::Differ)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Names, E> {
                Ok(Names::Differ)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Names, E> {
                Ok(Names::Differ)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Names, E> {
                Ok(Names::Differ)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Names, E> {
                Ok(Names::Differ)
            }

            fn visit_str<E>(self, _: &str) -> Result<Names, E> {
                Ok(Names::Differ)
            }
        }

        deserializer.deserialize_any(All)
    }
}
