//! The requests that have one response: every method that both eras have, with additional unknown
//! members.

use super::line::Step;

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

/// One or more messages that belong together, under the name that the rules use.
pub(crate) type Exchange = (&'static str, Vec<Step>);

pub(crate) const ODD: &str =
    r#""omega":{"n":2.50e1,"big":98765432109876543210,"list":[null,1.0]},"beta":"\u00fc\/""#;
const CAPABILITIES: &str = r#"{"sampling":{},"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"experimental":{"vendor.example/y":{"k":1.0}},"vendorAbility":{"z":0.10,"a":[]}}"#;
/// Of 2026-07-28, where the client says in each request that it follows tasks.
const MODERN_CAPABILITIES: &str = r#"{"sampling":{},"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"experimental":{"vendor.example/y":{"k":1.0}},"vendorAbility":{"z":0.10,"a":[]},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
const CLIENT: &str = r#"{"name":"hand","version":"0","title":"By hand","vendorTitle":{"n":3.0}}"#;

/// The exchanges, by name: the frames of each in their order.
pub(crate) fn all(era: Era) -> Vec<Exchange> {
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
        let id = if number % 2 == 0 { format!("{}", number + 10) } else { format!(r#""id-{number}""#) };
        exchanges.push((name, vec![Step::Ask(request(era, (&id, method), &params, token))]));
    }
    exchanges
}

/// A request whose `_meta` begins with `token`.
pub(crate) fn request(era: Era, (id, method): (&str, &str), params: &str, token: &str) -> String {
    let meta = format!(r#""_meta":{{{token}{}"vendor.example/deep":{{{ODD}}}}}"#, protocol_members(era));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params},{meta}}}}}"#)
}

fn introduction(era: Era) -> Vec<Step> {
    match era {
        Era::Legacy => vec![
            Step::Ask(format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{CAPABILITIES},"clientInfo":{CLIENT},{ODD}}}}}"#
            )),
            Step::Tell(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()),
        ],
        Era::Modern => vec![Step::Ask(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{{}"vendor.example/deep":{{{ODD}}}}}}}}}"#,
            protocol_members(era)
        ))],
    }
}

fn protocol_members(era: Era) -> String {
    match era {
        Era::Legacy => String::new(),
        Era::Modern => format!(
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{CLIENT},"io.modelcontextprotocol/clientCapabilities":{MODERN_CAPABILITIES},"#
        ),
    }
}
