//! Renders the figures as a table and compares them with the goals.

use std::fmt::Write as _;

use super::super::median::median;
use super::Row;
use super::harness::Sample;
use super::kind::Kind;

/// Goal for the cost of a hop through trunkline, as a multiple of the minimal proxy's cost.
const GOAL: f64 = 1.3;
/// Goal for calls per second to a stdio upstream.
const STDIO_GOAL: f64 = 100_000.0;

pub(super) fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "asked  callers  before                          calls/s  CPU µs/call  to floor's  calls/s to nginx's  median µs\n",
    );
    for row in rows {
        let (floor, nginx) = (row.of(Kind::Floor, Sample::cost), row.of(Kind::Nginx, |sample| sample.rps));
        for (name, samples) in &row.samples {
            let of = |figure: fn(&Sample) -> f64| median(samples.iter().map(figure));
            let (rate, cost) = (of(|sample| sample.rps), of(Sample::cost));
            let (mode, callers) = (row.mode, row.callers);
            let (floor, nginx) =
                (shown(floor.map(|floor| cost / floor)), shown(nginx.map(|nginx| rate / nginx)));
            let cost = shown(Some(cost));
            writeln!(
                text,
                "{mode:<6} {callers:>7}  {name:<30} {rate:>8.0}  {cost:>11}  {floor:>10}  {nginx:>18}  {:>9.0}",
                of(Sample::p50)
            )
            .expect("writing to a String does not fail");
        }
    }
    text
}

/// Says which goals are met. A missed goal does not fail the run, since it depends on the machine.
pub(super) fn verdict(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    for kind in [Kind::Http, Kind::Gateway] {
        lines.extend(against_floor(rows, kind));
    }
    for kind in [Kind::Stdio, Kind::GatewayStdio, Kind::BridgePipes, Kind::GatewayPipes] {
        let rates =
            rows.iter().filter(|row| row.mode == "echo").filter_map(|row| row.of(kind, |sample| sample.rps));
        if let Some(most) = rates.max_by(f64::total_cmp) {
            lines.push(format!("{}: {most:.0} calls/s of the {STDIO_GOAL:.0} wanted", kind.name()));
        }
    }
    lines.join("\n")
}

fn against_floor(rows: &[Row], kind: Kind) -> Option<String> {
    let ratio = |row: &Row| Some(row.of(kind, Sample::cost)? / row.of(Kind::Floor, Sample::cost)?);
    let echo = || rows.iter().filter(|row| row.mode == "echo");
    let ratios: Vec<String> =
        echo().filter_map(|row| Some(format!("{:.2}× with {}", ratio(row)?, row.callers))).collect();
    let said = if echo().filter_map(ratio).all(|ratio| ratio <= GOAL) { "met" } else { "not met" };
    let name = kind.name();
    (!ratios.is_empty()).then(|| {
        format!("{name}, CPU a call to floor's: {}; the goal of {GOAL}× is {said}", ratios.join(", "))
    })
}

fn shown(figure: Option<f64>) -> String {
    figure.filter(|figure| figure.is_finite()).map_or_else(|| "–".to_owned(), |figure| format!("{figure:.2}"))
}

impl Row {
    fn of(&self, kind: Kind, figure: fn(&Sample) -> f64) -> Option<f64> {
        let (_, samples) = self.samples.iter().find(|(of, _)| of == kind.name())?;
        Some(median(samples.iter().map(figure)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rps: f64, cost: f64) -> Sample {
        let report =
            format!(r#"{{"rps":{rps},"errors":0,"p50_us":50,"cpu_us_per_request":{{"target":{cost}}}}}"#);
        serde_json::from_str(&report).unwrap()
    }

    #[test]
    fn a_hop_is_compared_with_the_thinnest_one_of_the_same_run() {
        let samples = vec![
            (
                Kind::Floor.name().to_owned(),
                vec![sample(50_000.0, 20.0), sample(1.0, 20.0), sample(50_000.0, 90.0)],
            ),
            (Kind::Http.name().to_owned(), vec![sample(40_000.0, 25.0)]),
            (Kind::Stdio.name().to_owned(), vec![sample(110_000.0, 9.0)]),
        ];
        let rows = [Row { mode: "echo", callers: 32, samples }];
        let table = render(&rows);
        let line = table.lines().nth(2).unwrap();
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>(),
            ["echo", "32", "bridge-http", "40000", "25.00", "1.25", "–", "50"]
        );
        let verdict = verdict(&rows);
        assert!(verdict.contains("1.25× with 32; the goal of 1.3× is met"), "{verdict}");
        assert!(verdict.contains("110000 calls/s"), "{verdict}");
    }
}
