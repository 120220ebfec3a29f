//! The form of suggested settings: that of most clients, or ours.

/// The member names in suggested settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spelling {
    /// Those of most clients: `env`, and `command` beside `args`.
    #[default]
    Clients,
    /// Those of `trunkline.json`: `environment`, and `command` as a list.
    Ours,
}

const COMMAND: &str = "\"command\": \"";
const ARGS: &str = "\"args\": [";

impl Spelling {
    /// A suggestion written for clients, in this spelling. `program` is that of the server.
    pub(super) fn spell(self, line: &str, program: &str) -> String {
        match self {
            Self::Clients => line.to_owned(),
            Self::Ours => one_list(&line.replace("\"env\"", "\"environment\""), program),
        }
    }
}

/// Joins `command` and `args`.
fn one_list(line: &str, program: &str) -> String {
    if let Some((before, rest)) = line.split_once(COMMAND)
        && let Some(end) = end_of_text(rest)
    {
        let (named, rest) = (&rest[..end], &rest[end + 1..]);
        let with_args = rest.strip_prefix(", ").and_then(|rest| rest.strip_prefix(ARGS));
        return match with_args {
            Some(args) => format!("{before}\"command\": [\"{named}\"{}", after_first(args)),
            // The arguments stay as they are.
            None => format!("{before}\"command\": [\"{named}\", …]{rest}"),
        };
    }
    match line.split_once(ARGS) {
        Some((before, args)) => format!("{before}\"command\": [{program:?}{}", after_first(args)),
        None => line.to_owned(),
    }
}

/// The rest of a list, to follow its first item.
fn after_first(rest: &str) -> String {
    if rest.starts_with(']') { rest.to_owned() } else { format!(", {rest}") }
}

/// The index of the quotation mark that ends a JSON text.
fn end_of_text(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_command_is_one_list_with_its_program() {
        for (clients, ours) in [
            (r#""env": { "A": "1" }"#, r#""environment": { "A": "1" }"#),
            (r#""command": "npx", "args": ["-y", "x"]    # so"#, r#""command": ["npx", "-y", "x"]    # so"#),
            (r#""command": "np\"x", "args": []"#, r#""command": ["np\"x"]"#),
            (r#""args": ["/a/s.py"]"#, r#""command": ["python3", "/a/s.py"]"#),
            (r#"or "command": "/a/python""#, r#"or "command": ["/a/python", …]"#),
            ("npm cache verify", "npm cache verify"),
        ] {
            assert_eq!(Spelling::Ours.spell(clients, "python3"), ours);
            assert_eq!(Spelling::Clients.spell(clients, "python3"), clients);
        }
    }
}
