//! The fields of `meta`: summaries, descriptions, classes of pictures, data of charts.

use crate::{Document, NodeId, NodeKind, TableData};
use serde_json::{Map, Value, json};

/// A field in the form that writers need.
pub(crate) enum Field {
    Text(String),
    Chart(TableData),
    Code { text: String, language: String },
}

/// The standard fields in their order.
const FIELDS: [&str; 10] = [
    "summary",
    "language",
    "entities",
    "keywords",
    "topics",
    "description",
    "classification",
    "molecule",
    "tabular_chart",
    "code",
];

/// The named fields of a node, in order. Annotations, the older form, count as fields.
pub(crate) fn fields(document: &Document, id: NodeId) -> Vec<(String, Field)> {
    let mut meta = match document.node(id).and_then(|node| node.meta.clone()) {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    add_annotations(&mut meta, document, id);
    let standard = FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), meta.get(*name)?)));
    let custom = meta.iter().filter(|(name, _)| !FIELDS.contains(&name.as_str()));
    standard
        .chain(custom.map(|(name, value)| (name.clone(), value)))
        .filter_map(|(name, value)| {
            let field = field(&name, value)?;
            Some((name, field))
        })
        .collect()
}

fn add_annotations(meta: &mut Map<String, Value>, document: &Document, id: NodeId) {
    let annotations = match id.kind {
        NodeKind::Picture => &document.pictures[id.position()].annotations,
        NodeKind::Table => &document.tables[id.position()].annotations,
        _ => return,
    };
    for annotation in annotations {
        let (name, value) = match annotation["kind"].as_str() {
            Some("description") => ("description", json!({"text": annotation["text"]})),
            Some("classification") => {
                ("classification", json!({"predictions": annotation["predicted_classes"]}))
            }
            Some("molecule_data") => ("molecule", json!({"smi": annotation["smi"]})),
            Some("tabular_chart_data") => ("tabular_chart", json!({"chart_data": annotation["chart_data"]})),
            _ => continue,
        };
        meta.entry(name).or_insert(value);
    }
}

fn field(name: &str, value: &Value) -> Option<Field> {
    let text = |member: &str| value[member].as_str().map(str::to_owned);
    let text = match name {
        "summary" | "description" => text("text")?,
        "language" => text("code")?,
        "molecule" => text("smi")?,
        "keywords" | "topics" => {
            let values = value["values"].as_array()?.iter().filter_map(Value::as_str);
            values.collect::<Vec<_>>().join(", ")
        }
        "entities" => {
            let mentions = value["mentions"].as_array()?.iter();
            mentions.filter_map(mention).collect::<Vec<_>>().join(", ")
        }
        "classification" => humanize(main_class(value["predictions"].as_array()?)?),
        "tabular_chart" => {
            return serde_json::from_value(value["chart_data"].clone()).ok().map(Field::Chart);
        }
        "code" => {
            let language = text("language").unwrap_or_default().to_lowercase();
            return Some(Field::Code { text: text("text")?, language });
        }
        _ => match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        },
    };
    (!text.is_empty()).then_some(Field::Text(text))
}

/// The class with the highest confidence; without any, the first.
fn main_class(predictions: &[Value]) -> Option<&str> {
    let mut best = predictions.first()?;
    let mut highest = None;
    for prediction in predictions {
        let confidence = prediction["confidence"].as_f64();
        if confidence.is_some() && (highest.is_none() || confidence > highest) {
            (best, highest) = (prediction, confidence);
        }
    }
    best["class_name"].as_str()
}

fn mention(mention: &Value) -> Option<String> {
    let text = mention["text"].as_str()?;
    let span = mention["charspan"]
        .as_array()
        .map(|span| span.iter().map(Value::to_string).collect::<Vec<_>>().join(","));
    Some(match (mention["label"].as_str(), span) {
        (Some(label), Some(span)) => format!("{text} ({label}, [{span}])"),
        (Some(label), None) => format!("{text} ({label})"),
        (None, Some(span)) => format!("{text} ([{span}])"),
        (None, None) => text.to_owned(),
    })
}

/// `bar_chart` becomes `Bar chart`.
fn humanize(name: &str) -> String {
    let spaced = name.replace("__", "_").replace('_', " ");
    let mut characters = spaced.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + &characters.as_str().to_lowercase()
}
