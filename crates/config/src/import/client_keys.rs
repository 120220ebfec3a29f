//! The names that the converted keys of a server have in the client's own file.

/// The client's names for our keys, as far as they differ.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientKeys {
    renamed: Vec<(&'static str, String)>,
    command: CommandForm,
}

/// The form of the command in the client's file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum CommandForm {
    /// One array, as ours.
    #[default]
    Words,
    /// One text that holds program and arguments.
    Line,
    /// The program as a text, and its arguments as the array `args`.
    Separate,
}

impl ClientKeys {
    pub(crate) fn rename(&mut self, ours: &'static str, theirs: &str) {
        self.renamed.push((ours, theirs.to_owned()));
    }

    pub(crate) fn set_command(&mut self, form: CommandForm) {
        self.command = form;
    }

    /// Translates a key such as `environment.TOKEN` or `command[2]`.
    pub(crate) fn theirs(&self, ours: &str) -> String {
        if let Some(index) = command_index(ours) {
            return match (self.command, index.checked_sub(1)) {
                (CommandForm::Words, _) => ours.to_owned(),
                (CommandForm::Separate, Some(argument)) => format!("args[{argument}]"),
                (CommandForm::Line, _) | (CommandForm::Separate, None) => "command".to_owned(),
            };
        }
        let (head, rest) = ours.split_once('.').map_or((ours, None), |(head, rest)| (head, Some(rest)));
        let head = self.renamed.iter().find(|(known, _)| *known == head).map_or(head, |(_, theirs)| theirs);
        rest.map_or_else(|| head.to_owned(), |rest| format!("{head}.{rest}"))
    }
}

fn command_index(key: &str) -> Option<usize> {
    key.strip_prefix("command[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_as_in_the_clients_file() {
        let mut keys = ClientKeys::default();
        keys.rename("environment", "env");
        keys.set_command(CommandForm::Separate);
        assert_eq!(keys.theirs("environment.A.B"), "env.A.B");
        assert_eq!(keys.theirs("headers.X"), "headers.X");
        assert_eq!([keys.theirs("command[0]"), keys.theirs("command[2]")], ["command", "args[1]"]);
        assert_eq!(ClientKeys::default().theirs("command[2]"), "command[2]");
    }
}
