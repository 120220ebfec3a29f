//! Test peers: foreign MCP servers and clients, and the official conformance suites, installed
//! into `target/peers`.
//!
//! A *group* is a folder of `target/peers` that is installed as a whole. Its file `installed`
//! holds the pinned list it was made from and is written last, so an incomplete or outdated group
//! is installed again.

mod crates;
mod debian;
mod group;
mod npm;
mod pins;
mod python;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use group::Group;

pub(crate) use pins::{Pin, SUITE_CURRENT, SUITE_STABLE};

/// Installed test peers.
#[derive(Debug, Clone)]
pub(crate) struct Peers {
    root: PathBuf,
}

/// The installed linters of others, and their versions.
#[derive(Debug, Clone)]
pub(crate) struct Linters {
    pub(crate) mcp_doctor: PathBuf,
    pub(crate) mcplint: PathBuf,
    /// The Inspector's entry file, and the Node that runs it.
    pub(crate) inspector: PathBuf,
    pub(crate) node: PathBuf,
    pub(crate) versions: LinterVersions,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct LinterVersions {
    pub(crate) mcp_doctor: &'static str,
    pub(crate) mcplint: &'static str,
    pub(crate) inspector: &'static str,
}

/// Installs what is missing or out of date under `root`; several groups at a time.
pub(crate) fn install(root: &Path) -> Result<Peers> {
    install_groups(root, groups()?)?;
    let peers = Peers::at(root);
    peers.check()?;
    Ok(peers)
}

/// Installs the linters that ours is compared with, which takes long: two of them are built from
/// source.
pub(crate) fn install_linters(root: &Path) -> Result<Linters> {
    let clients = Group::npm("clients", &pins::CLIENTS);
    install_groups(root, vec![Group::krate(pins::MCP_DOCTOR), Group::krate(pins::MCPLINT), clients])?;
    let program = |(name, _): pins::Pin| root.join(name).join("bin").join(name);
    let inspector = pins::CLIENTS.into_iter().find(|(name, _)| name.ends_with("/inspector"));
    let (_, inspector) = inspector.context("the Inspector is pinned")?;
    Ok(Linters {
        mcp_doctor: program(pins::MCP_DOCTOR),
        mcplint: program(pins::MCPLINT),
        inspector: root.join("clients/node_modules/.bin").join(pins::CLIENT_PROGRAM),
        node: Peers::at(root).node()?,
        versions: LinterVersions { mcp_doctor: pins::MCP_DOCTOR.1, mcplint: pins::MCPLINT.1, inspector },
    })
}

/// The Pythons of the converters that ours is measured beside.
#[derive(Debug, Clone)]
pub(crate) struct Converters {
    pub(crate) docling: PathBuf,
    pub(crate) markitdown: PathBuf,
}

/// Installs converters of documents.
pub(crate) fn install_converters(root: &Path) -> Result<Converters> {
    let [docling, markitdown] = ["docling", "markitdown"].map(|group| root.join(group).join("bin/python"));
    let groups =
        vec![Group::python("docling", &pins::DOCLING), Group::python("markitdown", &pins::MARKITDOWN)];
    install_groups(root, groups)?;
    Ok(Converters { docling, markitdown })
}

/// The programs of `bench tls`, and the folder of the libraries that a bare system lacks.
#[derive(Debug, Clone)]
pub(crate) struct TlsTools {
    pub(crate) nginx: PathBuf,
    pub(crate) wrk: PathBuf,
    pub(crate) openssl: PathBuf,
    pub(crate) libraries: String,
}

/// Installs a web server and a load generator that speak TLS.
pub(crate) fn install_tls_tools(root: &Path) -> Result<TlsTools> {
    install_groups(root, vec![Group::debian("tls", &pins::TLS, &pins::TLS_PROGRAMS)])?;
    let program = |name: &str| {
        let places = ["usr/sbin", "usr/bin"].map(|place| root.join("tls").join(place).join(name));
        places.into_iter().find(|place| place.exists()).with_context(|| format!("{name} is missing"))
    };
    let libraries = root.join("tls/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    Ok(TlsTools {
        nginx: program("nginx")?,
        wrk: program("wrk")?,
        openssl: program("openssl")?,
        libraries: libraries.display().to_string(),
    })
}

/// A registry of packages that are servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registry {
    Npm,
    PyPi,
}

/// Installs one package into the folder `name` of `root` unless this version is there; returns
/// the folder of its programs.
pub(crate) fn install_package(root: &Path, name: &str, registry: Registry, pin: Pin) -> Result<PathBuf> {
    let (group, programs) = match registry {
        Registry::Npm => (Group::npm(name, &[pin]), "node_modules/.bin"),
        Registry::PyPi => (Group::python(name, &[pin]), "bin"),
    };
    if !group.is_current(root) {
        fs::create_dir_all(root.join("log"))?;
        group.install(root)?;
    }
    Ok(root.join(name).join(programs))
}

