//! Writes the graphs of key-value areas and forms as nested lists.

use super::{Writer, escape_quoted};
use crate::{NodeId, Other};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Deepest nesting of a graph; links may form a cycle.
const MAX_DEPTH: usize = 64;

struct Graph<'a> {
    texts: BTreeMap<i64, &'a str>,
    children: BTreeMap<i64, Vec<i64>>,
    values: BTreeMap<i64, Vec<i64>>,
}

impl Writer<'_> {
    pub(super) fn graph(&self, items: &[Other], id: NodeId, class: &str) -> String {
        let Some(item) = items.get(id.position()) else { return String::new() };
        if self.tree.excluded.contains(&id) {
            return String::new();
        }
        let graph = Graph::new(item.extra.get("graph").unwrap_or(&Value::Null));
        let below: BTreeSet<i64> = graph.children.values().flatten().copied().collect();
        let mut lines = vec![format!("<div class=\"{class}\">")];
        let order = cell_order(item).into_iter();
        let roots: Vec<i64> = order.filter(|cell| !below.contains(cell)).collect();
        if roots.is_empty() {
            lines.push(format!("<dl class=\"{class}\">"));
            for (key, values) in &graph.values {
                lines.push(format!("<dt>{}</dt>", graph.text(*key)));
                lines.extend(values.iter().map(|value| format!("<dd>{}</dd>", graph.text(*value))));
            }
            lines.push("</dl>".to_owned());
        } else {
            lines.push(format!("<ul class=\"{class}\">"));
            lines.extend(roots.into_iter().map(|root| graph.cell(root, 0)));
            lines.push("</ul>".to_owned());
        }
        lines.push("</div>".to_owned());
        lines.join("\n")
    }
}

fn cell_order(item: &Other) -> Vec<i64> {
    let cells = item.extra.get("graph").and_then(|graph| graph["cells"].as_array());
    cells.into_iter().flatten().filter_map(|cell| cell["cell_id"].as_i64()).collect()
}

impl<'a> Graph<'a> {
    fn new(graph: &'a Value) -> Self {
        let list = |name: &str| graph[name].as_array().into_iter().flatten();
        let texts: BTreeMap<i64, &str> = list("cells")
            .filter_map(|cell| Some((cell["cell_id"].as_i64()?, cell["text"].as_str()?)))
            .collect();
        let mut children: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        let mut values: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for link in list("links") {
            let ends = (link["source_cell_id"].as_i64(), link["target_cell_id"].as_i64());
            let (Some(source), Some(target)) = ends else { continue };
            if !texts.contains_key(&source) || !texts.contains_key(&target) {
                continue;
            }
            match link["label"].as_str() {
                Some("to_child") => children.entry(source).or_default().push(target),
                Some("to_value") => values.entry(source).or_default().push(target),
                _ => {}
            }
        }
        Self { texts, children, values }
    }

    fn text(&self, cell: i64) -> String {
        escape_quoted(self.texts.get(&cell).copied().unwrap_or(""))
    }

    fn cell(&self, cell: i64, depth: usize) -> String {
        let mut text = self.text(cell);
        if let Some(values) = self.values.get(&cell) {
            let values: Vec<String> = values.iter().map(|value| self.text(*value)).collect();
            text = format!("<strong>{text}</strong>: {}", values.join(", "));
        }
        match self.children.get(&cell) {
            Some(children) if depth < MAX_DEPTH => {
                let mut lines = vec![format!("<li>{text}</li>"), "<ul>".to_owned()];
                lines.extend(children.iter().map(|child| self.cell(*child, depth + 1)));
                lines.push("</ul>".to_owned());
                lines.join("\n")
            }
            _ if self.values.contains_key(&cell) => format!("<li>{text}</li>"),
            _ => String::new(),
        }
    }
}
