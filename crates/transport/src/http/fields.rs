//! The header fields of a request.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Header fields in the order in which they are sent. They are few, so a `Vec` is faster than a
/// map.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(HeaderName, HeaderValue)>);

impl Fields {
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Adds a field whose name must not be present yet.
    pub fn add(&mut self, name: HeaderName, value: HeaderValue) {
        debug_assert!(self.get(&name).is_none(), "{name} is there already");
        self.0.push((name, value));
    }

    /// Sets a field, replacing all fields of the same name.
    pub fn set(&mut self, name: HeaderName, value: HeaderValue) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            None => self.0.push((name, value)),
            Some((_, first)) => {
                *first = value;
                let mut seen = 0;
                self.0.retain(|(known, _)| {
                    seen += usize::from(*known == name);
                    *known != name || seen == 1
                });
            }
        }
    }

    pub fn get(&self, name: &HeaderName) -> Option<&HeaderValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all fields of this name and returns the first.
    pub(crate) fn remove(&mut self, name: &HeaderName) -> Option<HeaderValue> {
        let first = self.get(name)?.clone();
        self.0.retain(|(known, _)| known != name);
        Some(first)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Adds those of `extra` whose names are neither in `self` nor in `others`.
    pub(super) fn complete(&mut self, extra: &HeaderMap, others: &Self) {
        let own = self.0.len();
        for (name, value) in extra {
            if others.get(name).is_none() && !self.0[..own].iter().any(|(known, _)| known == name) {
                self.0.push((name.clone(), value.clone()));
            }
        }
    }
}

impl From<HeaderMap> for Fields {
    fn from(map: HeaderMap) -> Self {
        let mut fields = Self::with_capacity(map.len());
        for (name, value) in &map {
            fields.0.push((name.clone(), value.clone()));
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::{ACCEPT, CONTENT_TYPE, HOST};

    const ONE: HeaderValue = HeaderValue::from_static("1");
    const TWO: HeaderValue = HeaderValue::from_static("2");

    fn values(fields: &Fields, name: &HeaderName) -> Vec<HeaderValue> {
        fields.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.clone()).collect()
    }

    #[test]
    fn a_field_takes_the_place_of_all_of_its_name() {
        let mut map = HeaderMap::new();
        map.append(ACCEPT, ONE);
        map.append(ACCEPT, TWO);
        map.append(HOST, ONE);
        let mut fields = Fields::from(map);
        fields.set(ACCEPT, TWO);
        assert_eq!(values(&fields, &ACCEPT), [TWO]);
        assert_eq!(values(&fields, &HOST), [ONE]);
    }

    #[test]
    fn only_names_that_are_missing_are_completed_with_all_their_values() {
        let mut extra = HeaderMap::new();
        extra.append(ACCEPT, TWO);
        extra.append(CONTENT_TYPE, TWO);
        extra.append(HOST, ONE);
        extra.append(HOST, TWO);
        let (mut fields, mut others) = (Fields::default(), Fields::default());
        fields.set(ACCEPT, ONE);
        others.set(CONTENT_TYPE, ONE);
        fields.complete(&extra, &others);
        assert_eq!(values(&fields, &ACCEPT), [ONE]);
        assert!(values(&fields, &CONTENT_TYPE).is_empty());
        assert_eq!(values(&fields, &HOST), [ONE, TWO]);
    }
}
