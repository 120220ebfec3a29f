//! Renders the figures as a table.

use std::fmt::Write as _;

use super::super::super::median::median;
use super::wrk::Connections;
use super::{Encryption, Hop, Sample};

pub(super) fn render(samples: &[Sample]) -> String {
    let mut text = String::from("connections  hop        plain µs  TLS µs  TLS adds µs  to nginx's\n");
    for connections in [Connections::Kept, Connections::New] {
        let cost = |hop: Hop, encryption: Encryption| {
            let fits = |sample: &&Sample| {
                sample.hop == hop && sample.encryption == encryption && sample.connections == connections
            };
            median(samples.iter().filter(fits).map(|sample| sample.micros))
        };
        let added = |hop: Hop| cost(hop, Encryption::Tls) - cost(hop, Encryption::None);
        for hop in [Hop::Nginx, Hop::Trunkline] {
            let [plain, tls] = [Encryption::None, Encryption::Tls].map(|encryption| cost(hop, encryption));
            let (kind, name) = (format!("{connections:?}"), format!("{hop:?}"));
            let share = added(hop) / added(Hop::Nginx);
            writeln!(
                text,
                "{kind:<11}  {name:<9} {plain:>9.1} {tls:>7.1} {:>12.1} {share:>11.2}",
                added(hop)
            )
            .expect("writing to a String does not fail");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_what_tls_adds() {
        let sample =
            |hop, encryption, micros| Sample { hop, encryption, connections: Connections::Kept, micros };
        let mut samples = vec![
            sample(Hop::Nginx, Encryption::None, 10.0),
            sample(Hop::Nginx, Encryption::Tls, 14.0),
            sample(Hop::Trunkline, Encryption::None, 20.0),
            sample(Hop::Trunkline, Encryption::Tls, 22.0),
        ];
        let new: Vec<Sample> =
            samples.iter().map(|one| Sample { connections: Connections::New, ..*one }).collect();
        samples.extend(new);
        let text = render(&samples);
        let row: Vec<&str> = text.lines().nth(2).unwrap().split_whitespace().collect();
        assert_eq!(row, ["Kept", "Trunkline", "20.0", "22.0", "2.0", "0.50"]);
    }
}
