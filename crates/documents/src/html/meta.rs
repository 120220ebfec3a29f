//! Writes the fields of `meta`.

use super::{Writer, escape_quoted, table, wrap};
use crate::NodeId;
use crate::write::{escape, meta};

impl Writer<'_> {
    pub(super) fn meta(&self, id: NodeId) -> String {
        if self.tree.excluded.contains(&id) {
            return String::new();
        }
        let fields = meta::fields(self.document, id).into_iter().filter_map(|(name, field)| {
            let name = escape_quoted(&name);
            let value = value(field);
            (!value.is_empty()).then(|| {
                format!(
                    "<div class=\"docling-meta-field\" data-meta-name=\"{name}\">\
                     <span class=\"docling-meta-field-label\">{name}:</span> \
                     <span class=\"docling-meta-field-value\">{value}</span></div>"
                )
            })
        });
        let before = "<details class=\"docling-meta\"><summary>Meta</summary>";
        wrap(fields.collect(), before, "</details>")
    }
}

fn value(field: meta::Field) -> String {
    match field {
        meta::Field::Text(text) => escape(&text),
        meta::Field::Chart(data) => {
            let body = table::body(&data, &mut |cell| escape_quoted(cell.text.trim()));
            wrap(body, "<table>", "</table>")
        }
        meta::Field::Code { text, language } => {
            let class = match language.as_str() {
                "" => String::new(),
                language => format!(" class=\"language-{}\"", escape_quoted(language)),
            };
            let code = escape_quoted(&text);
            format!("<pre class=\"docling-meta-code\"><code{class}>{code}</code></pre>")
        }
    }
}
