use super::*;
use crate::testing::{cell, document, group, picture, table, text};
use serde_json::{Value, json};

#[track_caller]
fn expect(nodes: &[Value], expected: &str) {
    let page = html(&document(nodes), &HtmlOptions::default());
    let body = page.split("<div class='page'>\n").nth(1).unwrap();
    assert_eq!(body.strip_suffix("\n</div>\n</body>\n</html>").unwrap(), expected);
}

#[test]
fn the_head_names_the_document_and_has_a_style() {
    let page = html(&document(&[text("text", "x")]), &HtmlOptions::default());
    assert!(page.starts_with("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"UTF-8\"/>"));
    assert!(page.contains("<title>a &amp; &quot;b&quot;</title>"), "{page}");
    assert!(page.contains("<style>") && page.contains("</style>\n</head>"));
}

#[test]
fn texts_by_their_labels() {
    let link = json!({"label": "text", "text": "x", "hyperlink": "https://example.com/?a&b",
                      "formatting": {"bold": true, "script": "sub"}});
    expect(
        &[text("title", "T"), text("section_header", "S"), link, text("code", "a<b")],
        "<h1>T</h1>\n<h2>S</h2>\n\
         <p><a href=\"https://example.com/?a&amp;b\"><sub><strong>x</strong></sub></a></p>\n\
         <pre><code>a&lt;b</code></pre>",
    );
}

#[test]
fn lists_keep_their_markers_and_nest() {
    let inner = json!({"label": "list_item", "text": "b", "marker": ""});
    let outer = json!({"label": "list_item", "text": "a", "marker": "1.", "enumerated": true,
                       "children": [group("list", &[inner])]});
    expect(
        &[group("list", &[outer])],
        "<ol>\n<li style=\"list-style-type: '1. ';\">\na\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ol>",
    );
}

#[test]
fn tables_have_spans_and_headers() {
    let cells = [cell((0, 1), (0, 2), "h", true), cell((1, 2), (0, 1), "\u{5d0}", false)];
    expect(
        &[table(2, 2, &cells)],
        "<table><tbody><tr><th colspan=\"2\">h</th></tr>\
         <tr><td dir=\"rtl\">\u{5d0}</td><td></td></tr></tbody></table>",
    );
}

#[test]
fn formulas_become_mathml_or_stay_text() {
    let page = html(&document(&[text("formula", "a<b")]), &HtmlOptions::default());
    assert!(page.contains("<div><math xmlns="), "{page}");
    assert!(page.contains("<annotation encoding=\"TeX\">a&lt;b</annotation></math></div>"));
}

#[test]
fn pictures_are_figures() {
    expect(
        &[picture(Some("F"), &json!({"description": {"text": "a <cat>"}}))],
        "<figure><figcaption><div class=\"caption\">F</div></figcaption>\
         <details class=\"docling-meta\"><summary>Meta</summary>\
         <div class=\"docling-meta-field\" data-meta-name=\"description\">\
         <span class=\"docling-meta-field-label\">description:</span> \
         <span class=\"docling-meta-field-value\">a &lt;cat&gt;</span></div></details></figure>",
    );
}
