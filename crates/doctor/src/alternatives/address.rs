//! Alternative URLs of the same server: other path, scheme or loopback name.

use super::Candidate;
use crate::{
    cause::Cause, conversation::AttemptOverrides, diagnosis::Problem, options::DoctorOptions, url::speaks_tls,
};
use ::url::Url;
use http::header;
use trunkline_client::{RevisionChoice, Target, is_this_machine};
use trunkline_protocol::Era;

/// Usual paths of endpoints.
const PATHS: [&str; 6] = ["/mcp", "/sse", "/", "/mcp/", "/api/mcp", "/v1/mcp"];
const LOCAL_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

pub(super) async fn candidates(address: &Url, problem: &Problem, options: &DoctorOptions) -> Vec<Candidate> {
    use Cause as C;
    match problem.cause {
        C::WrongPath | C::PostRefused | C::HtmlPage | C::NotMcp | C::MediaTypeRefused => other_paths(address),
        C::RedirectLosesPost => redirected(address, problem),
        C::RedirectElsewhere => other_scheme(address, "https", C::RedirectElsewhere).into_iter().collect(),
        C::PortRefused => other_names(address, C::OtherAddressFamily),
        C::TlsOnPlainPort => other_scheme(address, "http", C::TlsOnPlainPort).into_iter().collect(),
        C::PlainOnTlsPort | C::CredentialsInClear => {
            other_scheme(address, "https", problem.cause).into_iter().collect()
        }
        C::ClosedAtOnce | C::NotHttp if speaks_tls(address, options.limits.step).await => {
            other_scheme(address, "https", C::PlainOnTlsPort).into_iter().collect()
        }
        C::HostRefused | C::Forbidden | C::OriginRefused => {
            let mut all: Vec<Candidate> = without_origin(address, options).into_iter().collect();
            all.extend(other_names(address, C::HostRefused));
            all
        }
        C::LegacyOnly | C::ModernOnly => {
            vec![in_era(address, RevisionChoice::Newest, "in the era that it speaks")]
        }
        C::HeadNeverCame | C::NoAnswer => {
            vec![in_era(address, RevisionChoice::Era(Era::Legacy), "with `initialize` first")]
        }
        _ => Vec::new(),
    }
}

fn other_paths(address: &Url) -> Vec<Candidate> {
    let own = address.path();
    let slashed = if own.ends_with('/') { own.trim_end_matches('/').to_owned() } else { format!("{own}/") };
    let paths = PATHS.iter().map(|path| (*path).to_owned()).chain([slashed]);
    paths
        .filter(|path| path != own && !path.is_empty())
        .map(|path| {
            let mut other = address.clone();
            other.set_path(&path);
            let fix = format!("use {other}");
            candidate(format!("the path {path}"), other).shows(Cause::WrongPath, fix)
        })
        .collect()
}

/// The redirect target, if it is on the same host.
fn redirected(address: &Url, problem: &Problem) -> Vec<Candidate> {
    let target = problem.fix.iter().find_map(|line| Url::parse(line.strip_prefix("use ")?).ok());
    let near = target.filter(|target| target.host_str() == address.host_str());
    near.map(|target| candidate("the address it redirects to", target)).into_iter().collect()
}

fn other_scheme(address: &Url, scheme: &str, cause: Cause) -> Option<Candidate> {
    let mut other = address.clone();
    other.set_scheme(scheme).ok()?;
    let fix = format!("use {other}");
    (other != *address).then(|| candidate(format!("{scheme}://"), other).shows(cause, fix))
}

/// The other loopback names.
fn other_names(address: &Url, cause: Cause) -> Vec<Candidate> {
    if !is_this_machine(address) {
        return Vec::new();
    }
    let others = LOCAL_NAMES.iter().filter(|name| address.host_str() != Some(**name));
    others
        .filter_map(|name| {
            let mut other = address.clone();
            other.set_host(Some(name)).ok()?;
            let fix = format!("use {other}");
            Some(candidate(format!("the name {name}"), other).shows(cause, fix))
        })
        .collect()
}

fn without_origin(address: &Url, options: &DoctorOptions) -> Option<Candidate> {
    let mut other = options.clone();
    other.http.extra_headers.remove(header::ORIGIN)?;
    let mut candidate = candidate("without the header `Origin`", address.clone());
    candidate.options = Some(other);
    Some(candidate.shows(Cause::OriginRefused, "leave the header `Origin` out"))
}

fn in_era(address: &Url, speak: RevisionChoice, what: &str) -> Candidate {
    let mut candidate = candidate(what, address.clone());
    candidate.overrides = AttemptOverrides { speak: Some(speak), ..AttemptOverrides::default() };
    candidate
}

fn candidate(what: impl Into<String>, address: Url) -> Candidate {
    let command = format!("trunkline doctor {}", crate::shell::quoted(address.as_str()));
    Candidate::new(what, Target::Url(address), command)
}
