//! `Complaint`: one problem that a linter reports.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The linter's own name of the check; empty if it has none.
    pub(super) check: String,
    pub(super) text: String,
}

impl Complaint {
    pub(super) fn new(check: &str, text: &str) -> Self {
        Self { check: check.to_owned(), text: text.trim().to_owned() }
    }

    /// True if both have the same text, ignoring times and counts.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.check == other.check && without_digits(&self.text) == without_digits(&other.text)
    }

    /// True if the complaint contains one of these lower-case words.
    pub(super) fn mentions(&self, words: &[String]) -> bool {
        let text = format!("{} {}", self.check, self.text).to_lowercase();
        words.iter().any(|word| text.contains(word.as_str()))
    }
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_with_another_time_is_the_same() {
        let one = Complaint::new("slow", "took 12 ms");
        assert!(one.is_like(&Complaint::new("slow", "took 345 ms")));
        assert!(!one.is_like(&Complaint::new("slow", "took long")));
    }

    #[test]
    fn words_are_found_in_either_case() {
        assert!(Complaint::new("PROTO-1", "InputSchema is missing").mentions(&["inputschema".to_owned()]));
    }
}
