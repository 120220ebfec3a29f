//! Reads all layers and makes settings of them. Only files are read here; what the environment holds is given.

use crate::{
    approval::{self, Approvals, Fingerprint},
    files, jsonc,
    jsonc::{Node, Place},
    keys::{check::check, schema, schema::DEFAULTS},
    layered::Layered,
    problem::{Code, Problem},
    resolve::{self, Shown, Surroundings},
    secret::Secrets,
    settings::{Origins, Settings},
    source::{Layer, Sources},
    variables,
    watch::Seen,
};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};
use trunkline_protocol::ServerName;

/// Where to look, and what is given besides files.
#[expect(missing_debug_implementations, reason = "it holds the environment, secrets among it")]
pub struct Inputs<'a> {
    /// Where the search for the project's file begins, and relative paths that stand in no file.
    pub directory: PathBuf,
    /// The file that takes the place of the one found upwards; it must be there.
    pub file: Option<PathBuf>,
    /// The user's configuration directory of ours, such as `~/.config/trunkline`.
    pub user_directory: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// The environment: settings among it, and what references stand for.
    pub variables: BTreeMap<String, String>,
    pub flags: Vec<Flag>,
    pub secrets: &'a dyn Secrets,
}

/// A setting that was given on the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Flag {
    /// As it is typed, such as `--listen`.
    pub name: String,
    /// The key it sets, such as `listen`.
    pub key: String,
    pub value: serde_json::Value,
}

/// Settings that can be used.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub settings: Settings,
    /// Where each server is defined.
    pub origins: Origins,
    /// The launches that a project's file asks for which was merely found; see [`Approvals`].
    pub asked: BTreeMap<ServerName, Fingerprint>,
    /// Every value as it may be shown, and where it came from.
    pub shown: Vec<Shown>,
    pub layered: Layered,
    pub warnings: Vec<Problem>,
    /// The files that were read.
    pub read: Vec<PathBuf>,
    /// The files that would change the settings if they changed, appeared or vanished, as they were. Secrets that are
    /// kept in files are among them. [`Watch`](crate::Watch) takes them.
    pub watched: Vec<Seen>,
}

/// Settings that cannot be used: everything that is wrong with them.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the configuration has {} problems", .problems.iter().filter(|problem| problem.is_error()).count())]
pub struct Rejected {
    /// Errors and warnings, in the order of files and lines.
    pub problems: Vec<Problem>,
    pub sources: Sources,
    pub read: Vec<PathBuf>,
    pub watched: Vec<Seen>,
}

impl Loaded {
    /// The servers that wait for somebody to agree to how they are launched. They must not be started before.
    pub fn unapproved(&self, approvals: &Approvals) -> Vec<ServerName> {
        let waits = |(name, asked): (&ServerName, &Fingerprint)| {
            (self.settings.servers.contains_key(name) && !approvals.has(asked)).then(|| name.clone())
        };
        self.asked.iter().filter_map(waits).collect()
    }
}

/// Reads all layers.
pub fn load(inputs: &Inputs<'_>) -> Result<Loaded, Box<Rejected>> {
    let _held_until_all_is_checked = schema();
    let mut reading = Reading::new(&inputs.directory);
    if let Some(directory) = &inputs.user_directory {
        reading.file(Layer::User, &directory.join(files::FILE_NAME), Needed::No);
    }
    reading.project(inputs);
    let (trees, problems) = variables::layer(&inputs.variables, &mut reading.sources);
    reading.problems.extend(problems);
    for tree in trees {
        reading.take(tree);
    }
    for flag in &inputs.flags {
        let number = reading.sources.named(Layer::Flags, &flag.name, "");
        let place = Place { source: number, start: 0, end: 0 };
        reading.take(variables::single(&flag.key, Node::from_json(flag.value.clone(), place)));
    }
    reading.finish(inputs)
}

/// How many values a file of ours may hold: more than anybody writes, and few enough to say what is wrong with each.
const MAX_VALUES: usize = 20_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    Yes,
    No,
}

struct Reading {
    sources: Sources,
    trees: Vec<Node>,
    problems: Vec<Problem>,
    read: Vec<PathBuf>,
    watched: Vec<Seen>,
}

