use super::*;
use crate::testing::{cell, document, group, picture, table, text};
use serde_json::{Value, json};

#[track_caller]
fn expect(nodes: &[Value], expected: &str) {
    assert_eq!(markdown(&document(nodes), &MarkdownOptions::default()), expected);
}

#[test]
fn headings_paragraphs_and_their_escapes() {
    expect(
        &[
            text("title", "A & B"),
            json!({"label": "section_header", "level": 2, "text": "two\nlines"}),
            text("text", "snake_case <b>\nnext line"),
            json!({"label": "section_header", "level": 9, "text": "deep"}),
        ],
        "# A &amp; B\n\n### two lines\n\nsnake\\_case &lt;b&gt;  \nnext line\n\n###### deep",
    );
}

#[test]
fn formatting_and_links_surround_the_text() {
    let run = json!({"label": "text", "text": "x", "hyperlink": "https://example.com/a (1)",
        "formatting": {"bold": true, "italic": true, "strikethrough": true}});
    let script = json!({"label": "text", "text": "y", "hyperlink": "javascript:alert(1)"});
    expect(&[run, script], "[~~***x***~~](https://example.com/a%20%281%29)\n\ny");
}

#[test]
fn runs_of_a_paragraph_are_joined_by_spaces() {
    let bold = json!({"label": "text", "text": "bold", "formatting": {"bold": true}});
    let nodes = [group("inline", &[text("text", "plain"), bold, text("formula", "a^2")])];
    expect(&nodes, "plain **bold** $a^2$");
}

#[test]
fn nested_lists_are_indented_and_keep_telling_markers() {
    let item = |marker: &str, text: &str, children: &[Value]| json!({"label": "list_item", "text": text, "marker": marker, "children": children});
    let inner = group("list", &[item("•", "deep", &[]), item("a)", "lettered", &[])]);
    let nodes = [group("list", &[item("1.", "first", &[inner]), item("2.", "second", &[])])];
    expect(&nodes, "1. first\n    - deep\n    - a) lettered\n2. second");
}

#[test]
fn numbers_are_made_up_for_an_ordered_list_without_markers() {
    let item = |text: &str| json!({"label": "list_item", "text": text, "marker": "", "enumerated": true});
    expect(&[group("list", &[item("a"), item("b")])], "1. a\n2. b");
}

#[test]
fn list_items_outside_a_list_share_one() {
    let item = |text: &str| json!({"label": "list_item", "text": text, "marker": "-"});
    expect(&[item("a"), item("b"), text("text", "c"), item("d")], "- a\n- b\n\nc\n\n- d");
}

#[test]
fn code_is_fenced_longer_than_its_backticks() {
    expect(&[text("code", "a ``` b")], "````\na ``` b\n````");
    expect(&[group("inline", &[text("text", "see"), text("code", "x_y")])], "see `x_y`");
}

#[test]
fn columns_of_numbers_are_aligned_right() {
    let cells = [
        cell((0, 1), (0, 1), "name", true),
        cell((0, 1), (1, 2), "n", true),
        cell((1, 2), (0, 1), "a|b", false),
        cell((1, 2), (1, 2), "1,234.5", false),
    ];
    let expected = "| name     |       n |\n|----------|---------|\n| a&#124;b | 1,234.5 |";
    expect(&[table(2, 2, &cells)], expected);
}

#[test]
fn stacked_headers_become_one_row() {
    let cells = [
        cell((0, 1), (0, 2), "group", true),
        cell((1, 2), (0, 1), "a", true),
        cell((1, 2), (1, 2), "b", true),
        cell((2, 3), (0, 1), "x", false),
        cell((2, 3), (1, 2), "y", false),
    ];
    let options = MarkdownOptions { tables: TableStyle::Compact, ..MarkdownOptions::default() };
    let written = markdown(&document(&[table(3, 2, &cells)]), &options);
    assert_eq!(written, "| group - a | group - b |\n| - | - |\n| x | y |");
}

#[test]
fn sheets_have_headings_and_comments_for_reading() {
    let sheet = json!({"label": "sheet", "name": "Costs", "group": true,
                       "children": [text("text", "x")]});
    let mut note = text("text", "a comment");
    note["content_layer"] = json!("notes");
    let workbook = document(&[sheet, note]);
    let named = markdown(&workbook, &MarkdownOptions::for_reading());
    assert_eq!(named, "## Costs\n\nx\n\na comment");
    assert_eq!(markdown(&workbook, &MarkdownOptions::default()), "x");
}

#[test]
fn pictures_have_captions_and_what_was_found_in_them() {
    let meta = json!({"classification": {"predictions": [{"class_name": "bar_chart"}]}});
    let nodes = [picture(Some("Figure 1"), &meta)];
    expect(&nodes, "Figure 1\n\n<!-- image -->\n\nBar chart");
}

#[test]
fn only_the_body_layer_is_written() {
    let footer = json!({"label": "page_footer", "text": "1", "content_layer": "furniture"});
    expect(&[text("text", "x"), footer], "x");
}
