//! Parses the typed value of a form field according to the field's type.

use trunkline_protocol::{
    Number, Raw,
    message::{Choice, Field, FieldKind, TextFormat},
};
use url::Url;

/// Parses typed input; the error says what the field expects.
pub(super) fn read(field: &Field, typed: &str) -> Result<Raw, String> {
    match &field.kind {
        FieldKind::Text { format, min_length, max_length } => {
            text(typed, format.as_ref(), (*min_length, *max_length))
        }
        FieldKind::Number { minimum, maximum } => {
            let number = number(typed).ok_or("a number is wanted")?;
            within(&number, minimum.as_ref(), maximum.as_ref())
        }
        FieldKind::Integer { minimum, maximum } => {
            let is_whole = |number: &Number| !number.as_str().contains(['.', 'e', 'E']);
            let number = number(typed).filter(is_whole).ok_or("a whole number is wanted")?;
            within(&number, minimum.as_ref(), maximum.as_ref())
        }
        FieldKind::Boolean => match typed.to_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(Raw::from(serde_json::Value::Bool(true))),
            "n" | "no" | "false" => Ok(Raw::from(serde_json::Value::Bool(false))),
            _ => Err("yes or no is wanted".to_owned()),
        },
        FieldKind::One { choices } => choose(choices, typed).map(Raw::string),
        FieldKind::Many { choices, min_items, max_items } => many(choices, typed, (*min_items, *max_items)),
        FieldKind::Unsupported { reason } => Err((*reason).to_owned()),
    }
}

/// Describes the expected input for the prompt.
pub(super) fn hint(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text { format: Some(format), .. } => match format {
            TextFormat::Email => "email address".to_owned(),
            TextFormat::Uri => "URI".to_owned(),
            TextFormat::Date => "date, such as 2026-01-31".to_owned(),
            TextFormat::DateTime => "time, such as 2026-01-31T12:00:00Z".to_owned(),
            TextFormat::Unknown(other) => other.clone(),
        },
        FieldKind::Text { .. } => "text".to_owned(),
        FieldKind::Number { minimum, maximum } => range("number", minimum.as_ref(), maximum.as_ref()),
        FieldKind::Integer { minimum, maximum } => range("whole number", minimum.as_ref(), maximum.as_ref()),
        FieldKind::Boolean => "yes or no".to_owned(),
        FieldKind::One { .. } => "one of these, by number or name".to_owned(),
        FieldKind::Many { .. } => "any of these, by number or name, with commas".to_owned(),
        FieldKind::Unsupported { reason } => (*reason).to_owned(),
    }
}

fn text(
    typed: &str,
    format: Option<&TextFormat>,
    (least, most): (Option<u64>, Option<u64>),
) -> Result<Raw, String> {
    let length = typed.chars().count() as u64;
    if least.is_some_and(|least| length < least) {
        return Err(format!("at least {} characters are wanted", least.unwrap_or_default()));
    }
    if most.is_some_and(|most| length > most) {
        return Err(format!("at most {} characters are wanted", most.unwrap_or_default()));
    }
    let fits = match format {
        Some(TextFormat::Email) => is_email(typed),
        Some(TextFormat::Uri) => Url::parse(typed).is_ok(),
        Some(TextFormat::Date) => is_date(typed),
        Some(TextFormat::DateTime) => is_date_time(typed),
        Some(TextFormat::Unknown(_)) | None => true,
    };
    let kind = FieldKind::Text { format: format.cloned(), min_length: None, max_length: None };
    if fits { Ok(Raw::string(typed)) } else { Err(format!("this is wanted: {}", hint(&kind))) }
}

fn number(typed: &str) -> Option<Number> {
    Number::read(&Raw::parse(typed.trim().to_owned()).ok()?)
}

fn within(number: &Number, minimum: Option<&Number>, maximum: Option<&Number>) -> Result<Raw, String> {
    let value = number.as_f64();
    let small = minimum.is_some_and(|minimum| value < minimum.as_f64());
    let large = maximum.is_some_and(|maximum| value > maximum.as_f64());
    if small || large {
        return Err(format!("this is wanted: {}", range("number", minimum, maximum)));
    }
    Ok(Raw::parse(number.as_str().to_owned()).expect("a number is JSON"))
}

fn range(what: &str, minimum: Option<&Number>, maximum: Option<&Number>) -> String {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!("{what} from {minimum} to {maximum}"),
        (Some(minimum), None) => format!("{what} from {minimum}"),
        (None, Some(maximum)) => format!("{what} up to {maximum}"),
        (None, None) => what.to_owned(),
    }
}

