use super::*;
use crate::Defect;
use bytes::Bytes;
use proptest::prelude::*;

fn parse(text: &str) -> Result<Envelope, Malformed> {
    Envelope::parse(&Bytes::copy_from_slice(text.as_bytes()))
}

fn refused(text: &str) -> (Defect, i64) {
    let malformed = parse(text).expect_err(text);
    (malformed.defect, malformed.rpc_code())
}

#[test]
fn each_kind_is_told_by_its_members() {
    let request = parse(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#).unwrap();
    assert!(
        matches!(request, Envelope::Request(r) if r.method == "tools/list" && r.id == RequestId::number(7))
    );
    let notification = parse(r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#).unwrap();
    assert!(matches!(notification, Envelope::Notification(n) if n.params.is_none()));
    let result = parse(r#"{"jsonrpc":"2.0","id":"a","result":null}"#).unwrap();
    assert!(matches!(result, Envelope::Response(r) if r.outcome.as_ref().is_ok_and(Raw::is_null)));
    let error = parse(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#).unwrap();
    assert!(matches!(error, Envelope::Response(r) if r.id.is_none() && r.outcome.is_err()));
}

#[test]
fn ambiguous_messages_are_refused_as_invalid_requests() {
    for (text, defect) in [
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Defect::NullId),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Defect::BadId),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Defect::BadId),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#, Defect::ResultAndError),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":1}"#, Defect::MethodAndResult),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","id":2}"#, Defect::DuplicateKey),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"x"}"#, Defect::DuplicateKey),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Defect::Version),
        (r#"{"id":1,"method":"ping"}"#, Defect::Version),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Defect::BadMethod),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":3}"#, Defect::BadParams),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, Defect::BadError),
        (r#"{"jsonrpc":"2.0","result":{}}"#, Defect::MissingId),
        (r#"{"jsonrpc":"2.0","id":1}"#, Defect::Unrecognised),
        ("3", Defect::NotAnObject),
    ] {
        assert_eq!(refused(text), (defect, -32600), "{text}");
    }
}

#[test]
fn unreadable_bytes_are_parse_errors() {
    for text in ["", "{", "nonsense", "{\"jsonrpc\":\"2.0\",", &"[".repeat(200)] {
        let code = Frame::parse(&Bytes::copy_from_slice(text.as_bytes())).expect_err(text).rpc_code();
        assert_eq!(code, -32700, "{text}");
    }
}

#[test]
fn a_refusal_names_the_id_when_it_was_read() {
    let malformed = parse(r#"{"jsonrpc":"2.0","id":41,"method":7}"#).unwrap_err();
    assert_eq!(malformed.id, Some(RequestId::number(41)));
}

#[test]
fn a_batch_keeps_good_and_bad_messages_apart() {
    let text = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","method":"x"}]"#;
    let Frame::Batch(messages) = Frame::parse(&Bytes::from_static(text.as_bytes())).unwrap() else {
        panic!()
    };
    let good: Vec<_> = messages.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, true]);
    let defect = |text: String| Frame::parse(&text.into()).unwrap_err().defect;
    assert_eq!(defect("[]".into()), Defect::EmptyBatch);
    assert_eq!(defect(format!("[{}0]", "0,".repeat(MAX_BATCH))), Defect::LongBatch);
}

#[test]
fn a_line_has_no_line_break_and_means_the_same() {
    let text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\r\n \"a\": \"\\n\"\n}}";
    let line = parse(text).unwrap().to_line();
    assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
    let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(value, serde_json::from_str::<serde_json::Value>(text).unwrap());
}

/// Any JSON, with numbers and escapes that a lossy parser would change.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        "-?[1-9][0-9]{0,40}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
        any::<String>().prop_map(|s| Raw::string(&s).to_string()),
        Just(r#""\u0041\/\ud83d\ude00""#.to_owned()),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|v| format!("[ {} ]", v.join(" , "))),
            prop::collection::btree_map("[a-z$_/.]{0,8}", inner, 0..5).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(k, v)| format!("\"{k}\" :{v}")).collect();
                format!("{{{}}}", members.join(", "))
            }),
        ]
    })
}

