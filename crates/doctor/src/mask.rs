//! Masks secrets in reports: known values, and text that looks like a secret.

use http::HeaderMap;
use trunkline_secrets::{Caution, is_secret_name, is_token};

/// Masks known values and everything that looks like a secret.
#[derive(Clone)]
pub struct Mask {
    known: Vec<String>,
    mask: trunkline_secrets::Mask,
}

impl Mask {
    /// Builds a mask for the values of these headers.
    pub fn of_headers(headers: &HeaderMap) -> Self {
        let mut known = Vec::new();
        for (_, value) in headers.iter().filter(|(name, _)| **name != http::header::ORIGIN) {
            if let Ok(text) = value.to_str() {
                known.push(text.to_owned());
                known.extend(text.split_once(' ').map(|(_, bare)| bare.to_owned()));
            }
        }
        Self::default().with(known)
    }

    /// Adds the values of these variables whose name or value looks like a secret.
    pub fn add_variables(&mut self, variables: &[(String, String)]) {
        let secrets = variables.iter().filter(|(name, value)| {
            // A reference is not a secret: our advice is to write one in place of the secret.
            let is_reference = value.contains("${") || value.contains("{env:");
            !is_reference && (is_secret_name(name) || looks_secret(value))
        });
        let values = secrets.map(|(_, value)| value.trim_matches(['"', '\'', ' ']).to_owned()).collect();
        *self = std::mem::take(self).with(values);
    }

    /// Returns the text with secrets masked.
    pub fn hide(&self, text: &str) -> String {
        self.mask.hide(text).into_owned()
    }

    /// Adds these values.
    pub fn add_all(&mut self, values: &[String]) {
        *self = std::mem::take(self).with(values.to_vec());
    }

    fn with(mut self, values: Vec<String>) -> Self {
        self.known.extend(values);
        self.mask = self.mask.knowing(self.known.iter().map(String::as_str));
        self
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} secrets)", self.known.len())
    }
}

impl Default for Mask {
    fn default() -> Self {
        Self { known: Vec::new(), mask: trunkline_secrets::Mask::new("•••", Caution::Readable) }
    }
}

/// True if a value has the form of a known kind of token, whatever its name.
pub(super) fn looks_secret(value: &str) -> bool {
    is_token(value.strip_prefix("Bearer ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_hidden_wherever_they_stand() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "Bearer canary-123".parse().unwrap());
        let mut mask = Mask::of_headers(&headers);
        mask.add_variables(&[
            ("MY_TOKEN".into(), "s3cr3t-value".into()),
            ("LANG".into(), "de_DE.UTF-8".into()),
        ]);
        let text = mask.hide("got canary-123 and s3cr3t-value in de_DE.UTF-8");
        assert_eq!(text, "got ••• and ••• in de_DE.UTF-8");
    }

    #[test]
    fn what_looks_like_a_credential_is_hidden() {
        let mask = Mask::default();
        for (text, hidden) in [
            ("key ghp_abcdefghijklmnop1234 here", "key ••• here"),
            ("http://h/?token=abcdef123&x=1", "http://h/?token=•••&x=1"),
            ("{\"API_KEY\": \"abcdef123\"}", "{\"API_KEY\": \"•••\"}"),
            ("Authorization: Bearer abcdefgh", "Authorization: Bearer •••"),
            ("Bearer resource_metadata=\"x\", error", "Bearer resource_metadata=\"x\", error"),
            ("nothing to see: sk-1 and monkey=12345678", "nothing to see: sk-1 and monkey=12345678"),
        ] {
            assert_eq!(mask.hide(text), hidden);
        }
    }
}
