//! Writes texts: paragraphs, headings, list items, code, formulas.

use super::{Writer, escape_quoted, formula};
use crate::write::{Part, Scope, Visited, escape, inline_child, link};
use crate::{Formatting, NodeId, Script, Text};

impl Writer<'_> {
    pub(super) fn text(&self, id: NodeId, scope: Scope, visited: &mut Visited) -> String {
        let item = &self.document.texts[id.position()];
        let runs = inline_child(self.document, item).map(|group| self.node(group, Scope::default(), visited));
        let has_runs = runs.is_some();
        let label = item.label.as_str();
        let content = runs.unwrap_or_else(|| match label {
            "formula" => item.text.clone(),
            "code" => escape(&item.text),
            "list_item" => escape(&item.text).replace('\n', "<br>"),
            _ => decorate(escape(&item.text).replace('\n', "<br>"), item),
        });
        let own = |text: String| if has_runs { text } else { decorate(text, item) };
        let text = match label {
            "title" => format!("<h1>{content}</h1>"),
            "section_header" => {
                let level = (item.level.unwrap_or(1) + 1).min(6);
                format!("<h{level}>{content}</h{level}>")
            }
            "formula" => own(formula::formula(&content, scope)),
            "code" if scope.inline => own(format!("<code>{content}</code>")),
            "code" => own(format!("<pre><code>{content}</code></pre>")),
            "list_item" => return self.list_item(id, content, scope, visited),
            _ if scope.inline => content,
            _ => format!("<p>{content}</p>"),
        };
        if has_runs || item.node.children.is_empty() {
            return text;
        }
        let nested = Part { text, first: None };
        let parts = self.parts(id, Scope { list_level: 0, ..scope }, visited);
        Part::join(&[nested].into_iter().chain(parts).collect::<Vec<_>>(), "\n").text
    }

    fn list_item(&self, id: NodeId, content: String, scope: Scope, visited: &mut Visited) -> String {
        let item = &self.document.texts[id.position()];
        let mut parts = Vec::new();
        if !content.is_empty() {
            let has_runs = inline_child(self.document, item).is_some();
            parts.push(if has_runs { format!("\n{content}\n") } else { decorate(content, item) });
        }
        let nested = self.parts(id, Scope { list_level: 0, ..scope }, visited);
        let is_nested = !nested.is_empty();
        parts.extend(nested.into_iter().map(|part| part.text));
        let mut text = parts.join("\n");
        if is_nested {
            text = format!("\n{text}\n");
        }
        if text.is_empty() {
            // An item without text is written all the same if its marker says something; the
            // formatting of nothing is left out.
            return String::new();
        }
        let marker = item.marker.as_deref().unwrap_or("-");
        if marker.is_empty() {
            return format!("<li>{text}</li>");
        }
        let style = format!("list-style-type: '{} ';", escape_css(marker));
        format!("<li style=\"{}\">{text}</li>", escape_attribute(&style))
    }
}

/// Adds formatting and link to HTML.
fn decorate(text: String, item: &Text) -> String {
    let text = match &item.formatting {
        Some(formatting) => format_run(text, formatting),
        None => text,
    };
    match item.hyperlink.as_deref().and_then(link::target) {
        Some(target) => format!("<a href=\"{}\">{text}</a>", escape_quoted(&target)),
        None => text,
    }
}

fn format_run(mut text: String, formatting: &Formatting) -> String {
    let styles = [
        (formatting.bold, "strong"),
        (formatting.italic, "em"),
        (formatting.underline, "u"),
        (formatting.strikethrough, "del"),
        (formatting.script == Script::Sub, "sub"),
        (formatting.script == Script::Super, "sup"),
    ];
    for (_, tag) in styles.into_iter().filter(|(set, _)| *set) {
        text = format!("<{tag}>{text}</{tag}>");
    }
    text
}

fn escape_css(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'").replace('\r', "").replace('\n', "\\A ")
}

fn escape_attribute(text: &str) -> String {
    escape(text).replace('"', "&quot;")
}
