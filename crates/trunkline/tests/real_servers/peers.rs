//! Location, version and start command of the installed servers.

use crate::{
    installed::installed,
    subject::{Furniture, Package, Subject},
};
use serde_json::Value;
use std::{env, fs, path::Path, process::Command};

/// The committer in the repository that `git` serves.
const COMMITTER: [&str; 6] =
    ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];

/// The command that starts a server.
pub(crate) fn words(subject: &Subject, folder: &Path, port: u16) -> Vec<String> {
    subject.words.iter().map(|word| filled(word, folder, port)).collect()
}

/// Replaces the placeholders `{npm}`, `{python}`, `{examples}`, `{servers}`, `{shipped}`,
/// `{rmcp}`, `{folder}` and `{port}`.
pub(crate) fn filled(word: &str, folder: &Path, port: u16) -> String {
    let mut word =
        word.replace("{folder}", &folder.display().to_string()).replace("{port}", &port.to_string());
    for (name, path) in [
        ("{npm}", "npm/node_modules/.bin"),
        ("{python}", "python/bin"),
        ("{examples}", "clients/node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server"),
        ("{servers}", "servers"),
    ] {
        if word.contains(name) {
            word = word.replace(name, &installed(path).display().to_string());
        }
    }
    word.replace("{shipped}/", &shipped("")).replace("{rmcp}", &beside("rmcp-server"))
}

/// A file that comes with the test kit.
pub(crate) fn shipped(name: &str) -> String {
    format!("{}/../testkit/peers/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The version that is installed.
pub(crate) fn version(package: &Package) -> String {
    match package {
        Package::Npm { folder, name } => {
            let file = installed(folder).join("node_modules").join(name).join("package.json");
            let package: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
            package["version"].as_str().unwrap().to_owned()
        }
        Package::Python(name) => {
            let pip = installed("python/bin/python");
            let script = format!("from importlib.metadata import version; print(version('{name}'))");
            let output = Command::new(pip).args(["-c", &script]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        }
        Package::Crate(name) => {
            let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
            let lock = fs::read_to_string(lock).unwrap();
            let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).unwrap();
            rest.split('"').next().unwrap().to_owned()
        }
    }
}

/// Fills a server's folder with the content that it serves.
pub(crate) fn furnish(subject: &Subject, folder: &Path) {
    if matches!(subject.furniture, Furniture::File | Furniture::Repository) {
        fs::write(folder.join("hello.txt"), "hello from a file\n").unwrap();
    }
    if subject.furniture == Furniture::Repository {
        for words in
            [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "--message", "Say hello"]]
        {
            let mut git = Command::new("git");
            git.args(COMMITTER).args(words).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(git.status().unwrap().success(), "git {words:?}");
        }
    }
}

/// A program built by another package.
fn beside(name: &str) -> String {
    Path::new(env!("CARGO_BIN_EXE_trunkline")).with_file_name(name).display().to_string()
}