fn install_groups(root: &Path, groups: Vec<Group>) -> Result<()> {
    fs::create_dir_all(root.join("log")).with_context(|| format!("{} cannot be made", root.display()))?;
    let lock = File::create(root.join("lock"))?;
    lock.lock().context("the peers' lock could not be taken")?;

    let outdated: Vec<Group> = groups.into_iter().filter(|group| !group.is_current(root)).collect();
    let failures = thread::scope(|scope| {
        let running: Vec<_> = outdated.iter().map(|group| scope.spawn(move || group.install(root))).collect();
        let results = running.into_iter().map(|one| one.join().unwrap_or_else(|_| Err(anyhow!("panicked"))));
        outdated
            .iter()
            .zip(results)
            .filter_map(|(group, result)| result.err().map(|error| format!("{}: {error:#}", group.name())))
            .collect::<Vec<_>>()
    });
    if !failures.is_empty() {
        bail!("test peers could not be installed\n  {}", failures.join("\n  "));
    }
    Ok(())
}

impl Peers {
    /// Returns the peers of a folder, without checking that they are installed.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Returns a Node that is new enough for the conformance suites.
    pub(crate) fn node(&self) -> Result<PathBuf> {
        if let Some(node) = npm::system_node()? {
            return Ok(node);
        }
        let (package, _) = pins::node_package()?;
        Ok(self.root.join("node22/node_modules").join(package).join("bin/node"))
    }

    /// The entry file of a conformance suite.
    pub(crate) fn suite(&self, version: &str) -> PathBuf {
        self.root.join(suite_folder(version)).join("node_modules").join(pins::SUITE).join("dist/index.js")
    }

    /// Checks that the programs that tests start are there, so that no test fails later without
    /// them.
    fn check(&self) -> Result<()> {
        let mut wanted = vec![self.suite(SUITE_CURRENT), self.suite(SUITE_STABLE), self.node()?];
        wanted.extend(pins::NPM_PROGRAMS.map(|name| self.root.join("npm/node_modules/.bin").join(name)));
        wanted.push(self.root.join("clients/node_modules/.bin").join(pins::CLIENT_PROGRAM));
        wanted.extend(pins::PYTHON_PROGRAMS.map(|name| self.root.join("python/bin").join(name)));
        wanted.push(self.root.join("docling/bin").join(pins::DOCLING_PROGRAM));
        wanted.extend(pins::DEBIAN_PROGRAMS.map(|name| self.root.join("debian/usr/bin").join(name)));
        wanted.extend(pins::OCR_PROGRAMS.map(|name| self.root.join("ocr/usr/bin").join(name)));
        wanted.extend(pins::KEYCHAIN_PROGRAMS.map(|name| self.root.join("keychain/usr/bin").join(name)));
        for file in wanted {
            if !file.exists() {
                bail!("{} is missing although its group was installed; delete target/peers", file.display());
            }
        }
        Ok(())
    }
}

fn groups() -> Result<Vec<Group>> {
    let mut groups = vec![
        Group::npm("npm", &pins::NPM),
        Group::npm("clients", &pins::CLIENTS),
        Group::npm("servers", &pins::SERVERS),
        Group::npm("authority", &pins::AUTHORITY),
        Group::npm("web", &pins::WEB),
        Group::python("rest", &pins::REST),
        Group::npm(&suite_folder(SUITE_CURRENT), &[(pins::SUITE, SUITE_CURRENT)]),
        Group::npm(&suite_folder(SUITE_STABLE), &[(pins::SUITE, SUITE_STABLE)]),
        Group::python("python", &pins::PYTHON),
        Group::python("docling", &pins::DOCLING),
        Group::debian("debian", &pins::DEBIAN, &pins::DEBIAN_PROGRAMS),
        Group::debian("ocr", &pins::OCR, &pins::OCR_PROGRAMS),
        Group::debian("keychain", &pins::KEYCHAIN, &pins::KEYCHAIN_PROGRAMS),
        Group::debian("browser", &pins::BROWSER, &pins::BROWSER_PROGRAMS),
    ];
    if npm::system_node()?.is_none() {
        groups.push(Group::npm("node22", &[pins::node_package()?]));
    }
    Ok(groups)
}

fn suite_folder(version: &str) -> String {
    format!("conformance-{version}")
}

/// Returns a program's output; `None` if it does not start or fails.
fn answer_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
