//! Compares our exports with those of docling-core, for documents made of random nodes.

use crate::testing::{cell, document, group, picture, table, text};
use crate::{Document, HtmlOptions, MarkdownOptions, html, markdown};
use serde_json::{Value, json};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Loads every JSON file of a folder with docling-core, and writes its exports beside it.
const EXPORT: &str = "
import sys, pathlib, logging, warnings
warnings.simplefilter('ignore'); logging.disable(logging.CRITICAL)
from docling_core.types.doc import DoclingDocument
from docling_core.transforms.serializer.markdown_excel import MsExcelMarkdownDocSerializer
for file in sorted(pathlib.Path(sys.argv[1]).glob('*.json')):
    document = DoclingDocument.model_validate_json(file.read_text())
    markdown = MsExcelMarkdownDocSerializer(doc=document).serialize().text
    file.with_suffix('.md').write_text(markdown)
    file.with_suffix('.html').write_text(document.export_to_html())
";

const DOCUMENTS: u64 = 150;

#[test]
fn docling_core_loads_our_json_and_exports_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<Document> =
        (0..DOCUMENTS).map(|seed| document(&Random(seed * 7919 + 1).nodes(0))).collect();
    for (seed, document) in documents.iter().enumerate() {
        fs::write(folder.path().join(format!("{seed}.json")), document.to_json()).unwrap();
    }
    export(folder.path());
    for (seed, document) in documents.iter().enumerate() {
        let read = |kind| fs::read_to_string(folder.path().join(format!("{seed}.{kind}"))).unwrap();
        let json = String::from_utf8(document.to_json()).unwrap();
        let ours = markdown(document, &MarkdownOptions::for_reading());
        assert_eq!(ours, read("md"), "Markdown of seed {seed}: {json}");
        let ours = html(document, &HtmlOptions::default());
        assert_eq!(ours, read("html"), "HTML of seed {seed}: {json}");
    }
}

fn export(folder: &Path) {
    let output = Command::new(python()).args(["-c", EXPORT]).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The Python that `cargo xtask peers` installed docling-core for.
fn python() -> PathBuf {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is started by the build, which says so in the environment"
    )]
    let given = env::var_os("TRUNKLINE_PEERS").map(PathBuf::from);
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut places = given.into_iter().chain(above.map(|folder| folder.join("target/peers")));
    let program = "docling/bin/python";
    let found = places.find(|peers| peers.join(program).exists()).map(|peers| peers.join(program));
    found.expect("docling-core is not installed; run cargo xtask peers")
}