/// Finds a choice by value, title or its number in the list, in this order.
fn choose<'a>(choices: &'a [Choice], typed: &str) -> Result<&'a str, String> {
    let typed = typed.trim();
    let by_value = choices.iter().find(|choice| choice.value == typed);
    let by_title = || {
        choices
            .iter()
            .find(|choice| choice.title.as_deref().is_some_and(|title| title.eq_ignore_ascii_case(typed)))
    };
    let by_number = || typed.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let found = by_value.or_else(by_title).or_else(by_number);
    found.map(|choice| choice.value.as_str()).ok_or_else(|| format!("`{typed}` is none of the choices"))
}

fn many(choices: &[Choice], typed: &str, (least, most): (Option<u64>, Option<u64>)) -> Result<Raw, String> {
    let words = typed.split(',').map(str::trim).filter(|word| !word.is_empty());
    let mut values = Vec::new();
    for word in words {
        let value = choose(choices, word)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let count = values.len() as u64;
    if least.is_some_and(|least| count < least) || most.is_some_and(|most| count > most) {
        let bound =
            |bound: Option<u64>, open: &str| bound.map_or_else(|| open.to_owned(), |bound| bound.to_string());
        return Err(format!(
            "between {} and {} of the choices are wanted",
            bound(least, "none"),
            bound(most, "all")
        ));
    }
    Raw::encode(&values).map_err(|error| error.to_string())
}

fn is_email(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
        && !text.contains(char::is_whitespace)
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let part = |text: &str, length: usize, range: std::ops::RangeInclusive<u16>| {
        text.len() == length && text.parse().is_ok_and(|value| range.contains(&value))
    };
    part(year, 4, 0..=9999) && part(month, 2, 1..=12) && part(day, 2, 1..=31)
}

/// True for an RFC 3339 date-time with a UTC offset.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let Some(zone) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (time, zone) = time.split_at(zone);
    let clock = |text: &str, parts: usize| {
        let values: Vec<&str> = text.split(':').collect();
        values.len() == parts
            && values
                .iter()
                .all(|value| value.len() == 2 && value.parse::<u8>().is_ok_and(|value| value <= 60))
    };
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    is_date(date)
        && clock(whole, 3)
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && (zone.eq_ignore_ascii_case("z") || clock(&zone[1..], 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::message::read_form;

    fn typed(schema: &str, text: &str) -> Result<String, String> {
        let schema = format!(r#"{{"type":"object","properties":{{"f":{schema}}}}}"#);
        let fields = read_form(&Raw::parse(schema).unwrap()).unwrap();
        read(&fields[0], text).map(|raw| raw.to_string())
    }

    #[test]
    fn numbers_keep_their_digits_and_bounds() {
        let schema = r#"{"type":"integer","minimum":1,"maximum":123456789012345678901234567890}"#;
        let digits = "12345678901234567890123456789";
        assert_eq!(typed(schema, digits).unwrap(), digits);
        assert!(typed(schema, "0").unwrap_err().contains("from 1 to"));
        assert_eq!(typed(schema, "1.5").unwrap_err(), "a whole number is wanted");
        assert_eq!(typed(r#"{"type":"number"}"#, "1.50").unwrap(), "1.50");
        assert!(typed(r#"{"type":"number"}"#, "x").is_err());
    }

    #[test]
    fn choices_go_by_value_title_or_number() {
        let one = r#"{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]}"#;
        for text in ["g", "green", "2"] {
            assert_eq!(typed(one, text).unwrap(), r#""g""#);
        }
        assert_eq!(typed(one, "3").unwrap_err(), "`3` is none of the choices");
        let many =
            r#"{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b","c"]}}"#;
        assert_eq!(typed(many, "a, 3,a").unwrap(), r#"["a","c"]"#);
        assert_eq!(typed(many, "").unwrap_err(), "between 1 and 2 of the choices are wanted");
    }

    #[test]
    fn formats_and_lengths_are_checked() {
        let format = |format: &str| format!(r#"{{"type":"string","format":"{format}"}}"#);
        for (kind, good, bad) in [
            ("email", "a@b.ch", "a b@c"),
            ("uri", "https://x/", "x y"),
            ("date", "2026-01-31", "2026-13-01"),
            ("date-time", "2026-01-31T12:00:00.5+01:00", "2026-01-31 12:00"),
        ] {
            assert!(typed(&format(kind), good).is_ok(), "{kind}");
            assert!(typed(&format(kind), bad).is_err(), "{kind}");
        }
        let short = r#"{"type":"string","minLength":2,"maxLength":3}"#;
        assert!(typed(short, "é").is_err() && typed(short, "éé").is_ok() && typed(short, "éééé").is_err());
        assert_eq!(typed(r#"{"type":"boolean"}"#, "Yes").unwrap(), "true");
    }
}
