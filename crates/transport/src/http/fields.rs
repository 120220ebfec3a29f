//! The header fields of a request.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Header fields in the order in which they are sent. There are few of them, and nobody looks them up by hash.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(HeaderName, HeaderValue)>);

impl Fields {
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Adds a field in place of those that have the same name.
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

    pub(crate) fn remove(&mut self, name: &HeaderName) -> Option<HeaderValue> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Adds those of `extra` whose names are not here yet.
    pub(super) fn complete(&mut self, extra: &HeaderMap) {
        let own = self.0.len();
        for (name, value) in extra {
            if !self.0[..own].iter().any(|(known, _)| known == name) {
                self.0.push((name.clone(), value.clone()));
            }
        }
    }

    pub(super) fn to_map(&self) -> HeaderMap {
        let mut map = HeaderMap::with_capacity(self.0.len());
        for (name, value) in &self.0 {
            map.append(name.clone(), value.clone());
        }
        map
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
    use http::header::{ACCEPT, HOST};

    const ONE: HeaderValue = HeaderValue::from_static("1");
    const TWO: HeaderValue = HeaderValue::from_static("2");

    #[test]
    fn a_field_takes_the_place_of_all_of_its_name() {
        let mut map = HeaderMap::new();
        map.append(ACCEPT, ONE);
        map.append(ACCEPT, TWO);
        map.append(HOST, ONE);
        let mut fields = Fields::from(map);
        fields.set(ACCEPT, TWO);
        assert_eq!(fields.to_map().get_all(ACCEPT).iter().collect::<Vec<_>>(), [&TWO]);
        assert_eq!(fields.get(&HOST), Some(&ONE));
    }

    #[test]
    fn only_names_that_are_missing_are_completed_with_all_their_values() {
        let mut extra = HeaderMap::new();
        extra.append(ACCEPT, TWO);
        extra.append(HOST, ONE);
        extra.append(HOST, TWO);
        let mut fields = Fields::default();
        fields.set(ACCEPT, ONE);
        fields.complete(&extra);
        let map = fields.to_map();
        assert_eq!(map.get_all(ACCEPT).iter().collect::<Vec<_>>(), [&ONE]);
        assert_eq!(map.get_all(HOST).iter().collect::<Vec<_>>(), [&ONE, &TWO]);
    }
}
