//! Builds the document from blocks.

use super::{Kind, PdfBlock, furniture::Place};
use crate::read::ReadOptions;
use crate::{
    Bounds, Document, Extra, Format, Group, Members, NodeId, NodeKind, Origin, Page, Provenance, Table, Text,
};
use serde_json::{Number, json};

/// Items whose left edges differ by less are on the same level, in points.
const INDENT: f32 = 6.0;

pub(super) struct Builder {
    document: Document,
    /// The open lists, outermost first, with the left edge of their items.
    lists: Vec<(NodeId, Option<f32>)>,
}

impl Builder {
    pub(super) fn of(format: Format, binary_hash: u64, options: &ReadOptions) -> Self {
        let name = options.name.as_deref().unwrap_or("document.pdf");
        let mut document = Document::new(crate::read::stem(name));
        document.origin = Some(Origin {
            mimetype: format.media_type().to_owned(),
            binary_hash,
            filename: name.to_owned(),
            uri: None,
            extra: Extra::new(),
        });
        Self { document, lists: Vec::new() }
    }

    pub(super) fn page(&mut self, number: i64, width: f32, height: f32) {
        let size = json!({"width": width, "height": height});
        let page = Page { size, image: None, page_no: number, extra: Extra::new() };
        self.document.pages.insert(number, page);
    }

    pub(super) fn blocks(&mut self, blocks: Vec<PdfBlock>) {
        for block in blocks {
            match &block.kind {
                Kind::Item { marker, text } => self.item(&block, marker, text),
                // Furniture does not end a list that goes on over the page.
                _ if block.furniture.is_some() => self.plain(&block),
                _ => {
                    self.lists.clear();
                    self.plain(&block);
                }
            }
        }
    }

    pub(super) fn finish(self) -> Document {
        self.document
    }

    fn plain(&mut self, block: &PdfBlock) {
        match &block.kind {
            Kind::Text { text, .. } | Kind::Heading(text) if block.furniture.is_some() => {
                let header = block.furniture == Some(Place::Header);
                let label = if header { "page_header" } else { "page_footer" };
                let id = self.text(block, label, text, NodeId::BODY);
                "furniture".clone_into(&mut self.document.texts[id.position()].node.content_layer);
            }
            Kind::Text { text, .. } => {
                self.text(block, "text", text, NodeId::BODY);
            }
            Kind::Heading(text) => {
                let id = self.text(block, "section_header", text, NodeId::BODY);
                self.document.texts[id.position()].level = Some(1);
            }
            Kind::Code(text) => {
                let id = self.text(block, "code", text, NodeId::BODY);
                let item = &mut self.document.texts[id.position()];
                item.code_language = Some("unknown".to_owned());
                item.captions = Some(Vec::new());
            }
            Kind::Table(table) => self.table(block, table.data()),
            Kind::Item { .. } => {}
        }
    }

    /// An item that is further to the right than the one before opens a list inside it.
    fn item(&mut self, block: &PdfBlock, marker: &str, text: &str) {
        let left = block.bounds.map(|bounds| bounds[0]);
        while let [.., _, (_, Some(edge))] = self.lists.as_slice()
            && left.is_some_and(|left| left < edge - INDENT)
        {
            self.lists.pop();
        }
        let deeper = match (self.lists.last(), left) {
            (Some((_, Some(edge))), Some(left)) => left > edge + INDENT,
            (last, _) => last.is_none(),
        };
        if deeper {
            let parent = self.lists.last().and_then(|(list, _)| self.document.children(*list).last());
            let list = self.group(parent.unwrap_or(NodeId::BODY));
            self.lists.push((list, left));
        }
        let Some((list, _)) = self.lists.last() else { return };
        let id = self.text(block, "list_item", text, *list);
        let item = &mut self.document.texts[id.position()];
        item.enumerated = Some(marker != "-");
        item.marker = Some(marker.to_owned());
    }

    fn group(&mut self, parent: NodeId) -> NodeId {
        let id = NodeId::new(NodeKind::Group, self.document.groups.len());
        let (name, label) = ("list".to_owned(), "list".to_owned());
        self.document.groups.push(Group { node: Members::new(id, parent), name, label, extra: Extra::new() });
        self.attach(id, parent);
        id
    }

    fn text(&mut self, block: &PdfBlock, label: &str, text: &str, parent: NodeId) -> NodeId {
        let id = NodeId::new(NodeKind::Text, self.document.texts.len());
        self.document.texts.push(Text {
            node: Members::new(id, parent),
            label: label.to_owned(),
            prov: provenance(block, text.chars().count()),
            orig: text.to_owned(),
            text: text.to_owned(),
            formatting: None,
            hyperlink: None,
            level: None,
            enumerated: None,
            marker: None,
            captions: None,
            references: None,
            footnotes: None,
            code_language: None,
            comments: None,
            extra: Extra::new(),
        });
        self.attach(id, parent);
        id
    }

    fn table(&mut self, block: &PdfBlock, data: crate::TableData) {
        let id = NodeId::new(NodeKind::Table, self.document.tables.len());
        self.document.tables.push(Table {
            node: Members::new(id, NodeId::BODY),
            label: "table".to_owned(),
            prov: provenance(block, 0),
            captions: Vec::new(),
            references: Vec::new(),
            footnotes: Vec::new(),
            image: None,
            data,
            annotations: Vec::new(),
            comments: None,
            extra: Extra::new(),
        });
        self.attach(id, NodeId::BODY);
    }

    fn attach(&mut self, id: NodeId, parent: NodeId) {
        if let Some(node) = self.document.node_mut(parent) {
            node.children.push(id.into());
        }
    }
}

/// The place of a block, measured from the bottom of its page; empty if it is not known.
fn provenance(block: &PdfBlock, characters: usize) -> Vec<Provenance> {
    let Some([left, top, right, bottom]) = block.bounds else { return Vec::new() };
    let number = |value: f32| Number::from_f64(f64::from(value)).unwrap_or_else(|| 0.into());
    let bbox = Bounds {
        l: number(left),
        t: number(block.page_height - top),
        r: number(right),
        b: number(block.page_height - bottom),
        coord_origin: "BOTTOMLEFT".to_owned(),
        extra: Extra::new(),
    };
    let (page_no, charspan) = (i64::from(block.page), json!([0, characters]));
    vec![Provenance { page_no, bbox, charspan, extra: Extra::new() }]
}
