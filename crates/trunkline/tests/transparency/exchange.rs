//! The requests: every method that both eras have, with additional unknown members.

/// The era of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

impl Era {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

const ODD: &str = r#""omega":{"n":2.50e1,"big":98765432109876543210,"list":[null,1.0]},"beta":"\u00fc\/""#;
const CAPABILITIES: &str =
    r#"{"experimental":{"vendor.example/y":{"k":1.0}},"vendorAbility":{"z":0.10,"a":[]}}"#;
const CLIENT: &str = r#"{"name":"hand","version":"0","title":"By hand","vendorTitle":{"n":3.0}}"#;

/// The exchanges, by name: the frames of each in their order.
pub(crate) fn all(era: Era) -> Vec<(&'static str, Vec<String>)> {
    let mut exchanges = vec![("introduction", introduction(era))];
    let named: [(&'static str, &str, String); 14] = [
        ("tools", "tools/list", ODD.to_owned()),
        ("tools-second-page", "tools/list", format!(r#""cursor":"",{ODD}"#)),
        ("prompts", "prompts/list", ODD.to_owned()),
        ("resources", "resources/list", ODD.to_owned()),
        ("templates", "resources/templates/list", ODD.to_owned()),
        ("call", "tools/call", format!(r#""name":"first","arguments":{{"z":1.0e0,"a":{{{ODD}}}}},{ODD}"#)),
        ("call-with-progress", "tools/call", r#""name":"first","arguments":{}"#.to_owned()),
        ("call-without-arguments", "tools/call", r#""name":"first""#.to_owned()),
        ("failing-call", "tools/call", r#""name":"fails","arguments":{"b":0.0}"#.to_owned()),
        ("read", "resources/read", format!(r#""uri":"planted://first",{ODD}"#)),
        ("prompt", "prompts/get", format!(r#""name":"first","arguments":{{"who":"w"}},{ODD}"#)),
        (
            "completion",
            "completion/complete",
            format!(
                r#""ref":{{"type":"ref/prompt","name":"first","x":1.0}},"argument":{{"name":"who","value":"a","y":2.0}},{ODD}"#
            ),
        ),
        ("extension", "vendor.example/thing", ODD.to_owned()),
        ("unknown-method", "vendor.example/nothing", ODD.to_owned()),
    ];
    for (number, (name, method, params)) in named.into_iter().enumerate() {
        let token = if name == "call-with-progress" { r#""progressToken":"mine-7","# } else { "" };
        let meta = format!(r#""_meta":{{{token}{}"vendor.example/deep":{{{ODD}}}}}"#, protocol_members(era));
        let id = if number % 2 == 0 { format!("{}", number + 10) } else { format!(r#""id-{number}""#) };
        let frame =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params},{meta}}}}}"#);
        exchanges.push((name, vec![frame]));
    }
    exchanges
}

fn introduction(era: Era) -> Vec<String> {
    match era {
        Era::Legacy => vec![
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{CAPABILITIES},"clientInfo":{CLIENT},{ODD}}}}}"#
            ),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        ],
        Era::Modern => vec![format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{{}"vendor.example/deep":{{{ODD}}}}}}}}}"#,
            protocol_members(era)
        )],
    }
}

fn protocol_members(era: Era) -> String {
    match era {
        Era::Legacy => String::new(),
        Era::Modern => format!(
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{CLIENT},"io.modelcontextprotocol/clientCapabilities":{CAPABILITIES},"#
        ),
    }
}
