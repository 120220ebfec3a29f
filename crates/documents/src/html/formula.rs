//! Writes formulas as `MathML`.

use crate::write::{Scope, escape};
use docling::{DoclingDocument, Node};

/// The `MathML` of a formula in LaTeX, or its text if it cannot be read.
pub(super) fn formula(latex: &str, scope: Scope) -> String {
    if latex.is_empty() {
        return if scope.inline {
            "<span class=\"formula-not-decoded\">Formula not decoded</span>".to_owned()
        } else {
            "<div class=\"formula-not-decoded\">Formula not decoded</div>".to_owned()
        };
    }
    match math(latex) {
        Some(math) if scope.inline => math.replacen("display=\"block\"", "display=\"inline\"", 1),
        Some(math) => format!("<div>{math}</div>"),
        None => format!("<pre>{}</pre>", escape(latex)),
    }
}

/// docling's crate converts LaTeX to `MathML` only as a part of its HTML export.
fn math(latex: &str) -> Option<String> {
    let mut document = DoclingDocument::new("");
    document.nodes.push(Node::Formula { latex: latex.to_owned(), orig: latex.to_owned(), location: None });
    let html = document.export_to_html();
    let math = &html[html.find("<math")?..html.rfind("</math>")?];
    // Its annotation is not escaped.
    let math = math.rfind("<annotation").map_or(math, |at| &math[..at]);
    Some(format!("{math}<annotation encoding=\"TeX\">{}</annotation></math>", escape(latex)))
}
