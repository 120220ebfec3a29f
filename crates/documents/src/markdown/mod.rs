//! Writes a document as Markdown, in the form of docling-core's export.

mod inline;
mod list;
mod table;
mod text;

use crate::write::{Layers, Part, Scope, Tree, Visited, flat_text, is_inline, is_list, meta, repaired};
use crate::{Document, NodeId, NodeKind, Ref};

/// Options of [`markdown()`].
#[derive(Debug, Clone)]
pub struct MarkdownOptions {
    /// Headings for the sheets of a workbook.
    pub sheet_headings: SheetHeadings,
    /// Padding of table cells.
    pub tables: TableStyle,
    /// Pictures.
    pub images: Images,
}

/// Headings for the sheets of a workbook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SheetHeadings {
    /// Each sheet begins with a heading of level 2; comments on cells follow the sheets.
    Show,
    /// As docling-core's plain export.
    Hide,
}

/// Padding of table cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableStyle {
    /// Columns have the same width in all rows.
    Padded,
    /// One space on each side of a cell.
    Compact,
}

/// The form of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Images {
    /// A comment where the picture was.
    Placeholder,
    /// The picture as a `data:` URL, if the document has it.
    Embedded,
}

/// Writes a document as Markdown.
pub fn markdown(document: &Document, options: &MarkdownOptions) -> String {
    let document = repaired(document);
    let layers = match options.sheet_headings {
        SheetHeadings::Show if has_sheets(&document) => Layers::BodyAndNotes,
        _ => Layers::Body,
    };
    let writer = Writer { tree: Tree::new(&document, layers), document: &document, options };
    let mut visited = Visited::new();
    visited.insert(NodeId::BODY);
    let parts = writer.parts(NodeId::BODY, Scope::default(), &mut visited);
    let body = Part::join(&parts, "\n\n");
    Part::join(&[body, writer.meta(NodeId::BODY)], "\n\n").text
}

impl MarkdownOptions {
    /// For reading a converted file: a workbook keeps the names of its sheets and its comments,
    /// which docling-core's plain export leaves out.
    pub fn for_reading() -> Self {
        Self { sheet_headings: SheetHeadings::Show, ..Self::default() }
    }
}

/// As docling-core's plain export.
impl Default for MarkdownOptions {
    fn default() -> Self {
        Self { sheet_headings: SheetHeadings::Hide, tables: TableStyle::Padded, images: Images::Placeholder }
    }
}

fn has_sheets(document: &Document) -> bool {
    document.groups.iter().any(|group| group.label == "sheet")
}

const IMAGE_PLACEHOLDER: &str = "<!-- image -->";

struct Writer<'a> {
    document: &'a Document,
    tree: Tree<'a>,
    options: &'a MarkdownOptions,
}

