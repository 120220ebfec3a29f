//! A bridge and a gateway lose nothing: the same exchanges with a server, directly and through
//! them, are compared byte by byte.
//!
//! The server (`planted.py`) adds unknown members at every level of every response, and echoes the
//! request as received. So a difference in either direction is visible, and only those that
//! `rules.txt` permits are accepted; for a gateway also those of `gateway_rules.txt`, which are
//! rows of `docs/rewrites.md`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod conversation;
mod difference;
mod exchange;
mod line;
mod question;
mod rules;

use difference::Difference;
use exchange::Era;
use line::Line;
use rules::Rules;

/// All messages that one client received, by exchange.
type Heard = Vec<(&'static str, Vec<String>)>;

/// A client of one era in front of a server of another or the same.
#[derive(Debug, Clone, Copy)]
struct Pair {
    client: Era,
    server: Era,
}

impl Pair {
    const fn same(era: Era) -> Self {
        Self { client: era, server: era }
    }

    /// The word of the rules.
    fn word(self) -> &'static str {
        match (self.client, self.server) {
            (Era::Modern, Era::Legacy) => "lifted",
            (Era::Legacy, Era::Modern) => "lowered",
            (Era::Legacy, Era::Legacy) | (Era::Modern, Era::Modern) => "same",
        }
    }
}

/// Performs all exchanges of a client in front of a server. `pair` is the one under comparison: if
/// its eras differ, questions are compared without their form.
async fn talk(mut line: Line, client: Era, pair: Pair, skipped: &[&str]) -> Heard {
    let mut heard = Vec::new();
    let mut exchanges = exchange::all(client);
    exchanges.extend(conversation::all(client, pair.server));
    for (name, steps) in exchanges.into_iter().filter(|(name, _)| !skipped.contains(name)) {
        let mut messages = line.perform(&steps).await;
        if name.starts_with("asked-") && pair.client != pair.server {
            messages = question::without_form(messages);
        }
        heard.push((name, messages));
    }
    line.close().await;
    heard
}

/// Compares a direct connection with one through a view of a gateway.
async fn compare_view(view: &str, (path, prefix): (&str, &'static str), pairs: [Pair; 2]) {
    /// A gateway joins the pages of a list.
    const SKIPPED: [&str; 1] = ["tools-second-page"];
    let mut told = Vec::new();
    for pair in pairs {
        let folder = tempfile::tempdir().unwrap();
        let direct = talk(Line::direct_whole(pair.server), pair.server, pair, &SKIPPED).await;
        let line = Line::through_gateway((pair.client, pair.server), (path, prefix), folder.path()).await;
        let through = talk(line, pair.client, pair, &SKIPPED).await;
        let (bridge, gateway) =
            (Rules::read(include_str!("rules.txt")), Rules::read(include_str!("gateway_rules.txt")));
        let view_of_pair = format!("{view}-{}", pair.word());
        let found = differences(&direct, &through, |name, found| {
            bridge.permit(pair.word(), name, found)
                || gateway.permit(view, name, found)
                || gateway.permit(&view_of_pair, name, found)
        });
        told.extend(found.iter().map(|found| format!("{pair:?}, {found}")));
    }
    assert!(told.is_empty(), "{view}:\n{}", told.join("\n"));
}

const OF_ONE_ERA: [Pair; 2] = [Pair::same(Era::Legacy), Pair::same(Era::Modern)];
const OF_TWO_ERAS: [Pair; 2] =
    [Pair { client: Era::Modern, server: Era::Legacy }, Pair { client: Era::Legacy, server: Era::Modern }];

/// Compares the exchanges that both sides have: the other era does some things with other methods.
fn differences(
    direct: &Heard,
    through: &Heard,
    permitted: impl Fn(&str, &Difference) -> bool,
) -> Vec<Difference> {
    let mut found = Vec::new();
    for (name, expected) in direct {
        let Some((_, seen)) = through.iter().find(|(seen, _)| seen == name) else { continue };
        let compared = difference::between(expected, seen).into_iter();
        found.extend(compared.filter(|found| !permitted(name, found)).map(|found| found.of(name)));
    }
    found
}

async fn compare(pair: Pair, transport: line::Transport) {
    let direct = talk(Line::direct(pair.server), pair.server, pair, &[]).await;
    let through = talk(Line::through(pair.server, transport).await, pair.client, pair, &[]).await;
    let rules = Rules::read(include_str!("rules.txt"));
    let found = differences(&direct, &through, |name, found| {
        rules.permit(pair.word(), name, found) || rules.permit(transport.word(), name, found)
    });
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{pair:?} over {transport:?}:\n{}", told.join("\n"));
}

#[tokio::test]
async fn a_legacy_client_and_a_legacy_server() {
    compare(Pair::same(Era::Legacy), line::Transport::Stdio).await;
    compare(Pair::same(Era::Legacy), line::Transport::Http).await;
}

#[tokio::test]
async fn a_modern_client_and_a_modern_server() {
    compare(Pair::same(Era::Modern), line::Transport::Stdio).await;
    compare(Pair::same(Era::Modern), line::Transport::Http).await;
}

#[tokio::test]
async fn a_modern_client_and_a_legacy_server() {
    compare(OF_TWO_ERAS[0], line::Transport::Stdio).await;
    compare(OF_TWO_ERAS[0], line::Transport::Http).await;
}

#[tokio::test]
async fn a_legacy_client_and_a_modern_server() {
    compare(OF_TWO_ERAS[1], line::Transport::Stdio).await;
    compare(OF_TWO_ERAS[1], line::Transport::Http).await;
}

#[tokio::test]
async fn one_server_of_a_gateway_in_one_era() {
    compare_view("one", ("/server/planted", ""), OF_ONE_ERA).await;
}

#[tokio::test]
async fn one_server_of_a_gateway_between_the_eras() {
    compare_view("one", ("/server/planted", ""), OF_TWO_ERAS).await;
}

#[tokio::test]
async fn a_bare_view_of_a_gateway_in_one_era() {
    compare_view("bare", ("/bare", ""), OF_ONE_ERA).await;
}

#[tokio::test]
async fn a_bare_view_of_a_gateway_between_the_eras() {
    compare_view("bare", ("/bare", ""), OF_TWO_ERAS).await;
}

#[tokio::test]
async fn a_gateway_with_prefixed_names_in_one_era() {
    compare_view("prefixed", ("", "planted_"), OF_ONE_ERA).await;
}

#[tokio::test]
async fn a_gateway_with_prefixed_names_between_the_eras() {
    compare_view("prefixed", ("", "planted_"), OF_TWO_ERAS).await;
}

#[test]
fn a_lost_member_a_respelt_number_and_another_order_are_differences() {
    let heard = |text: &str| vec![("x", vec![text.to_owned()])];
    let original = heard(r#"{"result":{"a":1.0,"b":[{"c":2}]}}"#);
    for changed in [
        r#"{"result":{"a":1.0,"b":[{}]}}"#,
        r#"{"result":{"a":1,"b":[{"c":2}]}}"#,
        r#"{"result":{"b":[{"c":2}],"a":1.0}}"#,
        r#"{"result":{"a":1.0,"b":[{"c":2}],"d":0}}"#,
        r#"{"result":{"a":1.0,"b":[{"c":2},3]}}"#,
    ] {
        assert_eq!(differences(&original, &heard(changed), |_, _| false).len(), 1, "{changed}");
    }
    assert!(differences(&original, &original.clone(), |_, _| false).is_empty());
}
