//! Document: the searchable texts of one tool.

/// The searchable texts of one tool. Texts that a tool does not have are empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Document<'a> {
    pub server: &'a str,
    pub name: &'a str,
    pub title: &'a str,
    pub description: &'a str,
    pub tags: &'a [&'a str],
    pub arguments: &'a [Argument<'a>],
}

/// One argument of a tool.
#[derive(Debug, Clone, Default)]
pub struct Argument<'a> {
    pub name: &'a str,
    pub description: &'a str,
    /// The values that an enumeration allows.
    pub values: Vec<&'a str>,
}
