//! Builds documents for tests from nested JSON: a node is an object with its children in it.

use crate::Document;
use serde_json::{Map, Value, json};

/// A document of nested nodes: texts, groups (`"group": true`), tables (`"data"`), pictures
/// (`"picture": true`). The member `rich` of a cell is the position of the child that it shows.
pub(crate) fn document(nodes: &[Value]) -> Document {
    let mut lists = Map::new();
    let children: Vec<Value> = nodes.iter().map(|node| add(&mut lists, node, "#/body")).collect();
    let mut value = json!({
        "name": "a & \"b\"",
        "body": {"self_ref": "#/body", "name": "_root_", "label": "unspecified", "children": children},
    });
    for (list, items) in lists {
        value[list] = items;
    }
    Document::from_json(value.to_string().as_bytes()).unwrap()
}

pub(crate) fn text(label: &str, text: &str) -> Value {
    json!({"label": label, "text": text, "orig": text})
}

pub(crate) fn group(label: &str, children: &[Value]) -> Value {
    json!({"group": true, "label": label, "name": label, "children": children})
}

pub(crate) fn table(rows: u32, columns: u32, cells: &[Value]) -> Value {
    json!({"label": "table",
           "data": {"num_rows": rows, "num_cols": columns, "table_cells": cells}})
}

/// A cell with the ranges of its rows and columns.
pub(crate) fn cell(rows: (u32, u32), columns: (u32, u32), text: &str, header: bool) -> Value {
    json!({"start_row_offset_idx": rows.0, "end_row_offset_idx": rows.1, "row_span": rows.1 - rows.0,
           "start_col_offset_idx": columns.0, "end_col_offset_idx": columns.1,
           "col_span": columns.1 - columns.0, "text": text, "column_header": header})
}

pub(crate) fn picture(caption: Option<&str>, meta: &Value) -> Value {
    let children: Vec<Value> = caption.iter().map(|caption| text("caption", caption)).collect();
    json!({"picture": true, "label": "picture", "meta": meta, "children": children})
}

/// Adds a node and its children to their lists, and returns the reference to it.
fn add(lists: &mut Map<String, Value>, node: &Value, parent: &str) -> Value {
    let mut node = node.clone();
    let is = |name: &str| node.get(name).is_some();
    let list = match () {
        () if is("group") => "groups",
        () if is("picture") => "pictures",
        () if is("data") => "tables",
        () => "texts",
    };
    let items = lists.entry(list).or_insert_with(|| json!([])).as_array_mut().unwrap();
    let reference = format!("#/{list}/{}", items.len());
    items.push(Value::Null);
    let children = node["children"].take();
    let children: Vec<Value> =
        children.as_array().into_iter().flatten().map(|child| add(lists, child, &reference)).collect();
    if list == "pictures" {
        node["captions"] = json!(children);
    }
    if list == "tables" {
        for cell in node["data"]["table_cells"].as_array_mut().unwrap() {
            if let Some(child) = cell.as_object_mut().unwrap().remove("rich") {
                cell["ref"] = children[usize::try_from(child.as_u64().unwrap()).unwrap()].clone();
            }
        }
    }
    node["children"] = json!(children);
    for marker in ["group", "picture"] {
        node.as_object_mut().unwrap().remove(marker);
    }
    node["self_ref"] = json!(reference);
    node["parent"] = json!({"$ref": parent});
    let index: usize = reference.rsplit('/').next().unwrap().parse().unwrap();
    lists[list][index] = node;
    json!({"$ref": reference})
}
