//! Writes lists.

use super::Writer;
use crate::NodeId;
use crate::write::{Part, Scope, Visited, is_inline};

/// Spaces by which a nested list is indented.
const INDENT: usize = 4;

impl Writer<'_> {
    pub(super) fn list(&self, id: NodeId, scope: Scope, visited: &mut Visited) -> Part {
        let inner = Scope { list_level: scope.list_level + 1, ..scope };
        let parts = self.parts(id, inner, visited);
        let first = parts.iter().find_map(|part| part.first);
        let mut items: Vec<String> = Vec::new();
        for part in parts {
            match items.last_mut() {
                // Runs of a paragraph continue the item before them.
                Some(item) if self.is_run(part.first) => item.push_str(&part.text),
                _ => items.push(part.text),
            }
        }
        let indent = " ".repeat(scope.list_level * INDENT);
        let lines: Vec<String> = items
            .into_iter()
            // A nested list is already indented.
            .map(|item| if item.starts_with(' ') { item } else { format!("{indent}{item}") })
            .collect();
        Part { text: lines.join("\n"), first }
    }

    fn is_run(&self, item: Option<NodeId>) -> bool {
        let node = item.and_then(|item| self.document.node(item));
        let parent = node.and_then(|node| node.parent.as_ref());
        parent.is_some_and(|parent| is_inline(self.document, parent.to))
    }
}
