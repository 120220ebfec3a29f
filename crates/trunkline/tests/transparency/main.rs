//! A bridge and a gateway lose nothing: the same exchanges with a server, directly and through
//! them, are compared byte by byte.
//!
//! The server (`planted.py`) adds unknown members at every level of every response, and echoes the
//! request as received. So a difference in either direction is visible, and only those that
//! `rules.txt` permits are accepted; for a gateway also those of `gateway_rules.txt`, which are
//! rows of `docs/rewrites.md`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod difference;
mod exchange;
mod line;
mod rules;

use difference::Difference;
use exchange::Era;
use line::Line;
use rules::Rules;

/// All messages that one client received, by exchange.
type Heard = Vec<(&'static str, Vec<String>)>;

async fn talk(mut line: Line, era: Era) -> Heard {
    let mut heard = Vec::new();
    for (name, frames) in exchange::all(era) {
        let mut answers = Vec::new();
        for frame in frames {
            answers.extend(line.ask(&frame).await);
        }
        heard.push((name, answers));
    }
    line.close().await;
    heard
}

/// The same exchanges for a gateway: lists of one page, and the view's names.
async fn talk_to_view(mut line: Line, era: Era, prefix: &str) -> Heard {
    let mut heard = Vec::new();
    for (name, frames) in exchange::all(era).into_iter().filter(|(name, _)| *name != "tools-second-page") {
        let mut answers = Vec::new();
        for frame in frames {
            let named = |word: &str| frame.contains(&format!(r#""name":"{word}""#));
            let word = ["first", "fails"].into_iter().find(|word| named(word)).unwrap_or("");
            let (old, new) = (format!(r#""name":"{word}""#), format!(r#""name":"{prefix}{word}""#));
            answers.extend(line.ask(&if word.is_empty() { frame } else { frame.replace(&old, &new) }).await);
        }
        heard.push((name, answers));
    }
    line.close().await;
    heard
}

/// Compares a direct connection with one through a view of a gateway.
async fn compare_view(view: &str, (path, prefix): (&str, &str), eras: [(&str, (Era, Era)); 2]) {
    let mut told = Vec::new();
    for (pair, (client, server)) in eras {
        let folder = tempfile::tempdir().unwrap();
        let direct = talk_to_view(Line::direct_whole(server), server, "").await;
        let line = Line::through_gateway((client, server), path, folder.path()).await;
        let through = talk_to_view(line, client, prefix).await;
        let rules = Rules::read(include_str!("gateway_rules.txt"));
        let permitted = |name: &str, found: &Difference| {
            rules.permit(view, name, found) || rules.permit(&format!("{view}-{pair}"), name, found)
        };
        for ((name, expected), (_, seen)) in direct.iter().zip(&through) {
            let bridged = Rules::read(include_str!("rules.txt"));
            let found = difference::between(expected, seen).into_iter();
            let found = found.filter(|found| !bridged.permit(pair, name, found) && !permitted(name, found));
            told.extend(found.map(|found| format!("{client:?} to {server:?}, {}", found.of(name))));
        }
    }
    assert!(told.is_empty(), "{view}:\n{}", told.join("\n"));
}

const OF_ONE_ERA: [(&str, (Era, Era)); 2] =
    [("same", (Era::Legacy, Era::Legacy)), ("same", (Era::Modern, Era::Modern))];
const OF_TWO_ERAS: [(&str, (Era, Era)); 2] =
    [("lifted", (Era::Modern, Era::Legacy)), ("lowered", (Era::Legacy, Era::Modern))];

fn differences(pair: &str, direct: &Heard, through: &Heard) -> Vec<Difference> {
    let rules = Rules::read(include_str!("rules.txt"));
    let mut found = Vec::new();
    for ((name, expected), (_, seen)) in direct.iter().zip(through) {
        let compared = difference::between(expected, seen);
        found.extend(compared.into_iter().filter(|d| !rules.permit(pair, name, d)).map(|d| d.of(name)));
    }
    found
}

async fn compare(pair: &str, (client, server): (Era, Era), transport: line::Transport) {
    let direct = talk(Line::direct(server), server).await;
    let through = talk(Line::through(server, transport).await, client).await;
    let found = differences(pair, &direct, &through);
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{pair} over {transport:?}:\n{}", told.join("\n"));
}

#[tokio::test]
async fn a_legacy_client_and_a_legacy_server() {
    compare("same", (Era::Legacy, Era::Legacy), line::Transport::Stdio).await;
    compare("same", (Era::Legacy, Era::Legacy), line::Transport::Http).await;
}

#[tokio::test]
async fn a_modern_client_and_a_modern_server() {
    compare("same", (Era::Modern, Era::Modern), line::Transport::Stdio).await;
    compare("same", (Era::Modern, Era::Modern), line::Transport::Http).await;
}

#[tokio::test]
async fn a_modern_client_and_a_legacy_server() {
    compare("lifted", (Era::Modern, Era::Legacy), line::Transport::Stdio).await;
    compare("lifted", (Era::Modern, Era::Legacy), line::Transport::Http).await;
}

#[tokio::test]
async fn a_legacy_client_and_a_modern_server() {
    compare("lowered", (Era::Legacy, Era::Modern), line::Transport::Stdio).await;
    compare("lowered", (Era::Legacy, Era::Modern), line::Transport::Http).await;
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
        assert_eq!(differences("same", &original, &heard(changed)).len(), 1, "{changed}");
    }
    assert!(differences("same", &original, &original.clone()).is_empty());
}
