//! Figures in the text format of Prometheus.

use super::{BREAKER_STATES, BUCKETS, CallFigures, STATES, UpstreamFigures};
use crate::catalog::CatalogReport;
use std::fmt::Write;

/// Formats all figures, each metric family with its header.
pub fn render(upstreams: &[UpstreamFigures]) -> String {
    let mut page = Page { upstreams, text: String::new() };
    let (gauge, counter) = ("gauge", "counter");
    page.family("trunkline_upstream_up", gauge, "1 if the server can be called now.", |one| {
        u64::from(one.health == "up")
    });
    page.one_hot("trunkline_upstream_state", "1 for the current state of the server.", &STATES, |one| {
        &one.state
    });
    let (name, help) =
        ("trunkline_upstream_breaker_state", "1 for the current state of the circuit breaker.");
    page.one_hot(name, help, &BREAKER_STATES, |one| &one.breaker);
    page.family("trunkline_upstream_calls_in_flight", gauge, "Calls in flight.", |one| one.in_flight);
    page.family("trunkline_upstream_calls_waiting", gauge, "Calls queued for a slot.", |one| one.waiting);
    page.family("trunkline_upstream_sessions", gauge, "Sessions open.", |one| one.sessions);
    let (name, help) = ("trunkline_upstream_restarts_total", "Times that the server was started again.");
    page.family(name, counter, help, |one| one.restarts);
    let (name, help) = ("trunkline_upstream_refused_total", "Calls refused before they were sent.");
    page.family(name, counter, help, |one| one.refused);
    page.calls();
    page.text
}

/// The number of definitions that differ from the lock file, for servers where any does.
pub fn drift(catalog: &CatalogReport) -> String {
    let name = "trunkline_lock_drift";
    let mut page = Page { upstreams: &[], text: String::new() };
    page.heading(name, "gauge", "Definitions that differ from the lock file.");
    for server in catalog.servers.iter().filter(|server| !server.drifted.is_empty()) {
        page.line(name, &[("server", &server.server)], server.drifted.len());
    }
    page.text
}

/// One line per server, for `/readyz?verbose`: the same states as in the metrics.
pub fn readiness(upstreams: &[UpstreamFigures]) -> String {
    let line = |one: &UpstreamFigures| {
        format!("{}: {} (state {}, circuit {})\n", one.name, one.health, one.state, one.breaker)
    };
    upstreams.iter().map(line).collect()
}

/// A label's value, escaped.
pub fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

struct Page<'a> {
    upstreams: &'a [UpstreamFigures],
    text: String,
}

impl Page<'_> {
    fn heading(&mut self, name: &str, kind: &str, help: &str) {
        writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}")
            .expect("writing to a String cannot fail");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escape(value))).collect();
        writeln!(self.text, "{name}{{{}}} {value}", labels.join(","))
            .expect("writing to a String cannot fail");
    }

    fn family(&mut self, name: &str, kind: &str, help: &str, value: fn(&UpstreamFigures) -> u64) {
        self.heading(name, kind, help);
        for one in self.upstreams {
            self.line(name, &[("server", &one.name)], value(one));
        }
    }

    /// One line per state: 1 for the current one, 0 for the others.
    fn one_hot(&mut self, name: &str, help: &str, words: &[&str], word: fn(&UpstreamFigures) -> &str) {
        self.heading(name, "gauge", help);
        for one in self.upstreams {
            for state in words {
                self.line(name, &[("server", &one.name), ("state", state)], u64::from(word(one) == *state));
            }
        }
    }

    fn calls(&mut self) {
        let upstreams = self.upstreams;
        let all =
            || upstreams.iter().flat_map(|one| one.calls.iter().map(move |calls| (one.name.as_str(), calls)));
        let name = "trunkline_upstream_calls_total";
        self.heading(name, "counter", "Calls the server answered; each attempt counts.");
        all().for_each(|(server, calls)| self.line(name, &labels(server, calls), calls.calls));
        let name = "trunkline_upstream_calls_failed_total";
        self.heading(name, "counter", "Calls answered with an error or with isError.");
        all().for_each(|(server, calls)| self.line(name, &labels(server, calls), calls.failures));
        let help = "Time from a call to the server's answer.";
        self.heading("trunkline_upstream_call_seconds", "histogram", help);
        all().for_each(|(server, calls)| self.histogram(server, calls));
    }

    fn histogram(&mut self, server: &str, calls: &CallFigures) {
        let mut below = 0;
        let bounds = BUCKETS.iter().map(ToString::to_string).zip(&calls.latency.counts);
        let bounds: Vec<(String, u64)> = bounds
            .map(|(bound, count)| {
                below += count;
                (bound, below)
            })
            .chain([("+Inf".to_owned(), calls.latency.count)])
            .collect();
        for (bound, count) in &bounds {
            let mut labels = labels(server, calls);
            labels.push(("le", bound));
            self.line("trunkline_upstream_call_seconds_bucket", &labels, count);
        }
        let labels = labels(server, calls);
        self.line("trunkline_upstream_call_seconds_sum", &labels, calls.latency.sum_seconds);
        self.line("trunkline_upstream_call_seconds_count", &labels, calls.latency.count);
    }
}

fn labels<'a>(server: &'a str, calls: &'a CallFigures) -> Vec<(&'static str, &'a str)> {
    let tool = calls.tool.as_deref().map(|tool| ("tool", tool));
    [("server", server), ("method", calls.method.as_str())].into_iter().chain(tool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Histogram;

    #[test]
    fn a_page_has_each_family_once_and_its_labels_escaped() {
        let calls = CallFigures {
            method: "tools/call".into(),
            tool: Some("a\"b\\c\nd".into()),
            calls: 3,
            failures: 1,
            latency: Histogram {
                counts: [vec![1, 1], vec![0; BUCKETS.len() - 2]].concat(),
                sum_seconds: 700.5,
                count: 3,
            },
        };
        let one = |name: &str| UpstreamFigures {
            name: name.to_owned(),
            state: "ready".into(),
            health: "up".into(),
            breaker: "half-open".into(),
            restarts: 2,
            calls: vec![calls.clone()],
            ..UpstreamFigures::default()
        };
        assert_eq!(readiness(&[one("git")]), "git: up (state ready, circuit half-open)\n");
        let page = render(&[one("files"), one("git")]);
        assert_eq!(page.matches("# TYPE trunkline_upstream_call_seconds histogram\n").count(), 1);
        for line in [
            "trunkline_upstream_up{server=\"files\"} 1",
            "trunkline_upstream_state{server=\"git\",state=\"lost\"} 0",
            "trunkline_upstream_breaker_state{server=\"git\",state=\"half-open\"} 1",
            "trunkline_upstream_restarts_total{server=\"files\"} 2",
            r#"trunkline_upstream_calls_failed_total{server="git",method="tools/call",tool="a\"b\\c\nd"} 1"#,
            r#"trunkline_upstream_call_seconds_bucket{server="git",method="tools/call",tool="a\"b\\c\nd",le="0.0025"} 2"#,
            r#"trunkline_upstream_call_seconds_bucket{server="git",method="tools/call",tool="a\"b\\c\nd",le="+Inf"} 3"#,
            r#"trunkline_upstream_call_seconds_sum{server="git",method="tools/call",tool="a\"b\\c\nd"} 700.5"#,
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
        let series = |line: &&str| !line.starts_with('#');
        let names: std::collections::HashSet<_> =
            page.lines().filter(series).map(|line| line.rsplit_once(' ').unwrap().0).collect();
        assert_eq!(names.len(), page.lines().filter(series).count(), "no series twice");
    }
}