impl Writer<'_> {
    /// The parts of a node's subtree that are not yet written.
    fn parts(&self, root: NodeId, scope: Scope, visited: &mut Visited) -> Vec<Part> {
        let mut parts = Vec::new();
        for id in self.tree.order(root) {
            if visited.insert(id) {
                let part = self.node(id, scope, visited);
                if !part.text.is_empty() {
                    parts.push(part);
                }
            }
        }
        parts
    }

    fn node(&self, id: NodeId, scope: Scope, visited: &mut Visited) -> Part {
        if id.kind == NodeKind::Text && self.tree.attached.contains(&id) {
            return Part::default();
        }
        visited.insert(id);
        let part = match id.kind {
            NodeKind::Body => return Part::default(),
            NodeKind::Group if is_list(self.document, id) => self.list(id, scope, visited),
            NodeKind::Group if is_inline(self.document, id) => {
                let parts = self.parts(id, Scope { inline: true, ..scope }, visited);
                Part::join(&parts, " ")
            }
            NodeKind::Group | NodeKind::Furniture => self.group(id, scope, visited),
            NodeKind::Text if self.tree.excluded.contains(&id) => Part::default(),
            NodeKind::Text => self.text(id, scope, visited),
            NodeKind::Table => self.table(id, scope, visited),
            NodeKind::Picture => self.picture(id, visited),
            NodeKind::KeyValue => self.placeholder(id, "<!-- missing-key-value-item -->"),
            NodeKind::Form => self.placeholder(id, "<!-- missing-form-item -->"),
            NodeKind::FieldRegion | NodeKind::FieldItem => Part::default(),
        };
        Part::join(&[part, self.meta(id)], "\n\n")
    }

    fn group(&self, id: NodeId, scope: Scope, visited: &mut Visited) -> Part {
        let part = Part::join(&self.parts(id, scope.plain(), visited), "\n\n");
        let is_sheet = self.document.label(id) == "sheet";
        if !is_sheet || self.options.sheet_headings == SheetHeadings::Hide {
            return part;
        }
        let name = self.document.groups.get(id.position()).map_or("", |group| group.name.as_str());
        let heading = Part { text: format!("## {name}"), first: None };
        Part { first: part.first, ..Part::join(&[heading, part], "\n\n") }
    }

    fn picture(&self, id: NodeId, visited: &mut Visited) -> Part {
        let picture = &self.document.pictures[id.position()];
        let mut parts = vec![self.captions(&picture.captions, visited)];
        if !self.tree.excluded.contains(&id) {
            let uri = picture.image.as_ref().and_then(|image| image["uri"].as_str());
            let image = match (self.options.images, uri) {
                (Images::Embedded, Some(uri)) if uri.starts_with("data:") => {
                    format!("![Image]({})", crate::write::link::markdown(uri))
                }
                _ => IMAGE_PLACEHOLDER.to_owned(),
            };
            parts.push(Part::of(image, id));
        }
        Part::join(&parts, "\n\n")
    }

    fn placeholder(&self, id: NodeId, text: &str) -> Part {
        if self.tree.excluded.contains(&id) {
            return Part::default();
        }
        Part::of(text.to_owned(), id)
    }

    fn captions(&self, captions: &[Ref], visited: &mut Visited) -> Part {
        let mut written = Vec::new();
        for caption in captions.iter().map(|caption| caption.to) {
            let shown = caption.kind == NodeKind::Text
                && self.tree.shows(caption)
                && !self.tree.excluded.contains(&caption);
            if shown {
                let own = inline::escape(&self.document.texts[caption.position()].text);
                let mut parts = vec![Part::of(own, caption)];
                parts.extend(self.parts(caption, Scope::inline(), visited));
                written.push(Part::join(&parts, " "));
            }
        }
        let first = written.iter().find_map(|part| part.first);
        // An empty caption still takes its separator, as in docling-core.
        let texts: Vec<&str> = written.iter().map(|part| part.text.as_str()).collect();
        Part { text: texts.join(" "), first }
    }

    fn meta(&self, id: NodeId) -> Part {
        if self.tree.excluded.contains(&id) {
            return Part::default();
        }
        let fields = meta::fields(self.document, id).into_iter().filter_map(|(name, field)| {
            match field {
                // docling-core prints its own data structures here.
                _ if matches!(name.as_str(), "language" | "entities" | "code") => None,
                meta::Field::Text(text) => Some(text),
                meta::Field::Chart(data) => {
                    Some(self.rows(&data, &mut |cell| cell.text.clone())).filter(|t| !t.is_empty())
                }
                meta::Field::Code { .. } => None,
            }
        });
        let text = fields.collect::<Vec<_>>().join("\n\n");
        Part { text, first: (id.kind > NodeKind::Group).then_some(id) }
    }

    /// A table inside the cell of another one becomes plain text.
    fn flattened(&self, id: NodeId, visited: &mut Visited) -> Part {
        let mut seen = Visited::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(self.document.children(id));
            }
        }
        visited.extend(seen);
        Part::of(flat_text(self.document, id, &self.tree.excluded), id)
    }
}

#[cfg(test)]
mod tests;
