//! Writes texts: paragraphs, headings, list items, code, formulas.

use super::{Writer, inline};
use crate::write::{Part, Scope, Visited, inline_child, is_enumerated, is_list};
use crate::{NodeId, Text};

/// Markdown has six levels of headings.
const DEEPEST_HEADING: u32 = 6;

impl Writer<'_> {
    pub(super) fn text(&self, id: NodeId, scope: Scope, visited: &mut Visited) -> Part {
        let item = &self.document.texts[id.position()];
        let runs =
            inline_child(self.document, item).map(|group| self.node(group, Scope::default(), visited).text);
        let own = runs.is_none();
        let content = runs.unwrap_or_else(|| item.text.clone());
        let content = match item.label.as_str() {
            "checkbox_selected" => format!("- [x] {content}"),
            "checkbox_unselected" => format!("- [ ] {content}"),
            _ => content,
        };
        let text = match item.label.as_str() {
            "title" | "section_header" => {
                let text = if own { inline::formatted(&content.replace('\n', " "), item) } else { content };
                heading(item, text, scope)
            }
            "list_item" => {
                let text = if own { inline::formatted(&line_breaks(&content), item) } else { content };
                self.list_item(item, &text)
            }
            "code" => return self.code(id, item, scope),
            "formula" => {
                let formula = formula(item, &content, scope);
                if own { decorate(formula, item) } else { formula }
            }
            _ => {
                let text = line_breaks(&content);
                if own && !text.is_empty() { inline::formatted(&text, item) } else { text }
            }
        };
        if text.is_empty() { Part::default() } else { Part::of(text, id) }
    }

    fn code(&self, id: NodeId, item: &Text, scope: Scope) -> Part {
        let span = scope.inline || item.hyperlink.is_some();
        let code = if span { inline::code_span(&item.text) } else { inline::code_block(&item.text) };
        let captions = item.captions.as_deref().unwrap_or(&[]);
        let parts = vec![Part::of(code, id), self.captions(captions, &mut Visited::new())];
        let part = Part::join(&parts, if scope.inline { " " } else { "\n\n" });
        Part { text: decorate(part.text, item), ..part }
    }

    /// The marker of the source is kept if it says more than a bullet does.
    fn list_item(&self, item: &Text, text: &str) -> String {
        let marker = item.marker.as_deref().unwrap_or("-");
        let number = marker.strip_suffix('.').unwrap_or("");
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        let valid = matches!(marker, "-" | "*" | "+") || is_number;
        let telling = marker.chars().any(char::is_alphanumeric);
        let mut pieces: Vec<String> = Vec::new();
        if !valid {
            pieces.push(self.own_marker(item, marker));
        }
        if !marker.is_empty() && (telling || valid) {
            pieces.push(marker.to_owned());
        }
        pieces.push(text.to_owned());
        pieces.join(" ")
    }

    fn own_marker(&self, item: &Text, marker: &str) -> String {
        let list = item.node.parent.as_ref().map(|parent| parent.to);
        let list = list.filter(|list| is_list(self.document, *list));
        match list {
            Some(list) if marker.is_empty() && is_enumerated(self.document, list) => {
                let at = self.document.children(list).position(|child| child == item.node.self_ref);
                format!("{}.", at.map_or(0, |at| at + 1))
            }
            _ => "-".to_owned(),
        }
    }
}

fn heading(item: &Text, text: String, scope: Scope) -> String {
    if scope.in_cell {
        return text;
    }
    let level = match item.label.as_str() {
        "title" => 1,
        _ => (item.level.unwrap_or(1) + 1).min(DEEPEST_HEADING),
    };
    format!("{} {text}", "#".repeat(level as usize))
}

fn formula(item: &Text, formula: &str, scope: Scope) -> String {
    if !formula.is_empty() {
        return if scope.inline { format!("${formula}$") } else { format!("$${formula}$$") };
    }
    if item.orig.is_empty() { String::new() } else { "<!-- formula-not-decoded -->".to_owned() }
}

fn decorate(text: String, item: &Text) -> String {
    inline::decorate(text, item.formatting.as_ref(), item.hyperlink.as_deref())
}

/// A line break within a paragraph is written as two spaces at the end of the line.
fn line_breaks(text: &str) -> String {
    let paragraphs: Vec<String> =
        text.split("\n\n").map(|paragraph| paragraph.replace('\n', "  \n")).collect();
    paragraphs.join("\n\n")
}
