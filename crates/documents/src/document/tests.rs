use super::*;
use serde_json::json;

fn parse(value: &Value) -> Result<Document, DocumentError> {
    Document::from_json(value.to_string().as_bytes())
}

fn text(index: usize, children: &[&str]) -> Value {
    let children: Vec<_> = children.iter().map(|child| json!({"$ref": child})).collect();
    json!({
        "self_ref": format!("#/texts/{index}"), "parent": {"$ref": "#/body"}, "children": children,
        "content_layer": "body", "label": "text", "prov": [], "orig": "x", "text": "x",
    })
}

fn body(children: &[&str]) -> Value {
    let children: Vec<_> = children.iter().map(|child| json!({"$ref": child})).collect();
    json!({"self_ref": "#/body", "children": children, "content_layer": "body", "name": "_root_",
           "label": "unspecified"})
}

fn document(children: &[&str], texts: &Value) -> Value {
    json!({
        "schema_name": "DoclingDocument", "version": "1.10.0", "name": "a",
        "furniture": {"self_ref": "#/furniture", "children": [], "content_layer": "furniture",
                      "name": "_root_", "label": "unspecified"},
        "body": body(children), "groups": [], "texts": texts, "pictures": [], "tables": [],
        "key_value_items": [], "form_items": [], "pages": {},
    })
}

#[test]
fn unknown_members_survive_at_every_level() {
    let mut item = text(0, &[]);
    item["news"] = json!({"a": [1, 2.5, null]});
    item["formatting"] = json!({"bold": true, "italic": false, "underline": false,
                                "strikethrough": false, "script": "sub", "blink": true});
    item["prov"] = json!([{"page_no": 1, "charspan": [0, 3], "score": 0.25,
        "bbox": {"l": 1, "t": 2.50, "r": 3, "b": 4, "coord_origin": "BOTTOMLEFT", "unit": "pt"}}]);
    item["comments"] = json!([{"$ref": "#/body", "range": [1, 2]}]);
    let mut value = document(&["#/texts/0"], &json!([item]));
    value["future"] = json!("kept");
    value["origin"] = json!({"mimetype": "a/b", "binary_hash": u64::MAX, "filename": "f", "x": 1});
    let cell = json!({"row_span": 1, "col_span": 1, "start_row_offset_idx": 0,
        "end_row_offset_idx": 1, "start_col_offset_idx": 0, "end_col_offset_idx": 1, "text": "c",
        "column_header": true, "row_header": false, "row_section": false, "fillable": false,
        "weight": 3});
    value["tables"] = json!([{"self_ref": "#/tables/0", "parent": {"$ref": "#/body"},
        "children": [], "content_layer": "body", "label": "table", "prov": [], "captions": [],
        "references": [], "footnotes": [], "annotations": [], "other": {},
        "data": {"table_cells": [cell], "num_rows": 1, "num_cols": 1, "orientation": "rot_0"}}]);
    let written: Value = serde_json::from_slice(&parse(&value).unwrap().to_json()).unwrap();
    assert_eq!(written, value);
}

#[test]
fn the_computed_grid_is_not_written_back() {
    let mut value = document(&[], &json!([]));
    value["tables"] = json!([{"self_ref": "#/tables/0", "label": "table",
        "data": {"table_cells": [], "num_rows": 0, "num_cols": 0, "grid": [[]]}}]);
    let written: Value = serde_json::from_slice(&parse(&value).unwrap().to_json()).unwrap();
    assert_eq!(written["tables"][0]["data"]["grid"], Value::Null);
}

#[test]
fn only_version_1_is_read() {
    let mut value = document(&[], &json!([]));
    value["version"] = json!("1.99.3");
    assert_eq!(parse(&value).unwrap().version, "1.10.0");
    value["version"] = json!("2.0.0");
    assert_eq!(
        parse(&value).unwrap_err().to_string(),
        "expected a DoclingDocument of version 1.x, got \"2.0.0\""
    );
}

#[test]
fn page_headers_of_the_first_version_become_furniture() {
    let mut footer = text(0, &[]);
    footer["label"] = json!("page_footer");
    let mut value = document(&["#/texts/0"], &json!([footer]));
    value["version"] = json!("1.0.0");
    assert_eq!(parse(&value).unwrap().texts[0].node.content_layer, "furniture");
}

#[test]
fn dangling_references_are_refused() {
    let value = document(&["#/texts/7"], &json!([]));
    let error = parse(&value).unwrap_err();
    assert_eq!(error.to_string(), "#/body refers to #/texts/7, which does not exist");
    let value = document(&["#/nowhere/0"], &json!([]));
    assert!(parse(&value).unwrap_err().to_string().contains("expected a reference such as"));
}

#[test]
fn cycles_are_refused() {
    let texts = json!([text(0, &["#/texts/1"]), text(1, &["#/texts/0"])]);
    let error = parse(&document(&["#/texts/0"], &texts)).unwrap_err();
    assert_eq!(error.to_string(), "#/texts/0 contains itself through its references");
}

#[test]
fn a_node_must_lie_where_its_own_reference_says() {
    let error = parse(&document(&["#/texts/0"], &json!([text(1, &[])]))).unwrap_err();
    assert_eq!(error.to_string(), "the node at #/texts/0 calls itself #/texts/1");
}

#[test]
fn nesting_is_limited_in_any_order_of_the_nodes() {
    for reverse in [false, true] {
        let texts: Vec<_> = (0..300)
            .map(|index| {
                let next = if reverse { index - 1 } else { index + 1 };
                let child = (0..300).contains(&next).then(|| format!("#/texts/{next}"));
                let children: Vec<&str> = child.iter().map(String::as_str).collect();
                text(usize::try_from(index).unwrap(), &children)
            })
            .collect();
        let first = if reverse { "#/texts/299" } else { "#/texts/0" };
        let error = parse(&document(&[first], &json!(texts))).unwrap_err();
        assert_eq!(error.to_string(), "nodes are nested deeper than 256 levels");
    }
}

#[test]
fn tables_are_limited() {
    let mut value = document(&[], &json!([]));
    let table = |index: usize, rows: u64, columns: u64| {
        json!({"self_ref": format!("#/tables/{index}"), "label": "table",
               "data": {"num_rows": rows, "num_cols": columns, "table_cells": []}})
    };
    value["tables"] = json!([table(0, 2000, 2000)]);
    assert_eq!(
        parse(&value).unwrap_err().to_string(),
        "#/tables/0 has 4000000 cells; at most 1000000 are allowed in a table"
    );
    value["tables"] = (0..6).map(|index| table(index, 1000, 1000)).collect();
    assert!(parse(&value).unwrap_err().to_string().contains("more than 5000000 cells"));
    let mut outside = table(0, 1, 1);
    outside["data"]["table_cells"] = json!([{"start_row_offset_idx": 0, "end_row_offset_idx": 1,
        "start_col_offset_idx": 0, "end_col_offset_idx": 9, "text": ""}]);
    value["tables"] = json!([outside]);
    assert!(parse(&value).unwrap_err().to_string().contains("outside its table of 1 × 1"));
}
