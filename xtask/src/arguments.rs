//! `Arguments`: the arguments after a command's name, consumed one option at a time.
//!
//! A command consumes the options it knows and then calls [`Arguments::finish`], which rejects the
//! rest.

use std::str::FromStr;

use anyhow::{Context, Result, bail};

#[derive(Debug)]
pub(crate) struct Arguments {
    words: Vec<String>,
}

impl Arguments {
    pub(crate) fn new(words: impl Iterator<Item = String>) -> Self {
        Self { words: words.collect() }
    }

    /// Consumes the next argument if it is not an option.
    pub(crate) fn word(&mut self) -> Option<String> {
        let first = self.words.first()?;
        (!first.starts_with('-')).then(|| self.words.remove(0))
    }

    /// Consumes `--name`; true if it was present.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let position = self.words.iter().position(|word| word == name);
        position.map(|index| self.words.remove(index)).is_some()
    }

    /// Consumes `--name VALUE` or `--name=VALUE`.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>> {
        for index in 0..self.words.len() {
            if let Some(rest) = self.words[index].strip_prefix(name) {
                if let Some(value) = rest.strip_prefix('=') {
                    let value = value.to_owned();
                    self.words.remove(index);
                    return Ok(Some(value));
                }
                if rest.is_empty() {
                    if index + 1 == self.words.len() {
                        bail!("{name} needs a value");
                    }
                    self.words.remove(index);
                    return Ok(Some(self.words.remove(index)));
                }
            }
        }
        Ok(None)
    }

    /// Consumes every `--name VALUE`, in order.
    pub(crate) fn values(&mut self, name: &str) -> Result<Vec<String>> {
        let mut all = Vec::new();
        while let Some(value) = self.value(name)? {
            all.push(value);
        }
        Ok(all)
    }

    /// Consumes `--name VALUE` and parses the value.
    pub(crate) fn parsed<T: FromStr>(&mut self, name: &str) -> Result<Option<T>>
    where
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let Some(text) = self.value(name)? else { return Ok(None) };
        let value = text.parse().with_context(|| format!("{name} {text}"))?;
        Ok(Some(value))
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self.words.first() {
            Some(word) => bail!("unexpected argument {word}; see cargo xtask help"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments::new(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_taken_in_any_order_and_both_spellings() {
        let mut given = arguments("client --only a --seconds=3 --only b --check");
        assert_eq!(given.word().as_deref(), Some("client"));
        assert_eq!(given.values("--only").unwrap(), ["a", "b"]);
        assert_eq!(given.parsed::<u64>("--seconds").unwrap(), Some(3));
        assert!(given.flag("--check"));
        given.finish().unwrap();
    }

    #[test]
    fn what_nobody_took_is_refused() {
        let error = arguments("--bogus").finish().unwrap_err();
        assert_eq!(error.to_string(), "unexpected argument --bogus; see cargo xtask help");
    }

    #[test]
    fn an_option_without_its_value_is_refused() {
        let error = arguments("--only").values("--only").unwrap_err();
        assert_eq!(error.to_string(), "--only needs a value");
    }

    #[test]
    fn an_option_whose_name_only_begins_alike_is_left() {
        let mut given = arguments("--only-this x");
        assert_eq!(given.value("--only").unwrap(), None);
    }
}
