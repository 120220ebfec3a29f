//! `Server`: a line of `servers.txt`.
//!
//! A line is the registry, the package, its exact version, and the command line: variables as
//! `NAME=VALUE`, the program, its arguments. `{work}` stands for the folder that the server runs
//! in. Credentials are `none`: listing needs none of them to be valid.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::peers::{Pin, Registry};

const LIST: &str = include_str!("servers.txt");

#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) registry: Registry,
    pub(super) package: &'static str,
    pub(super) version: &'static str,
    environment: Vec<(&'static str, &'static str)>,
    program: &'static str,
    arguments: Vec<&'static str>,
}

/// Returns all servers of the list.
pub(super) fn all() -> Result<Vec<Server>> {
    LIST.lines().map(|line| Server::parse(line).with_context(|| line.to_owned())).collect()
}

impl Server {
    fn parse(line: &'static str) -> Result<Self> {
        let mut words = line.split_whitespace().peekable();
        let registry = match words.next() {
            Some("npm") => Registry::Npm,
            Some("pypi") => Registry::PyPi,
            _ => bail!("a line begins with npm or pypi"),
        };
        let package = words.next().context("a package is missing")?;
        let version = words.next().context("a version is missing")?;
        let mut environment = Vec::new();
        while let Some(pair) = words.peek().and_then(|word| word.split_once('=')) {
            environment.push(pair);
            words.next();
        }
        let program = words.next().context("a program is missing")?;
        Ok(Self { registry, package, version, environment, program, arguments: words.collect() })
    }

    pub(super) fn pin(&self) -> Pin {
        (self.package, self.version)
    }

    /// The name of its folders: the registry and the package, without `/` and `@`.
    pub(super) fn folder(&self) -> String {
        self.to_string().replace(['@', ' '], "-").replace('/', "-").replace("--", "-")
    }

    /// The program in `programs` and its arguments.
    pub(super) fn command(&self, programs: &Path, work: &Path) -> Vec<String> {
        let program = programs.join(self.program).to_string_lossy().into_owned();
        std::iter::once(program).chain(self.arguments.iter().map(|word| in_work(word, work))).collect()
    }

    pub(super) fn environment(&self, work: &Path) -> Vec<(String, String)> {
        self.environment.iter().map(|(name, value)| ((*name).to_owned(), in_work(value, work))).collect()
    }
}

fn in_work(word: &str, work: &Path) -> String {
    word.replace("{work}", &work.to_string_lossy())
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registry = match self.registry {
            Registry::Npm => "npm",
            Registry::PyPi => "pypi",
        };
        write!(f, "{registry} {}", self.package)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::super::PAGE;
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn a_line_is_read_into_its_parts() {
        let server = Server::parse("npm @a/b 1.2.3 KEY=none DIR={work} b --in {work}/x").unwrap();
        assert_eq!(server.to_string(), "npm @a/b");
        assert_eq!(server.folder(), "npm-a-b");
        assert_eq!(server.pin(), ("@a/b", "1.2.3"));
        let work = Path::new("/w");
        assert_eq!(server.command(Path::new("/p"), work), ["/p/b", "--in", "/w/x"]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(server.environment(work), [pair("KEY", "none"), pair("DIR", "/w")]);
    }

    #[test]
    fn at_least_60_servers_are_listed_in_order_with_exact_versions() {
        let servers = all().unwrap();
        assert!(servers.len() >= 60, "only {} servers are listed", servers.len());
        assert!(LIST.lines().is_sorted(), "servers.txt is not sorted");
        let folders: BTreeSet<String> = servers.iter().map(Server::folder).collect();
        assert_eq!(folders.len(), servers.len(), "a server is listed twice");
        for server in &servers {
            let numbers: Vec<&str> = server.version.split('.').collect();
            let exact = numbers.len() >= 3 && numbers.iter().all(|number| number.parse::<u64>().is_ok());
            assert!(exact, "{server} {} is not an exact version", server.version);
        }
    }

    #[test]
    fn the_page_has_a_row_for_every_server_in_its_version() {
        let page = fs::read_to_string(Workspace::find().unwrap().root().join(PAGE)).unwrap();
        let missing: Vec<String> = all()
            .unwrap()
            .iter()
            .map(|server| format!("| {server} | {} |", server.version))
            .filter(|row| !page.contains(row))
            .collect();
        assert!(missing.is_empty(), "{PAGE} lacks {missing:#?}; run cargo xtask strangers --write");
    }
}