impl Reading {
    fn new(directory: &Path) -> Self {
        let mut sources = Sources::new(directory);
        let number = sources.named(Layer::BuiltIn, "built-in defaults", DEFAULTS);
        let defaults = jsonc::parse(DEFAULTS, number).expect("the built-in layer is sound");
        Self { sources, trees: vec![defaults], problems: Vec::new(), read: Vec::new(), watched: Vec::new() }
    }

    /// The file that was named, or the nearest one upwards. One that appears nearer would count from then on.
    fn project(&mut self, inputs: &Inputs<'_>) {
        if let Some(file) = &inputs.file {
            return self.file(Layer::Project, &inputs.directory.join(file), Needed::Yes);
        }
        let found = files::find_upwards(&inputs.directory);
        for directory in inputs.directory.ancestors() {
            let path = directory.join(files::FILE_NAME);
            if found.as_ref() == Some(&path) {
                // The user's own file may lie above the project; it is one layer, not two.
                if !self.read.contains(&path) {
                    self.file(Layer::Project, &path, Needed::No);
                }
                break;
            }
            self.watched.push(Seen::now(path));
        }
    }

    fn file(&mut self, layer: Layer, path: &Path, needed: Needed) {
        self.watched.push(Seen::now(path));
        let text = match read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && needed == Needed::No => return,
            Err(error) => {
                return self.problems.push(Problem::of_file(
                    Code::Unreadable,
                    path,
                    format!("the file cannot be read: {error}"),
                ));
            }
        };
        self.read.push(path.to_owned());
        let number = self.sources.file(layer, path, &text);
        if files::others_can_write(path) {
            let problem = Problem::of_file(
                Code::OpenFile,
                path,
                "others can change this file, and with it the commands that are run",
            );
            self.problems.push(problem.suggest(format!("chmod go-w {}", path.display())));
        }
        match jsonc::parse(&text, number) {
            Ok(tree) if tree.count() > MAX_VALUES => {
                let reason = format!("the file holds more than {MAX_VALUES} values");
                self.problems.push(self.sources.problem(Code::Syntax, tree.place, "", reason));
            }
            Ok(tree) => self.take(tree),
            Err(errors) => {
                for error in errors {
                    let (code, key) = match error.duplicate {
                        Some(key) => (Code::DuplicateKey, key),
                        None => (Code::Syntax, String::new()),
                    };
                    self.problems.push(self.sources.problem(code, error.place, &key, error.reason));
                }
            }
        }
    }

    /// Checks a tree by itself, and lays it over the others even so: what else is wrong is to be told, too.
    fn take(&mut self, tree: Node) {
        self.problems.extend(check(&tree, &schema(), "", &self.sources));
        self.trees.push(tree);
    }

    fn finish(self, inputs: &Inputs<'_>) -> Result<Loaded, Box<Rejected>> {
        let Self { sources, trees, problems, read, mut watched } = self;
        let layered = Layered::of(trees, sources);
        let around =
            Surroundings { variables: &inputs.variables, secrets: inputs.secrets, home: inputs.home.clone() };
        let resolved = resolve::resolve(&layered, &around, problems);
        let mut problems = resolved.problems;
        let asked = if inputs.file.is_some() { BTreeMap::new() } else { approval::fingerprints(&layered) };
        watched.extend(resolved.secret_files);
        watched.sort_unstable();
        watched.dedup_by(|a, b| a.path == b.path);
        sort(&mut problems, &read);
        match resolved.settings.filter(|_| !problems.iter().any(Problem::is_error)) {
            Some(settings) => Ok(Loaded {
                settings,
                origins: resolved.origins,
                asked,
                shown: resolved.shown,
                layered,
                warnings: problems,
                read,
                watched,
            }),
            None => Err(Box::new(Rejected { problems, sources: layered.sources, read, watched })),
        }
    }
}

fn read(path: &Path) -> io::Result<String> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if about.len() > jsonc::MAX_BYTES as u64 {
        return Err(io::Error::other(format!("it is larger than {} bytes", jsonc::MAX_BYTES)));
    }
    fs::read_to_string(path)
}

/// In the order of files, lines and columns; each only once.
fn sort(problems: &mut Vec<Problem>, files: &[PathBuf]) {
    let rank = |problem: &Problem| {
        files.iter().position(|file| file.display().to_string() == problem.file).unwrap_or(usize::MAX)
    };
    problems.sort_by_key(|problem| (rank(problem), problem.line, problem.column));
    problems.dedup();
}
