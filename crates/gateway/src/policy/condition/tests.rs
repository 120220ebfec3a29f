//! Tests of argument conditions.

use super::*;
use serde_json::json;

fn judge(spec: &ArgumentSpec, arguments: &str) -> Truth {
    Condition::new(spec).unwrap().judge(Some(&Raw::parse(arguments.to_owned()).unwrap()))
}

fn at(pointer: &str) -> ArgumentSpec {
    ArgumentSpec { at: pointer.to_owned(), ..ArgumentSpec::default() }
}

#[test]
fn values_are_compared_as_json() {
    let text = ArgumentSpec { equals: Some(json!("prod")), ..at("/env") };
    assert_eq!(judge(&text, r#"{"env":"prod"}"#), Truth::Yes);
    assert_eq!(judge(&text, r#"{"\u0065nv":"pr\u006fd"}"#), Truth::Yes);
    assert_eq!(judge(&text, r#"{"env":"PROD"}"#), Truth::No);
    assert_eq!(judge(&text, r#"{"env":null}"#), Truth::No);
    assert_eq!(judge(&text, "{}"), Truth::No);
    let five = ArgumentSpec { one_of: vec![json!(5), json!(7)], ..at("/n") };
    for (given, truth) in [
        ("5", Truth::Yes),
        ("5.0", Truth::Yes),
        ("50e-1", Truth::Yes),
        ("6", Truth::No),
        // A server may read these as 5.
        ("\"5\"", Truth::Unknown),
        ("\"05\"", Truth::Unknown),
        ("\"+5.0\"", Truth::Unknown),
        ("[[5]]", Truth::Unknown),
        ("true", Truth::Unknown),
    ] {
        assert_eq!(judge(&five, &format!("{{\"n\":{given}}}")), truth, "{given}");
    }
    let forced = ArgumentSpec { equals: Some(json!(true)), ..at("/force") };
    for (given, truth) in [
        ("true", Truth::Yes),
        ("[true]", Truth::Yes),
        ("false", Truth::No),
        // A server may read these as true.
        ("\"yes\"", Truth::Unknown),
        ("\" TRUE\"", Truth::Unknown),
        ("1", Truth::Unknown),
        ("{}", Truth::Unknown),
    ] {
        assert_eq!(judge(&forced, &format!("{{\"force\":{given}}}")), truth, "{given}");
    }
    let number_as_text = ArgumentSpec { equals: Some(json!("5")), ..at("/n") };
    assert_eq!(judge(&number_as_text, r#"{"n":5}"#), Truth::Unknown);
    let object = ArgumentSpec { equals: Some(json!({"a": [1]})), ..at("/n") };
    assert_eq!(judge(&object, r#"{"n":{"a":[1]}}"#), Truth::Yes);
}

#[test]
fn numbers_have_ranges() {
    let range = ArgumentSpec { min: Some(1.into()), max: Some(9_007_199_254_740_992_u64.into()), ..at("/n") };
    for (given, truth) in [
        ("1", Truth::Yes),
        ("0.999", Truth::No),
        ("9007199254740992", Truth::Yes),
        ("9007199254740993", Truth::No),
        ("1e999", Truth::No),
        ("-1e999", Truth::No),
        ("\"5\"", Truth::Unknown),
        ("{}", Truth::Unknown),
        ("null", Truth::No),
    ] {
        assert_eq!(judge(&range, &format!("{{\"n\":{given}}}")), truth, "{given}");
    }
}

#[test]
fn a_list_holds_only_if_each_of_its_values_does() {
    let within = ArgumentSpec { within: Some("/srv".to_owned()), ..at("/paths") };
    assert_eq!(judge(&within, r#"{"paths":["/srv/a","/srv/b"]}"#), Truth::Yes);
    assert_eq!(judge(&within, r#"{"paths":["/srv/a","/etc/b"]}"#), Truth::Unknown);
    assert_eq!(judge(&within, r#"{"paths":["/etc/b"]}"#), Truth::No);
    assert_eq!(judge(&within, r#"{"paths":[]}"#), Truth::No);
    assert_eq!(judge(&within, r#"{"paths":[["/srv/a"]]}"#), Truth::Unknown);
    assert_eq!(judge(&within, r#"{"paths":{"0":"/srv/a"}}"#), Truth::Unknown);
}

#[test]
fn pointers_go_into_objects_and_lists() {
    let deep = ArgumentSpec { glob: Some("a*".to_owned()), ..at("/items/1/a~1b/~0") };
    assert_eq!(judge(&deep, r#"{"items":[0,{"a/b":{"~":"abc"}}]}"#), Truth::Yes);
    assert_eq!(judge(&deep, r#"{"items":[0]}"#), Truth::No);
    // A text that holds JSON may be decoded by the server.
    assert_eq!(judge(&deep, r#"{"items":"[0,{}]"}"#), Truth::Unknown);
    let whole = ArgumentSpec { exists: Some(true), ..at("") };
    assert_eq!(judge(&whole, "{}"), Truth::Yes);
    assert!(Condition::new(&ArgumentSpec { exists: Some(true), ..at("path") }).is_err());
    assert!(Condition::new(&at("/path")).is_err());
}

#[test]
fn an_argument_can_be_required_or_forbidden() {
    let absent = ArgumentSpec { exists: Some(false), ..at("/force") };
    assert_eq!(judge(&absent, r#"{"a":1}"#), Truth::Yes);
    assert_eq!(judge(&absent, r#"{"force":null}"#), Truth::Yes);
    assert_eq!(judge(&absent, r#"{"force":false}"#), Truth::No);
    assert_eq!(Condition::new(&absent).unwrap().judge(None), Truth::Yes);
    let present = ArgumentSpec { exists: Some(true), ..at("/force") };
    assert_eq!(judge(&present, r#"{"force":false}"#), Truth::Yes);
    assert_eq!(Condition::new(&present).unwrap().judge(None), Truth::No);
}
