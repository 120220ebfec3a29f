//! Replaces literal secrets of another client's file by references, and collects the values.

use super::words::{upper_snake, variable};
use crate::{expand::is_variable_name, looks, secret::Secret};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// An environment variable that has to be set, and its secret value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFound {
    pub variable: String,
    /// Its key in the client's file, below the server, such as `headers.Authorization`.
    pub key: String,
    /// The text before the secret in the value of that key; empty if the secret is all of it.
    pub before: String,
    pub value: Secret,
}

impl SecretFound {
    /// The step that the user has to take with the variable.
    pub(super) fn advice(&self) -> String {
        let after = if self.before.is_empty() { String::new() } else { format!(" after `{}`", self.before) };
        format!("set `{}` to what stands in `{}`{after}", self.variable, self.key)
    }
}

/// Used variable names and their values, so that servers with the same secret share a variable.
#[derive(Debug, Default)]
pub(super) struct Taken {
    names: BTreeMap<String, Secret>,
    /// Numbered names, by their base name: the last number, and the number of each value.
    numbered: BTreeMap<String, (usize, HashMap<String, usize>)>,
}

/// Replaces secrets by references.
pub(super) fn set_aside(server: &mut Map<String, Value>, name: &str, taken: &mut Taken) -> Vec<SecretFound> {
    let mut aside = Aside { prefix: upper_snake(name), taken, found: Vec::new() };
    if let Some(Value::Object(variables)) = server.get_mut("environment") {
        for (name, value) in variables.iter_mut() {
            // The name is untrusted and may become a file name.
            let variable = if is_variable_name(name) { name.clone() } else { upper_snake(name) };
            aside.member(value, name, &format!("environment.{name}"), &variable);
        }
    }
    if let Some(Value::Object(headers)) = server.get_mut("headers") {
        for (name, value) in headers.iter_mut() {
            let called = if name.eq_ignore_ascii_case("authorization") {
                "TOKEN".to_owned()
            } else {
                upper_snake(name)
            };
            let variable = format!("{}_{called}", aside.prefix);
            aside.member(value, name, &format!("headers.{name}"), &variable);
        }
    }
    if let Some(secret) = server.get_mut("oauth").and_then(|oauth| oauth.get_mut("clientSecret")) {
        let variable = format!("{}_CLIENT_SECRET", aside.prefix);
        aside.member(secret, "clientSecret", "oauth.clientSecret", &variable);
    }
    if let Some(Value::Array(words)) = server.get_mut("command") {
        aside.arguments(words);
    }
    if let Some(Value::String(url)) = server.get_mut("url") {
        *url = aside.address(url, "url");
    }
    aside.found
}

impl Taken {
    /// The base name with the number of this value, or else with the next unused number.
    fn numbered(&mut self, own: &str, value: &Secret) -> String {
        let (last, values) = self.numbered.entry(own.to_owned()).or_insert((1, HashMap::new()));
        let name = |number: usize| format!("{own}_{number}");
        if let Some(number) = values.get(value.expose()) {
            return name(*number);
        }
        let free = |number: &usize| is_free(&self.names, &name(*number), value);
        *last = (*last + 1..=usize::MAX).find(free).expect("there is always a next number");
        values.insert(value.expose().to_owned(), *last);
        name(*last)
    }
}

/// True if a name is unused or already has this value.
fn is_free(names: &BTreeMap<String, Secret>, name: &str, value: &Secret) -> bool {
    names.get(name).is_none_or(|taken| taken == value)
}

struct Aside<'a> {
    prefix: String,
    taken: &'a mut Taken,
    found: Vec<SecretFound>,
}

impl Aside<'_> {
    fn member(&mut self, value: &mut Value, name: &str, key: &str, wanted: &str) {
        let Value::String(text) = value else { return };
        if looks::secret(name, text) {
            let bare = looks::credential(text);
            let scheme = &text[..text.len() - text.trim_start().len() + text.trim().len() - bare.len()];
            let reference = self.keep(wanted, bare, (key, scheme));
            *text = format!("{scheme}{reference}");
        } else if looks::masked_address(text).is_some() {
            *text = self.address(text, key);
        }
    }

    fn arguments(&mut self, words: &mut [Value]) {
        for index in 1..words.len() {
            let before = words[index - 1].as_str().map(str::to_owned);
            let Some(word) = words[index].as_str().map(str::to_owned) else { continue };
            let key = format!("command[{index}]");
            if let Some((keep, name)) = looks::secret_argument(before.as_deref(), &word) {
                let called = if name.is_empty() { "SECRET".to_owned() } else { upper_snake(&name) };
                let reference =
                    self.keep(&format!("{}_{called}", self.prefix), &word[keep..], (&key, &word[..keep]));
                words[index] = format!("{}{reference}", &word[..keep]).into();
            } else if looks::masked_address(&word).is_some() {
                words[index] = self.address(&word, &key).into();
            }
        }
    }

    /// Replaces values in a URL's query that look like secrets.
    fn address(&mut self, text: &str, key: &str) -> String {
        let Some((before, query)) = text.split_once('?') else { return text.to_owned() };
        let (query, fragment) =
            query.split_once('#').map_or((query, None), |(query, rest)| (query, Some(rest)));
        let pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) if looks::secret(name, value) => {
                let wanted = format!("{}_{}", self.prefix, upper_snake(name));
                format!("{name}={}", self.keep(&wanted, value, (key, &format!("{name}="))))
            }
            _ => pair.to_owned(),
        };
        let query: Vec<String> = query.split('&').map(pair).collect();
        let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
        format!("{before}?{}{fragment}", query.join("&"))
    }

    /// Stores a secret under the wanted name, or the next unused one, and returns the reference.
    fn keep(&mut self, wanted: &str, value: &str, (key, before): (&str, &str)) -> String {
        let value = Secret::hidden(value);
        let own = format!("{}_{wanted}", self.prefix);
        let mut names = [wanted.to_owned(), own.clone()].into_iter();
        let name = names.find(|name| is_free(&self.taken.names, name, &value));
        let name = name.unwrap_or_else(|| self.taken.numbered(&own, &value));
        self.taken.names.insert(name.clone(), value.clone());
        let (key, before) = (key.to_owned(), before.to_owned());
        self.found.push(SecretFound { variable: name.clone(), key, before, value });
        variable(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_variable_is_called_by_a_path() {
        for name in ["../../x_KEY", "/.._KEY", "A\u{e9}_KEY", "1_KEY"] {
            let mut server = Map::new();
            server.insert("environment".to_owned(), json!({name: "sk-0123456789abcdef0123456789abcdef"}));
            let found = set_aside(&mut server, "s", &mut Taken::default());
            assert!(matches!(&found[..], [secret] if is_variable_name(&secret.variable)), "{found:?}");
        }
    }
}