/// A generator of nodes: the same seed gives the same document.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn words(&mut self) -> String {
        let pool = [
            "alpha",
            "be_ta",
            "<b>",
            "a & b",
            "12.5",
            "1,000",
            "*star*",
            "x|y",
            "line\nbreak",
            "ünï",
            "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
            "`tick`",
            "\\_done",
            "two\n\nparts",
            "\"quoted\"",
            "it's",
        ];
        let count = 1 + self.below(3);
        let words: Vec<&str> = (0..count).map(|_| self.pick(&pool)).collect();
        words.join(" ")
    }

    fn nodes(&mut self, depth: usize) -> Vec<Value> {
        (0..=self.below(6)).map(|_| self.node(depth)).collect()
    }

    fn node(&mut self, depth: usize) -> Value {
        match self.below(if depth < 3 { 12 } else { 6 }) {
            0 => self.heading(),
            1 => self.code(),
            2 => self.picture(),
            3 => {
                let mut footer = text("page_footer", "1");
                footer["content_layer"] = json!("furniture");
                footer
            }
            4 | 5 => self.paragraph(),
            6 => {
                let label = self.pick(&["section", "chapter", "sheet", "unspecified"]);
                group(label, &self.nodes(depth + 1))
            }
            7 | 8 => self.list(depth),
            9 => self.runs(),
            10 => self.table(depth),
            _ => {
                let heading = self.heading();
                with_children(heading, &self.nodes(depth + 1))
            }
        }
    }

    fn heading(&mut self) -> Value {
        let mut heading = text("section_header", &self.words());
        heading["level"] = json!(1 + self.below(7));
        heading
    }

    fn paragraph(&mut self) -> Value {
        let label = self.pick(&[
            "text",
            "paragraph",
            "title",
            "checkbox_selected",
            "checkbox_unselected",
            "reference",
            "footnote",
            "list_item",
        ]);
        let mut item = text(label, &self.words());
        let style = self.pick(&["bold", "italic", "underline", "strikethrough", ""]);
        if !style.is_empty() {
            let script = self.pick(&["baseline", "sub", "super"]);
            item["formatting"] = json!({"script": script});
            item["formatting"][style] = json!(true);
        }
        let link = self.pick(&[
            "",
            "",
            "https://example.com",
            "HTTP://Example.com/a (b)?x=1&y;=2#z",
            "a//b/./c.html",
            "mailto:a@b.c",
            "javascript:x",
            "#top",
        ]);
        if !link.is_empty() {
            item["hyperlink"] = json!(link);
        }
        if label == "list_item" {
            item["marker"] = json!("-");
            item["enumerated"] = json!(false);
        }
        item
    }

    fn runs(&mut self) -> Value {
        let runs: Vec<Value> = (0..=self.below(3))
            .map(|_| {
                if self.below(4) == 0 {
                    text("code", "let x_1 = `y`")
                } else {
                    let mut run = self.paragraph();
                    run["label"] = json!("text");
                    run.as_object_mut()
                        .unwrap()
                        .retain(|name, _| !matches!(name.as_str(), "marker" | "enumerated"));
                    run
                }
            })
            .collect();
        group("inline", &runs)
    }

    fn list(&mut self, depth: usize) -> Value {
        let items: Vec<Value> = (0..=self.below(3)).map(|_| self.list_item(depth)).collect();
        group("list", &items)
    }

    fn list_item(&mut self, depth: usize) -> Value {
        let marker = self.pick(&["-", "1.", "", "•", "a)", "(iv)", "*"]);
        let enumerated = self.below(2) == 0;
        let mut item = text("list_item", &self.words());
        item["marker"] = json!(marker);
        item["enumerated"] = json!(enumerated);
        match self.below(5) {
            0 if depth < 3 => with_children(item, &[self.list(depth + 1)]),
            1 => {
                item["text"] = json!("");
                with_children(item, &[self.runs()])
            }
            _ => item,
        }
    }

    fn code(&mut self) -> Value {
        let mut code = text("code", &self.words());
        code["code_language"] = json!("unknown");
        code
    }

    fn picture(&mut self) -> Value {
        let class = json!({"classification": {"predictions": [
            {"class_name": "bar_chart", "confidence": 0.5}, {"class_name": "map", "confidence": 0.9}]}});
        let chart = json!({"tabular_chart": {"chart_data": {"num_rows": 2, "num_cols": 1, "table_cells":
            [cell((0, 1), (0, 1), "h", true), cell((1, 2), (0, 1), "3", false)]}}});
        let description = json!({"description": {"text": self.words()}});
        let caption = self.words();
        let caption = (self.below(2) == 0).then_some(caption.as_str());
        match self.below(4) {
            0 => picture(caption, &class),
            1 => picture(caption, &chart),
            2 => picture(caption, &description),
            _ => picture(caption, &Value::Null),
        }
    }

    fn table(&mut self, depth: usize) -> Value {
        let (rows, columns) = (1 + self.below(4), 1 + self.below(3));
        let header_rows = self.below(3);
        let mut cells = Vec::new();
        let mut children: Vec<Value> = Vec::new();
        for row in 0..rows {
            let mut column = 0;
            while column < columns {
                let width = 1 + self.below(columns - column);
                let range = |from: usize, length: usize| {
                    (u32::try_from(from).unwrap(), u32::try_from(from + length).unwrap())
                };
                let content = if self.below(5) == 0 { String::new() } else { self.words() };
                let mut item = cell(range(row, 1), range(column, width), &content, row < header_rows);
                if self.below(6) == 0 && depth < 3 {
                    item["rich"] = json!(children.len());
                    children.push(group("unspecified", &self.nodes(depth + 1)));
                }
                cells.push(item);
                column += width;
            }
        }
        let count = |value: usize| u32::try_from(value).unwrap();
        with_children(table(count(rows), count(columns), &cells), &children)
    }
}

fn with_children(mut node: Value, children: &[Value]) -> Value {
    node["children"] = json!(children);
    node
}
