//! A bridge loses nothing: the same exchanges with a server, directly and through a bridge, are
//! compared byte by byte.
//!
//! The server (`planted.py`) adds unknown members at every level of every response, and echoes the
//! request as received. So a difference in either direction is visible, and only those that
//! `rules.txt` permits are accepted.
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
