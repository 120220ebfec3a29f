//! DNS and TCP: does the name resolve, and does the port accept connections?

use super::Site;
use crate::{
    cause::Cause,
    diagnosis::Problem,
    evidence::Evidence,
    examination::{Checked, passed},
    options::DoctorOptions,
};
use ::url::{Host, Url};
use std::{io, net::SocketAddr};
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};
use trunkline_client::is_this_machine;

/// Maximum number of addresses tried per name.
const MOST_ADDRESSES: usize = 8;
const PROXIES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

pub(super) async fn resolve(site: &Site<'_>) -> Checked<Vec<SocketAddr>> {
    let port = site.address.port_or_known_default().unwrap_or(80);
    let name = match site.address.host() {
        Some(Host::Ipv4(ip)) => return passed(vec![(ip, port).into()], ip.to_string()),
        Some(Host::Ipv6(ip)) => return passed(vec![(ip, port).into()], ip.to_string()),
        Some(Host::Domain(name)) => name,
        None => {
            let problem = Problem::new(Cause::AddressInvalid, "the address has no host");
            return Err(Box::new(problem.fix("write it as http://host:port/path")));
        }
    };
    let looked_up = timeout(site.options.limits.step, lookup_host((name, port))).await;
    let reason = match looked_up {
        Ok(Ok(found)) => {
            let found: Vec<SocketAddr> = found.take(MOST_ADDRESSES).collect();
            if !found.is_empty() {
                let shown: Vec<String> = found.iter().map(|address| address.ip().to_string()).collect();
                return passed(found, shown.join(", "));
            }
            "it has no address".to_owned()
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the name service does not answer".to_owned(),
    };
    let problem = Problem::new(Cause::NameUnresolved, format!("`{name}` cannot be resolved"))
        .proof(Evidence::fact(reason))
        .fix(format!("getent hosts {name}    # whether this machine knows the name"))
        .fix(
            "correct the host in the address; inside a container, the host itself is `host.docker.internal`",
        );
    Err(Box::new(or_proxy(site, problem)))
}

pub(super) async fn connect(site: &Site<'_>, addresses: &[SocketAddr]) -> Checked<()> {
    let mut tried = Vec::new();
    let mut last = None;
    for address in addresses {
        match timeout(site.options.limits.step, TcpStream::connect(address)).await {
            Ok(Ok(_)) => {
                let detail = if tried.is_empty() {
                    address.to_string()
                } else {
                    format!("{address}, after {}", tried.join("; "))
                };
                return passed((), detail);
            }
            Ok(Err(error)) => {
                tried.push(format!("{address}: {}", plain(&error)));
                last = Some(error.kind());
            }
            Err(_) => {
                tried.push(format!("{address}: no answer"));
                last = Some(io::ErrorKind::TimedOut);
            }
        }
    }
    let place = format!(
        "{}:{}",
        site.address.host_str().unwrap_or_default(),
        site.address.port_or_known_default().unwrap_or_default()
    );
    let problem = match last {
        Some(io::ErrorKind::ConnectionRefused) => {
            Problem::new(Cause::PortRefused, format!("nothing listens at {place}"))
                .fix(format!(
                    "start the server; then: ss -ltn 'sport = :{}'    # whether it listens",
                    site.address.port_or_known_default().unwrap_or_default()
                ))
                .fix("correct the port in the address")
        }
        Some(io::ErrorKind::TimedOut) => {
            Problem::new(Cause::ConnectTimeout, format!("no answer from {place}"))
                .fix("check the address, the VPN and the firewall")
        }
        _ => Problem::new(Cause::Unreachable, format!("there is no route to {place}"))
            .fix("check the network connection and the VPN"),
    };
    let problem = problem.proofs(tried.into_iter().map(Evidence::fact));
    Err(Box::new(or_proxy(site, problem)))
}

/// Blames a proxy variable if one is set: we do not use proxies, which explains why the remote
/// host is unreachable.
fn or_proxy(site: &Site<'_>, problem: Problem) -> Problem {
    let Some((name, proxy)) = proxy(site.options) else { return problem };
    if is_this_machine(site.address) || excepted(site) {
        return problem;
    }
    let host = site.address.host_str().unwrap_or_default();
    Problem::new(Cause::ProxyNotUsed, format!("{}; {name} is set to {proxy}, and not used", problem.summary))
        .proofs(problem.evidence)
        .fix(format!("ssh -L 8443:{host}:443 user@gateway    # a local way round the proxy, then use https://127.0.0.1:8443"))
        .fix(format!("curl -x {proxy} {}    # whether the proxy lets it through", site.address))
}

/// The proxy variable and its host, without credentials.
fn proxy(options: &DoctorOptions) -> Option<(&'static str, String)> {
    PROXIES.iter().find_map(|name| {
        let value = options.variable(name)?.to_str().filter(|value| !value.is_empty())?;
        let host = Url::parse(value).ok().and_then(|url| {
            Some(format!(
                "{}://{}:{}",
                url.scheme(),
                url.host_str()?,
                url.port_or_known_default().unwrap_or(80)
            ))
        });
        Some((*name, host.unwrap_or_else(|| "something".to_owned())))
    })
}

fn excepted(site: &Site<'_>) -> bool {
    let host = site.address.host_str().unwrap_or_default();
    let list = site.options.variable("NO_PROXY").or_else(|| site.options.variable("no_proxy"));
    let list = list.and_then(|list| list.to_str()).unwrap_or_default();
    list.split(',').map(str::trim).any(|entry| {
        let entry = entry.trim_start_matches('.');
        entry == "*" || !entry.is_empty() && (host == entry || host.ends_with(&format!(".{entry}")))
    })
}

fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => "unreachable".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_shown_without_its_password() {
        let environment = vec![("HTTPS_PROXY".into(), "http://me:canary@proxy.example:3128".into())];
        let options = DoctorOptions { environment, ..DoctorOptions::default() };
        assert_eq!(proxy(&options), Some(("HTTPS_PROXY", "http://proxy.example:3128".to_owned())));
    }
}
