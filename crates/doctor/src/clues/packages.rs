//! Reads error output of package runners and container services.

use super::{any, between};
use crate::{cause::Cause, diagnosis::Problem, shell::quoted};
use trunkline_client::CommandLine;

pub(super) fn docker(_: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let down = lower.contains("cannot connect to the docker daemon")
        || lower.contains("is the docker daemon running");
    down.then(|| {
        Problem::new(Cause::DockerNotRunning, "nothing answers that could run a container")
            .fix("sudo systemctl start docker    # or start Docker Desktop")
    })
}

pub(super) fn package(output: &str, lower: &str, line: &CommandLine) -> Option<Problem> {
    let unknown = any(
        lower,
        &[
            "code e404",
            "404 not found - get",
            "is not in this registry",
            "was not found in the package registry",
            "could not find a version that satisfies",
            "code etarget",
            "no matching version found",
        ],
    );
    if !unknown {
        return None;
    }
    let named = between(output, "'", "' is not in this registry")
        .or_else(|| between(output, "No matching version found for ", "."));
    let package =
        named.or_else(|| line.args.iter().find(|arg| !arg.starts_with('-')).cloned()).unwrap_or_default();
    let runner = if line.program.contains("uv") { "pip index versions" } else { "npm view" };
    let problem = Problem::new(Cause::PackageMissing, format!("there is no package `{package}`"));
    Some(problem.fix(format!("{runner} {}    # whether it exists, and in which versions", quoted(&package))))
}

pub(super) fn cache(_: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let npx = lower.contains("_npx")
        && any(
            lower,
            &["enotempty", "cannot find module", "cannot find package", "eexist", "eacces", "erofs"],
        );
    let npm = any(lower, &["eintegrity", "your cache folder contains root-owned files"]);
    let uv = lower.contains("failed to read from the distribution cache")
        || lower.contains("uv cache") && lower.contains("corrupt");
    if uv {
        return Some(
            Problem::new(Cause::PackageCacheBroken, "the cache of uv is broken").fix("uv cache clean"),
        );
    }
    (npx || npm).then(|| {
        Problem::new(Cause::PackageCacheBroken, "the cache of npx is broken")
            .fix("rm -rf ~/.npm/_npx    # it is filled again at the next start")
            .fix("npm cache verify")
    })
}

/// The certificates of this system.
const BUNDLE: &str =
    if cfg!(target_os = "macos") { "/etc/ssl/cert.pem" } else { "/etc/ssl/certs/ca-certificates.crt" };

/// The variables, with their values, by which package runners trust the certificates of the system.
pub(crate) const TRUSTING: [(&str, &str); 4] = [
    ("UV_SYSTEM_CERTS", "true"),
    ("UV_NATIVE_TLS", "true"),
    ("NODE_EXTRA_CA_CERTS", BUNDLE),
    ("PIP_CERT", BUNDLE),
];

pub(super) fn certificate(_: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let npm = any(lower, &["npm err", "npm error"])
        && any(
            lower,
            &["self_signed_cert", "self-signed certificate", "unable_to_get_issuer", "unable_to_verify"],
        );
    let uv = lower.contains("error sending request for url")
        && any(lower, &["invalid peer certificate", "unknownissuer"]);
    let pip = lower.contains("could not fetch url") && lower.contains("certificate_verify_failed");
    let [system, native, node, pip_certificate] = TRUSTING;
    let (name, value) = match (npm, uv, pip) {
        (true, _, _) => node,
        // The option, and with it the variable, was renamed; the hint of uv names the one it has.
        (_, true, _) => {
            if lower.contains("--native-tls") {
                native
            } else {
                system
            }
        }
        (_, _, true) => pip_certificate,
        (false, false, false) => return None,
    };
    let problem = Problem::new(Cause::RegistryCertificate, "the registry's certificate is not trusted");
    let problem = problem.fix(format!("\"env\": {{ \"{name}\": \"{value}\" }}"));
    let about_file =
        "if that does not suffice, name the file with the certificate of your company's authority";
    Some(match value {
        BUNDLE => problem.fix(format!("{about_file} in {name}")),
        _ => problem.fix(format!("{about_file} in SSL_CERT_FILE")),
    })
}

pub(super) fn registry(_: &str, lower: &str, line: &CommandLine) -> Option<Problem> {
    let npm = any(lower, &["npm err", "npm error"])
        && any(lower, &["enotfound", "eai_again", "etimedout", "econnrefused", "econnreset"]);
    let uv = any(
        lower,
        &[
            "error sending request for url",
            "failed to fetch: `http",
            "failed to establish a new connection",
            "could not fetch url",
        ],
    );
    let package = line.args.iter().find(|arg| !arg.starts_with('-')).cloned().unwrap_or_default();
    (npm || uv).then(|| {
        let (install, look) = if uv {
            (format!("uv tool install {package}"), "env | grep -i -e proxy -e UV_")
        } else {
            (format!("npm install -g {package}"), "npm config get registry; npm config get proxy")
        };
        Problem::new(Cause::RegistryUnreachable, "the package registry does not answer")
            .fix(format!("{install}    # once, with the network; then start what was installed"))
            .fix(format!("{look}    # where it looks"))
    })
}
