//! Writes a document as HTML, in the form of docling-core's export.

mod formula;
mod graph;
mod meta;
mod table;
mod text;

use crate::write::{
    Layers, Part, Scope, Tree, Visited, flat_text, is_enumerated, is_inline, is_list, repaired,
};
use crate::{Document, Images, NodeId, NodeKind, Ref};
use docling::DoclingDocument;
use unicode_bidi::{BidiClass, bidi_class};

/// Options of [`html()`].
#[derive(Debug, Clone)]
pub struct HtmlOptions {
    /// The form of pictures; a placeholder is a `<figure>` without `<img>`.
    pub images: Images,
}

/// Writes a document as HTML.
pub fn html(document: &Document, options: &HtmlOptions) -> String {
    let document = repaired(document);
    let writer = Writer { tree: Tree::new(&document, Layers::Body), document: &document, options };
    let mut visited = Visited::new();
    visited.insert(NodeId::BODY);
    let body = Part::join(&writer.parts(NodeId::BODY, Scope::default(), &mut visited), "\n").text;
    let mut page = vec![
        "<!DOCTYPE html>".to_owned(),
        "<html>".to_owned(),
        head(&document.name),
        "<body>".to_owned(),
        format!("<div class='page'>\n{body}\n</div>"),
        "</body>".to_owned(),
        "</html>".to_owned(),
    ];
    page.extend(Some(writer.meta(NodeId::BODY)).filter(|meta| !meta.is_empty()));
    page.join("\n")
}

impl Default for HtmlOptions {
    fn default() -> Self {
        Self { images: Images::Placeholder }
    }
}

/// The head with docling's style sheet, which its crate has.
fn head(name: &str) -> String {
    let title = if name.is_empty() { "Docling Document".to_owned() } else { escape_quoted(name) };
    let empty = DoclingDocument::new("").export_to_html();
    let style = empty.find("<style>").and_then(|at| empty[at..].split("</head>").next());
    let style = style.unwrap_or("").trim_end();
    format!(
        "<head>\n<meta charset=\"UTF-8\"/>\n<title>{title}</title>\n\
         <meta name=\"generator\" content=\"Docling HTML Serializer\"/>\n{style}\n</head>"
    )
}

struct Writer<'a> {
    document: &'a Document,
    tree: Tree<'a>,
    options: &'a HtmlOptions,
}

impl Writer<'_> {
    /// The parts of a node's subtree that are not yet written.
    fn parts(&self, root: NodeId, scope: Scope, visited: &mut Visited) -> Vec<Part> {
        let mut parts = Vec::new();
        for id in self.tree.order(root) {
            if visited.insert(id) {
                let text = self.node(id, scope, visited);
                if !text.is_empty() {
                    parts.push(Part { text, first: None });
                }
            }
        }
        parts
    }

    fn node(&self, id: NodeId, scope: Scope, visited: &mut Visited) -> String {
        if id.kind == NodeKind::Text && self.tree.attached.contains(&id) {
            return String::new();
        }
        visited.insert(id);
        let text = match id.kind {
            NodeKind::Body => return String::new(),
            NodeKind::Group if is_list(self.document, id) => self.list(id, scope, visited),
            NodeKind::Group if is_inline(self.document, id) => {
                let runs = self.parts(id, Scope { inline: true, ..scope }, visited);
                wrap(Part::join(&runs, " ").text, "<span class='inline-group'>", "</span>")
            }
            NodeKind::Group | NodeKind::Furniture => {
                Part::join(&self.parts(id, scope.plain(), visited), "\n").text
            }
            NodeKind::Text if self.tree.excluded.contains(&id) => String::new(),
            NodeKind::Text => self.text(id, scope, visited),
            NodeKind::Table => self.table(id, visited),
            // The figure holds the fields of a picture.
            NodeKind::Picture => return self.picture(id, visited),
            NodeKind::KeyValue => self.graph(&self.document.key_value_items, id, "key-value-region"),
            NodeKind::Form => self.graph(&self.document.form_items, id, "form-container"),
            NodeKind::FieldRegion => "<!-- Unhandled item type: FieldRegionItem -->".to_owned(),
            NodeKind::FieldItem => "<!-- Unhandled item type: FieldItem -->".to_owned(),
        };
        let meta = self.meta(id);
        match (text.is_empty(), meta.is_empty()) {
            (_, true) => text,
            (true, false) => meta,
            (false, false) => format!("{text}\n{meta}"),
        }
    }

    fn list(&self, id: NodeId, scope: Scope, visited: &mut Visited) -> String {
        let items = Part::join(&self.parts(id, scope, visited), "\n").text;
        let tag = if is_enumerated(self.document, id) { "ol" } else { "ul" };
        wrap(items, &format!("<{tag}>\n"), &format!("\n</{tag}>"))
    }

    fn picture(&self, id: NodeId, visited: &mut Visited) -> String {
        let picture = &self.document.pictures[id.position()];
        let mut figure = self.captions(&picture.captions, "figcaption", visited);
        let uri = picture.image.as_ref().and_then(|image| image["uri"].as_str());
        if let Some(uri) = uri.filter(|uri| uri.starts_with("data:"))
            && self.options.images == Images::Embedded
            && !self.tree.excluded.contains(&id)
        {
            figure.extend(["<img src=\"", &escape_quoted(uri), "\">"]);
        }
        figure.push_str(&self.meta(id));
        wrap(figure, "<figure>", "</figure>")
    }

    fn captions(&self, captions: &[Ref], tag: &str, visited: &mut Visited) -> String {
        let mut written = Vec::new();
        for caption in captions.iter().map(|caption| caption.to) {
            let shown = caption.kind == NodeKind::Text
                && self.tree.shows(caption)
                && !self.tree.excluded.contains(&caption);
            if !shown {
                continue;
            }
            let item = &self.document.texts[caption.position()];
            let mut parts = vec![Part { text: escape_quoted(&item.text), first: None }];
            parts.extend(self.parts(caption, Scope::inline(), visited));
            let plain = if item.node.children.is_empty() {
                item.text.clone()
            } else {
                flat_text(self.document, caption, &Visited::new())
            };
            let direction = direction(&plain);
            let text = Part::join(&parts, " ").text;
            written.push(format!("<div class=\"caption\"{direction}>{text}</div>"));
        }
        wrap(written.join(" "), &format!("<{tag}>"), &format!("</{tag}>"))
    }
}

/// Puts text that is not empty between two others.
fn wrap(text: String, before: &str, after: &str) -> String {
    if text.is_empty() { text } else { format!("{before}{text}{after}") }
}

/// The attribute of text that is written from right to left.
fn direction(text: &str) -> &'static str {
    let rtl = |c: char| matches!(bidi_class(c), BidiClass::R | BidiClass::AL);
    let count = text.chars().filter(|c| rtl(*c)).count();
    if text.starts_with(rtl) || count * 2 > text.chars().count() { " dir=\"rtl\"" } else { "" }
}

/// Escapes text for HTML with its quotes.
fn escape_quoted(text: &str) -> String {
    crate::write::escape(text).replace('"', "&quot;").replace('\'', "&#x27;")
}

#[cfg(test)]
mod tests;
