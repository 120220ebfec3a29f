//! A user with a home directory, who signs in without a browser.

use crate::support::{Run, trunkline};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use trunkline_transport::http::{HttpClient, HttpOptions, Redirects, Target};
use url::Url;

pub(crate) struct User {
    pub(crate) home: tempfile::TempDir,
}

impl User {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let home = self.home.path().to_string_lossy();
        let mut command = trunkline(&[("HOME", &home)]);
        command.args(args).current_dir(self.home.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut self.command(args), "")
    }

    pub(crate) fn login(&self, server: &str, more: &[&str]) -> Run {
        let mut child = self
            .command(&[&["auth", "login", server, "--headless"], more].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stderr.as_mut().unwrap()).lines();
        let page = told.find_map(|line| line.ok().filter(|line| line.trim_start().starts_with("http://")));
        let answer = visit(page.unwrap().trim());
        writeln!(child.stdin.as_mut().unwrap(), "{answer}").unwrap();
        Run::of_child(child)
    }

    /// The only login, as it is stored.
    pub(crate) fn stored(&self) -> Value {
        serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap()
    }

    /// Moves the issued time of the login back, so that its token counts as expired without any
    /// wait.
    pub(crate) fn age(&self) {
        let mut login = self.stored();
        let at = |name: &str| login["tokens"][name].as_u64().unwrap();
        login["tokens"]["issued_at"] = (at("issued_at") - at("lifetime") - 1).into();
        store(&login, &self.file());
    }

    /// The file of the only login.
    pub(crate) fn file(&self) -> PathBuf {
        let folder = fs::read_dir(self.home.path().join(".local/share/trunkline/logins")).unwrap();
        let mut files = folder.map(|entry| entry.unwrap().path());
        files.find(|path| path.extension().is_some_and(|end| end == "json")).unwrap()
    }
}

/// Stores a login in the place of one that may have been removed.
pub(crate) fn store(login: &Value, file: &Path) {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(file).unwrap();
    file.write_all(login.to_string().as_bytes()).unwrap();
}

/// Follows redirects with cookies, as a browser does, up to the one to another origin.
fn visit(page: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = HttpOptions { redirects: Redirects::Returned, ..HttpOptions::default() };
        let client = HttpClient::new(options).unwrap();
        let mut jar = BTreeMap::new();
        let mut at = Url::parse(page).unwrap();
        let origin = at.origin();
        for _ in 0..20 {
            if at.origin() != origin {
                return at.into();
            }
            let cookies: Vec<String> = jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::try_from(cookies.join("; ")).unwrap());
            let target = Target::new(at.clone()).unwrap();
            let response = client.send(Method::GET, &target, headers, Bytes::new()).await.unwrap();
            for cookie in response.headers().get_all(header::SET_COOKIE) {
                let pair = cookie.to_str().unwrap().split(';').next().unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                jar.insert(name.to_owned(), value.to_owned());
            }
            let next = response.headers().get(header::LOCATION).map(|next| next.to_str().unwrap().to_owned());
            at = at.join(&next.unwrap_or_else(|| panic!("{} at {at}", response.status()))).unwrap();
        }
        panic!("too many redirects")
    })
}
