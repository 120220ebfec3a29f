use super::*;
use serde_json::json;

/// A title, two chapters of which the first has a section, and a list on the second page.
fn book() -> Document {
    let texts = [
        ("title", 0, "Book", 1),
        ("section_header", 1, "One", 1),
        ("text", 0, "first words", 1),
        ("section_header", 2, "One A", 1),
        ("text", 0, "deep words", 2),
        ("section_header", 1, "Two", 2),
    ];
    let mut items: Vec<serde_json::Value> = texts
        .iter()
        .enumerate()
        .map(|(index, (label, level, text, page))| {
            let bbox = json!({"l": 0.0, "t": 0.0, "r": 1.0, "b": 1.0, "coord_origin": "TOPLEFT"});
            json!({
                "self_ref": format!("#/texts/{index}"), "parent": {"$ref": "#/body"},
                "children": [], "label": label, "level": level, "text": text, "orig": text,
                "prov": [{"page_no": page, "bbox": bbox, "charspan": [0, 1]}],
            })
        })
        .collect();
    let mut item = items[5].clone();
    item["self_ref"] = json!("#/texts/6");
    item["parent"] = json!({"$ref": "#/groups/0"});
    item["label"] = json!("list_item");
    item["text"] = json!("an item");
    items.push(item);
    let children: Vec<_> = (0..6).map(|index| json!({"$ref": format!("#/texts/{index}")})).collect();
    let mut body = json!({"self_ref": "#/body", "name": "_root_", "children": children});
    body["children"].as_array_mut().unwrap().push(json!({"$ref": "#/groups/0"}));
    let size = json!({"width": 1.0, "height": 1.0});
    let document = json!({
        "name": "book", "body": body, "texts": items,
        "groups": [{"self_ref": "#/groups/0", "parent": {"$ref": "#/body"}, "label": "list",
                    "children": [{"$ref": "#/texts/6"}]}],
        "pages": {"1": {"page_no": 1, "size": size}, "2": {"page_no": 2, "size": size}},
    });
    Document::from_json(document.to_string().as_bytes()).unwrap()
}

fn texts(document: &Document) -> Vec<&str> {
    Document::from_json(&document.to_json()).unwrap();
    document.texts.iter().map(|text| text.text.as_str()).collect()
}

#[test]
fn the_outline_lists_headings_with_level_and_page() {
    let outline: Vec<_> =
        outline(&book()).into_iter().map(|heading| (heading.level, heading.title, heading.page)).collect();
    let expected = [(0, "Book", 1), (1, "One", 1), (2, "One A", 1), (1, "Two", 2)];
    assert_eq!(outline, expected.map(|(level, title, page)| (level, title.to_owned(), Some(page))));
}

#[test]
fn a_section_ends_before_the_next_heading_of_its_level() {
    let book = book();
    let one = section(&book, 1).unwrap();
    assert_eq!(texts(&one), ["One", "first words", "One A", "deep words"]);
    let two = section(&book, 3).unwrap();
    assert_eq!(texts(&two), ["Two", "an item"]);
    assert_eq!(two.groups.len(), 1);
    assert!(section(&book, 4).is_none());
}

#[test]
fn a_page_keeps_the_groups_of_its_items() {
    let book = book();
    let second = page(&book, 2).unwrap();
    assert_eq!(texts(&second), ["deep words", "Two", "an item"]);
    assert_eq!(second.pages.keys().copied().collect::<Vec<_>>(), [2]);
    assert!(page(&book, 3).is_none());
}
