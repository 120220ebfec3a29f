use super::*;
use proptest::prelude::*;

fn verdict(text: &[u8]) -> Option<Defect> {
    document(text).err().map(|m| m.defect)
}

fn cut(text: &[u8]) -> Result<Message, Malformed> {
    let mut message = Message::new();
    members(text, &mut message).map(|is_object| {
        assert!(is_object);
        message
    })
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn nesting_is_refused_beyond_the_limit_and_not_before() {
    assert_eq!(verdict(nested(MAX_DEPTH).as_bytes()), None);
    assert_eq!(verdict(nested(MAX_DEPTH + 1).as_bytes()), Some(Defect::Depth));
    assert_eq!(verdict("[".repeat(1_000_000).as_bytes()), Some(Defect::Depth));
    let in_object = |levels| format!("{{\"a\":{}}}", nested(levels));
    assert!(cut(in_object(MAX_DEPTH - 1).as_bytes()).is_ok());
    assert_eq!(cut(in_object(MAX_DEPTH).as_bytes()).unwrap_err().defect, Defect::Depth);
}

#[test]
fn a_name_that_stands_twice_is_refused_at_any_depth_and_in_any_spelling() {
    for bad in [r#"{"a":1,"a":2}"#, r#"[{"x":{"a":1,"b":[],"a":2}}]"#, r#"{"method":1,"\u006dethod":2}"#] {
        assert_eq!(verdict(bad.as_bytes()), Some(Defect::DuplicateKey), "{bad}");
    }
    assert!(matches!(verdict(br#"{"\ud800":1}"#), Some(Defect::Json(_))));
    for good in [r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#, r#"{"Method":1,"method":2}"#, r#"{"a":1,"a\u0000":2}"#]
    {
        assert_eq!(verdict(good.as_bytes()), None, "{good}");
    }
}

#[test]
fn duplicates_are_found_among_very_many_names() {
    let names: Vec<String> = (0..200_000).map(|i| format!("\"k{i}\":0")).collect();
    let good = format!("{{{}}}", names.join(","));
    assert_eq!(verdict(good.as_bytes()), None);
    let bad = format!("{{{},\"k77\":1}}", names.join(","));
    assert_eq!(verdict(bad.as_bytes()), Some(Defect::DuplicateKey));
}

#[test]
fn numbers_of_any_size_pass_as_text() {
    for good in ["1e400", "9007199254740993", "-0", "0.10e-7", &"7".repeat(65_536)] {
        assert_eq!(verdict(good.as_bytes()), None);
    }
    for bad in ["01", "1.", ".5", "+1", "-", "1e", "0x1", "NaN", "--1"] {
        assert!(verdict(bad.as_bytes()).is_some(), "{bad}");
    }
}

#[test]
fn broken_text_is_told_apart_from_broken_encoding() {
    assert_eq!(verdict(b"\"\xff\""), Some(Defect::Utf8));
    assert_eq!(verdict(b"\"\xed\xa0\x80\""), Some(Defect::Utf8));
    assert_eq!(verdict(b"{\"a\":"), Some(Defect::Json("unexpected end of the text")));
    assert_eq!(verdict(b""), Some(Defect::Json("unexpected end of the text")));
    assert!(matches!(verdict(b"\xef\xbb\xbf{}"), Some(Defect::Json(_))));
    assert!(matches!(verdict(b"{} {}"), Some(Defect::Json(_))));
    assert!(matches!(verdict(b"\"tab\there\""), Some(Defect::Json(_))));
}

#[test]
fn members_and_elements_are_cut_where_they_stand() {
    let text = br#" { "a" : [1, 2] , "b":{"c":null} } "#;
    let message = cut(text).unwrap();
    let piece = |bytes| std::str::from_utf8(bytes).unwrap();
    let pieces: Vec<_> =
        message.members().map(|m| (piece(m.plain_name(text).unwrap()), piece(m.text(text)))).collect();
    assert_eq!(pieces, [("a", "[1, 2]"), ("b", r#"{"c":null}"#)]);
    assert_eq!(elements(b"[1,[2],{}]", 3).unwrap().len(), 3);
    assert_eq!(elements(b"[1,2,3]", 2).unwrap_err().defect, Defect::LongBatch);
    assert_eq!(members(b"[1]", &mut Message::new()), Ok(false));
}

/// Enough offsets to test every position in a word, in a block and at the end of the text.
const PLACES: usize = 200;

#[test]
fn what_needs_a_look_is_seen_at_every_place_of_a_string() {
    for place in 0..PLACES {
        for behind in [0, 1, 9, 70] {
            let text =
                |odd: &[u8]| [b"[\"", &*b"x".repeat(place), odd, &b"y".repeat(behind), b"\",1]"].concat();
            for good in [r"\n", r#"\""#, r"\\", r"\u00e9", r#"\\\""#, "\u{7f}", "é", "€", "😀"] {
                let text = text(good.as_bytes());
                assert_eq!(verdict(&text), None, "{place} {good}");
                let cut = elements(&text, 2).unwrap();
                assert_eq!(cut[0], 1..place + good.len() + behind + 3, "{place} {good}");
                let object = [b"{\"a\":", &text[1..text.len() - 3], b",\"b\":1}"].concat();
                let walked = checked_members(&object).unwrap().last().unwrap();
                assert_eq!(walked.text(&object), b"1", "{place} {good}");
            }
            for bad in ["\n", "\0", "\u{1f}", r"\x", r"\u00g0", "\"", r#"\\""#] {
                assert!(matches!(verdict(&text(bad.as_bytes())), Some(Defect::Json(_))), "{place} {bad}");
            }
            for broken in [&b"\xff"[..], b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\x80"] {
                let refused = document(&text(broken)).unwrap_err();
                assert_eq!((refused.defect, refused.offset), (Defect::Utf8, place + 2), "{place} {broken:?}");
            }
        }
    }
}

#[test]
fn broken_encoding_is_told_before_broken_grammar_wherever_both_stand() {
    for text in
        [&b"{\"a\":nul,\"b\":\"\xff\"}"[..], b"\xff", b"[1,\xff", b"{\"\\ud800\xff\":1}", b"\"\x01\" \xff"]
    {
        assert_eq!(verdict(text), Some(Defect::Utf8), "{text:?}");
    }
    let refused = members(b"{\"id\":1,\"a\":\xff}", &mut Message::new()).unwrap_err();
    assert_eq!((refused.defect, refused.id), (Defect::Utf8, None));
}

#[test]
fn names_that_begin_alike_are_told_apart() {
    let names = ["", "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghj", "abcdefghijklmnopq", "b"];
    let text = |names: &[&str]| {
        let members: Vec<_> = names.iter().map(|name| format!("\"{name}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert_eq!(verdict(text(&names).as_bytes()), None);
    for name in names {
        assert_eq!(
            verdict(text(&[&names[..], &[name]].concat()).as_bytes()),
            Some(Defect::DuplicateKey),
            "{name}"
        );
    }
}

/// Objects with all kinds of values, whitespace and escapes.
fn object_text() -> impl Strategy<Value = String> {
    let blank = || "[ \n\t\r]{0,2}";
    let name = r#""([a-z\[\]{}:, é]|\\"|\\\\|\\u00e9){0,40}""#;
    let leaf = prop_oneof![name, "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?(e[+-]?[0-9])?", "true|false|null"];
    let value = leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec((name, inner), 0..5).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(k, v)| format!("{k} : {v}")).collect();
                format!("{{ {} }}", members.join(","))
            }),
        ]
    });
    prop::collection::vec((name, blank(), value, blank()), 0..6).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(k, b, v, c)| format!("{b}{k}{c}:{b}{v}{c}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

/// JSON texts, and texts that are nearly JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    prop_oneof![
        "[\\[\\]{}:,\"\\\\ 0-9a-fnrtu.eE+-]{0,24}",
        r#"(\{|\[)?"([a-c"\\]|\\u00[0-9a-f]{2}|\\n|é){0,12}"(:|,)?[0-9]{0,3}(\}|\])?"#,
        any::<String>(),
    ]
}

proptest! {
    /// Compares our grammar with `serde_json`, which accepts the texts that we refuse on purpose.
    #[test]
    fn the_grammar_is_that_of_serde_json(text in nearly_json()) {
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
        match verdict(text.as_bytes()) {
            None => prop_assert!(theirs, "we take {text:?}"),
            Some(Defect::DuplicateKey) => prop_assert!(theirs),
            Some(Defect::Json("half a surrogate pair in a member name")) => prop_assert!(theirs),
            Some(_) => prop_assert!(!theirs, "we refuse {text:?}"),
        }
    }

    #[test]
    fn long_strings_end_where_they_end(prefix in "[ -!#-\\[\\]-~é€]{0,40}", tail in "[a-z]{0,9}") {
        let text = format!("[\"{prefix}\",\"{tail}\"]");
        let cut = elements(text.as_bytes(), 2).unwrap();
        prop_assert_eq!(&text[cut[0].clone()], format!("\"{prefix}\""));
    }
    #[test]
    fn a_second_walk_finds_what_the_scan_found(text in object_text()) {
        if let Ok(scanned) = cut(text.as_bytes()) {
            let place = |member: Member| (member.key, member.escaped, member.value);
            let walked: Vec<_> = checked_members(text.as_bytes()).unwrap().map(place).collect();
            prop_assert_eq!(walked, scanned.members().map(place).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_walk_over_anything_ends_within_it(text in "\\{[\\[\\]{}:,\"\\\\ 0-9a]{0,40}") {
        for member in checked_members(text.as_bytes()).unwrap() {
            prop_assert!(text.get(member.value).is_some() && text.get(member.key).is_some());
        }
    }

    #[test]
    fn a_plain_run_ends_at_the_first_byte_that_needs_a_look(plain in "[ !#-\\[\\]-~é€]{0,120}", end in "[\"\\\\\u{0}-\u{1f}]") {
        prop_assert_eq!(plain_run(plain.as_bytes()), plain.len());
        let longer = format!("{plain}{end}and more {plain}");
        prop_assert_eq!(plain_run(longer.as_bytes()), plain.len());
    }
}