#[test]
fn params_that_stray_into_a_response_are_kept() {
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{},"vendor":1,"params":{"name":"echo"}}"#;
    let Envelope::Response(response) = parse(text).unwrap() else { panic!("not a response") };
    assert_eq!(response.rest.get("params").unwrap().as_str(), r#"{"name":"echo"}"#);
    assert_eq!(Envelope::from(response).to_bytes(), text.as_bytes());
}

proptest! {
    #[test]
    fn unknown_members_survive_byte_for_byte(
        params in prop::collection::btree_map("[a-z_]{1,6}", any_json(), 0..4),
        extra in any_json(),
        digits in "[1-9][0-9]{0,40}",
    ) {
        let members: Vec<_> = params.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
        let params = format!("{{{}}}", members.join(" ,"));
        let text = format!(r#"{{"jsonrpc":"2.0","id":{digits},"method":"x/y","params":{params},"vendor":{extra}}}"#);
        let written = parse(&text).unwrap().to_bytes();
        prop_assert_eq!(std::str::from_utf8(&written).unwrap(), &text);
        prop_assert_eq!(parse(&text).unwrap(), Envelope::parse(&written).unwrap());
    }

    #[test]
    fn results_and_error_data_survive_byte_for_byte(payload in any_json(), rest in any_json()) {
        let result = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{payload},"vendor":{rest}}}"#);
        prop_assert_eq!(parse(&result).unwrap().to_bytes(), result.as_bytes());
        let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-3,"message":"m","data":{payload},"more":{rest}}}}}"#);
        prop_assert_eq!(parse(&error).unwrap().to_bytes(), error.as_bytes());
    }

    #[test]
    fn an_edited_object_keeps_every_other_member(
        members in prop::collection::btree_map("[a-z]{1,5}", any_json(), 1..6),
        replaced in any_json(),
    ) {
        let text = format!("{{{}}}", members.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect::<Vec<_>>().join(","));
        let mut object = Raw::parse(text).unwrap().object().unwrap();
        let first = members.keys().next().unwrap().clone();
        object.set(first.clone(), Raw::parse(replaced.clone()).unwrap());
        let edited = object.to_raw().object().unwrap();
        for (name, value) in &members {
            let want = if *name == first { &replaced } else { value };
            prop_assert_eq!(edited.get(name).unwrap().as_str(), want.trim());
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _outcome = Frame::parse(&bytes.into());
    }
}

#[test]
fn a_frame_that_breaks_after_its_id_still_names_it() {
    let id_of = |text: &str| Envelope::parse(&Bytes::from(text.to_owned())).unwrap_err().id;
    let deep = format!(r#"{{"id":7,"result":{}}}"#, "[".repeat(200));
    for text in [
        r#"{"id":7,"result":{"a":1,"a":2}}"#,
        r#"{"id":7,"result":{},"result":{}}"#,
        r#"{"id":7,"resu"#,
        r#"{"id":7,"result":nope}"#,
        &deep,
    ] {
        assert_eq!(id_of(text), Some(RequestId::number(7)), "{text}");
    }
    for text in [r#"{"id":7,"id":8,"result":{}}"#, r#"{"id":7,"\u0069d":7,"result":{}}"#, r#"{"id":"#] {
        assert_eq!(id_of(text), None, "{text}");
    }
}

#[test]
fn a_response_in_parts_is_the_response() {
    for text in [
        r#"{"jsonrpc":"2.0","id":"a","result":{"x":[1]},"more":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-3,"message":"m"}}"#,
    ] {
        let Ok(Envelope::Response(response)) = parse(text) else { panic!("{text}") };
        assert_eq!(response.to_parts().concat(), text.as_bytes());
    }
}
