use super::*;

fn read(schema: &str) -> Result<Vec<HeaderParam>, BadHeaderParam> {
    header_params(&Raw::parse(schema.to_owned()).unwrap())
}

fn property(schema: &str) -> Result<Vec<HeaderParam>, BadHeaderParam> {
    read(&format!(r#"{{"type":"object","properties":{{"p":{schema}}}}}"#))
}

#[test]
fn headers_are_read_with_their_paths_and_kinds() {
    let schema = r#"{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "deep":{"type":"object","properties":{"n/1":{"x-mcp-header":"Count","type":"integer"}}},
        "dry":{"type":"boolean","x-mcp-header":"Dry-Run"},
        "query":{"type":"string"}}}"#;
    let found = read(schema).unwrap();
    let found: Vec<_> = found.iter().map(|p| (p.header.as_str(), p.path.join("."), p.kind)).collect();
    let want = [
        ("Region", "region".to_owned(), HeaderKind::Text),
        ("Count", "deep.n/1".to_owned(), HeaderKind::Integer),
        ("Dry-Run", "dry".to_owned(), HeaderKind::Boolean),
    ];
    assert_eq!(found, want);
}

#[test]
fn names_that_no_header_can_have_are_refused() {
    let at = || "/properties/p".to_owned();
    assert_eq!(property(r#"{"type":"string","x-mcp-header":""}"#), Err(BadHeaderParam::Empty { at: at() }));
    assert_eq!(property(r#"{"type":"string","x-mcp-header":7}"#), Err(BadHeaderParam::NotText { at: at() }));
    for name in ["My Region", "Region:Primary", "Région", "Region\\t1", "a\\r\\nb", "a/b", "(a)"] {
        let refused = property(&format!(r#"{{"type":"string","x-mcp-header":"{name}"}}"#));
        assert!(matches!(refused, Err(BadHeaderParam::NotToken { .. })), "{name}");
    }
}

#[test]
fn other_types_are_refused() {
    for kind in [r#""object""#, r#""array""#, r#""null""#, r#""number""#, r#"["string","null"]"#, "7"] {
        let refused = property(&format!(r#"{{"type":{kind},"x-mcp-header":"H"}}"#));
        assert_eq!(refused, Err(BadHeaderParam::WrongType { at: "/properties/p".to_owned() }), "{kind}");
    }
    assert!(matches!(property(r#"{"x-mcp-header":"H"}"#), Err(BadHeaderParam::WrongType { .. })));
    let by_reference = property(r##"{"$ref":"#/$defs/r","x-mcp-header":"H"}"##);
    assert!(matches!(by_reference, Err(BadHeaderParam::WrongType { .. })));
}

#[test]
fn one_header_for_two_arguments_is_refused_in_any_case() {
    for (first, second) in [("Region", "Region"), ("MyField", "myfield")] {
        let schema = format!(
            r#"{{"properties":{{"a":{{"type":"string","x-mcp-header":"{first}"}},
                "o":{{"properties":{{"b":{{"type":"string","x-mcp-header":"{second}"}}}}}}}}}}"#
        );
        let want = BadHeaderParam::Duplicate {
            at: "/properties/o/properties/b".to_owned(),
            header: second.to_owned(),
        };
        assert_eq!(read(&schema), Err(want));
    }
}

#[test]
fn what_is_not_reached_through_properties_alone_is_refused() {
    let header = r#"{"type":"string","x-mcp-header":"H"}"#;
    let wrapped = format!(r#"{{"properties":{{"q":{header}}}}}"#);
    for schema in [
        format!(r#"{{"type":"array","items":{header}}}"#),
        format!(r#"{{"items":[{{}},{header}]}}"#),
        format!(r#"{{"oneOf":[{wrapped}]}}"#),
        format!(r#"{{"anyOf":[{wrapped}]}}"#),
        format!(r#"{{"allOf":[{wrapped}]}}"#),
        format!(r#"{{"not":{wrapped}}}"#),
        format!(r#"{{"if":{wrapped}}}"#),
        format!(r#"{{"then":{wrapped}}}"#),
        format!(r#"{{"else":{wrapped}}}"#),
        format!(r#"{{"$defs":{{"d":{header}}}}}"#),
        format!(r#"{{"definitions":{{"d":{header}}}}}"#),
        format!(r#"{{"additionalProperties":{header}}}"#),
        format!(r#"{{"patternProperties":{{"x":{header}}}}}"#),
        format!(r#"{{"prefixItems":[{header}]}}"#),
        format!(r#"{{"dependentSchemas":{{"x":{wrapped}}}}}"#),
    ] {
        assert!(matches!(property(&schema), Err(BadHeaderParam::Unreachable { .. })), "{schema}");
        assert!(matches!(read(&schema), Err(BadHeaderParam::Unreachable { .. })), "{schema}");
    }
    assert_eq!(read(header), Err(BadHeaderParam::Unreachable { at: String::new() }));
}

#[test]
fn the_word_alone_is_not_the_keyword() {
    let schema = r#"{"properties":{
        "x-mcp-header":{"type":"string","description":"x-mcp-header"},
        "b":{"const":{"x-mcp-header":""},"default":{"x-mcp-header":1},"enum":[{"x-mcp-header":2}],"x-more":{"x-mcp-header":3}}}}"#;
    assert_eq!(read(schema), Ok(Vec::new()));
    let escaped = property(r#"{"type":"string","\u0078-mcp-header":"H"}"#).unwrap();
    assert_eq!(escaped.len(), 1);
}

#[test]
fn values_are_mirrored_plain() {
    let schema = r#"{"properties":{
        "s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},
        "b":{"type":"boolean","x-mcp-header":"B"},"n":{"type":"string","x-mcp-header":"N"},
        "gone":{"type":"string","x-mcp-header":"Gone"},"o":{"type":"string","x-mcp-header":"O"},
        "e":{"type":"string","x-mcp-header":"E"},"deep":{"properties":{"s":{"type":"string","x-mcp-header":"Deep"}}}}}"#;
    let arguments =
        r#"{"s":" h\u00e9 ","i":42.0,"b":false,"n":null,"o":{},"e":"","deep":{"s":"d"},"other":1}"#;
    let values = header_values(&read(schema).unwrap(), &Raw::parse(arguments).unwrap());
    let values: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let want = [
        ("Mcp-Param-S", " hé "),
        ("Mcp-Param-I", "42"),
        ("Mcp-Param-B", "false"),
        ("Mcp-Param-E", ""),
        ("Mcp-Param-Deep", "d"),
    ];
    assert_eq!(values, want);
}

#[test]
fn large_integers_keep_their_digits() {
    let params = property(r#"{"type":"integer","x-mcp-header":"H"}"#).unwrap();
    for digits in ["9007199254740993", "123456789012345678901234567890", "-7"] {
        let arguments = Raw::parse(format!(r#"{{"p":{digits}}}"#)).unwrap();
        assert_eq!(header_values(&params, &arguments), [("Mcp-Param-H".to_owned(), digits.to_owned())]);
    }
    assert!(header_values(&params, &Raw::parse("[1]").unwrap()).is_empty());
}
