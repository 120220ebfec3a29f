//! Looking at several members of an object, or changing them, in one walk over its text.
//!
//! Like [`Raw::with`], nothing is checked again, and what is not changed keeps every byte.

use crate::{
    Raw,
    object::write_string,
    scan::{Member, checked_members},
};

/// Most members that are changed in one walk.
const MOST_CHANGES: usize = 32;

impl Raw {
    /// The members of these names, each still raw. What is not an object has none.
    pub fn members<const N: usize>(&self, names: [&str; N]) -> [Option<Raw>; N] {
        let mut found = [const { None }; N];
        for member in checked_members(self.as_bytes()).into_iter().flatten() {
            if let Some(i) = names.iter().position(|name| member.is(name, self.as_bytes())) {
                found[i] = Some(member.value(self.bytes()));
            }
        }
        found
    }

    /// This object with these members replaced in their places, or added at the end; `None` when it is not an object.
    ///
    /// # Panics
    /// With more than 32 changes.
    #[must_use = "the object itself stays as it is"]
    pub fn with_all(&self, changes: &[(&str, &Raw)]) -> Option<Raw> {
        assert!(changes.len() <= MOST_CHANGES, "so many changes are better made to an `Object`");
        let old = self.as_bytes();
        let room = changes.iter().map(|(name, value)| name.len() + value.as_bytes().len() + 4).sum::<usize>();
        let mut text = Vec::with_capacity(old.len() + room);
        let (mut made, mut copied) = (0_u32, 0);
        for member in checked_members(old)? {
            if let Some(i) = changes.iter().position(|(name, _)| member.is(name, old)) {
                text.extend_from_slice(&old[copied..member.value.start]);
                text.extend_from_slice(changes[i].1.as_bytes());
                copied = member.value.end;
                made |= 1 << i;
            }
        }
        text.extend_from_slice(old[copied..old.len() - 1].trim_ascii_end());
        for (i, (name, value)) in changes.iter().enumerate() {
            if made & (1 << i) == 0 {
                if text.len() > 1 {
                    text.push(b',');
                }
                write_string(&mut text, name);
                text.push(b':');
                text.extend_from_slice(value.as_bytes());
            }
        }
        text.push(b'}');
        Some(Raw::trusted(text.into()))
    }

    /// The members of both objects; `None` when one of them is none. The caller knows that no name stands in both.
    pub fn joined(&self, other: &Raw) -> Option<Raw> {
        let (first, second) = (self.as_bytes(), other.as_bytes());
        let (b'{', b'{') = (first[0], second[0]) else { return None };
        let mut text = Vec::with_capacity(first.len() + second.len());
        text.extend_from_slice(first[..first.len() - 1].trim_ascii_end());
        let rest = second[1..].trim_ascii_start();
        if text.len() > 1 && rest.len() > 1 {
            text.push(b',');
        }
        text.extend_from_slice(rest);
        Some(Raw::trusted(text.into()))
    }

    /// This object without the members of these names; `None` when it has none of them.
    pub fn without(&self, names: &[&str]) -> Option<Raw> {
        let old = self.as_bytes();
        let goes = |member: &Member| names.iter().any(|name| member.is(name, old));
        let mut members = checked_members(old)?;
        let kept_before = members.by_ref().position(|member| goes(&member))?;
        let mut text = Vec::with_capacity(old.len());
        text.push(b'{');
        let mut kept = |member: Member| {
            if text.len() > 1 {
                text.push(b',');
            }
            // From the quote before the name to the end of the value.
            text.extend_from_slice(&old[member.key.start - 1..member.value.end]);
        };
        checked_members(old)?.take(kept_before).for_each(&mut kept);
        members.filter(|member| !goes(member)).for_each(&mut kept);
        text.push(b'}');
        Some(Raw::trusted(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn several_members_are_found_in_one_walk() {
        let object = raw(r#"{ "a" : [1,{"c":2}], "\u0062":"x" , "d":null}"#);
        let [a, b, c, d] = object.members(["a", "b", "c", "d"]);
        assert_eq!((a.unwrap().as_str(), b.unwrap().as_str()), (r#"[1,{"c":2}]"#, r#""x""#));
        assert!(c.is_none() && d.unwrap().is_null());
        assert_eq!(raw("[1]").members(["a"]), [None]);
    }

    #[test]
    fn several_members_are_changed_in_one_walk() {
        let object = raw("{ \"a\" : 1.50, \"b\":{\"a\":1} ,\n\"c\":[ ] }");
        let (one, two) = (raw("2"), raw("\"x\""));
        let changed = object.with_all(&[("new", &one), ("c", &two), ("a", &one), ("last", &two)]);
        let want = "{ \"a\" : 2, \"b\":{\"a\":1} ,\n\"c\":\"x\",\"new\":2,\"last\":\"x\"}";
        assert_eq!(changed.unwrap().as_str(), want);
        assert_eq!(raw("{ }").with_all(&[("a", &one)]).unwrap().as_str(), r#"{"a":2}"#);
        assert_eq!(raw("{ }").with_all(&[]).unwrap().as_str(), "{}");
        assert!(raw("[]").with_all(&[]).is_none());
    }

    #[test]
    fn two_objects_become_one() {
        let joined = |a: &str, b: &str| raw(a).joined(&raw(b)).map(|both| both.to_string());
        assert_eq!(joined("{ \"a\":1 }", "{ \"b\":2}").unwrap(), "{ \"a\":1,\"b\":2}");
        assert_eq!(joined("{ }", "{\"b\":2}").unwrap(), "{\"b\":2}");
        assert_eq!(joined("{\"a\":1}", "{ }").unwrap(), "{\"a\":1}");
        assert_eq!((joined("{}", "{}").unwrap().as_str(), joined("[]", "{}")), ("{}", None));
    }

    #[test]
    fn members_are_left_out_and_the_others_stay_as_they_were() {
        let object = raw("{ \"a\" : 1.50, \"\\u0062\":{\"a\":1} ,\n\"c\":[ ] }");
        assert_eq!(object.without(&["a", "z"]).unwrap().as_str(), "{\"\\u0062\":{\"a\":1},\"c\":[ ]}");
        assert_eq!(object.without(&["b", "c"]).unwrap().as_str(), "{\"a\" : 1.50}");
        assert_eq!(object.without(&["a", "b", "c"]).unwrap().as_str(), "{}");
        assert!(object.without(&["z"]).is_none() && raw("[]").without(&["a"]).is_none());
    }
}
