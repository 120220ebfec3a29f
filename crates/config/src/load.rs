//! Reads all layers and builds the settings. Only files are read; environment variables are passed
//! in.

use crate::{
    approval::{Approvals, FoundFile},
    disclosure::{Disclosure, disclosed},
    files, jsonc,
    jsonc::{Node, Place},
    keys::{check::check, schema, schema::DEFAULTS},
    layered::{Layered, laid, shorthand_timeouts},
    narrow::narrowed,
    problem::{Code, Problem},
    programs,
    regular_file::read_regular_text,
    resolve::{self, Shown, Surroundings},
    secret::Secrets,
    settings::{JwksPlace, Origins, Settings},
    source::{Layer, Sources},
    variables,
    watch::Seen,
};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// Everything that loading depends on: directories, environment, flags and the secret store.
#[expect(missing_debug_implementations, reason = "it holds the environment, secrets among it")]
pub struct Inputs<'a> {
    /// Start of the search for the project's file, and base of relative paths in variables and
    /// flags.
    pub directory: PathBuf,
    /// The file to read instead of searching for the project's file; it must exist.
    pub file: Option<PathBuf>,
    /// Handling of a file that was found, not named.
    pub found: FoundFiles,
    /// The file of the user's approvals; without it, no found file is approved.
    pub approvals: Option<PathBuf>,
    /// Trunkline's directory in the user's configuration directory, such as `~/.config/trunkline`.
    pub user_directory: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Environment variables, for settings and references.
    pub variables: BTreeMap<String, String>,
    pub flags: Vec<Flag>,
    pub secrets: &'a dyn Secrets,
}

/// Handling of a file found in the current directory or above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FoundFiles {
    /// Use it if the user approved its current content; otherwise ignore it.
    #[default]
    IfApproved,
    /// Read it as if it were approved. Only for display: nothing may be started or opened with
    /// such settings.
    Preview,
}

/// A setting given on the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Flag {
    /// Name of the option, such as `--listen`.
    pub name: String,
    /// The key it sets, such as `listen`.
    pub key: String,
    pub value: serde_json::Value,
}

/// Usable settings.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub settings: Settings,
    /// Where each server is defined.
    pub origins: Origins,
    /// The nearest found file whose current content is not approved.
    pub waiting: Option<FoundFile>,
    /// The disclosure of the found file, if it was read.
    pub disclosure: Option<Disclosure>,
    /// All values for display, with their origins.
    pub shown: Vec<Shown>,
    pub layered: Layered,
    pub warnings: Vec<Problem>,
    /// The files that were read.
    pub read: Vec<PathBuf>,
    /// The state of all files that affect the settings if they are changed, created or removed,
    /// including files of secrets. For [`Watch`](crate::Watch).
    pub watched: Vec<Seen>,
    /// Files and directories that control the settings, hold records or are run as servers. The
    /// built-in tools must not change them.
    pub guarded: Vec<PathBuf>,
}

/// Unusable settings, with all their problems.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the configuration has {} problems", .problems.iter().filter(|problem| problem.is_error()).count())]
pub struct Rejected {
    /// Errors and warnings, in the order of files and lines.
    pub problems: Vec<Problem>,
    pub sources: Sources,
    pub waiting: Option<FoundFile>,
    pub read: Vec<PathBuf>,
    pub watched: Vec<Seen>,
}

/// Reads all layers.
pub fn load(inputs: &Inputs<'_>) -> Result<Loaded, Box<Rejected>> {
    let _held_until_all_is_checked = schema();
    let mut reading = Reading::new(&inputs.directory);
    if let Some(path) = user_file(inputs) {
        reading.file(Layer::User, &path, Needed::No);
    }
    match &inputs.file {
        Some(file) => reading.file(Layer::Project, &inputs.directory.join(file), Needed::Yes),
        None => reading.find(inputs),
    }
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

/// Maximum number of values in a configuration file: more than a real one has, and few enough to
/// report a problem for each.
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
    waiting: Option<FoundFile>,
    disclosure: Option<Disclosure>,
    read: Vec<PathBuf>,
    watched: Vec<Seen>,
}

impl Reading {
    fn new(directory: &Path) -> Self {
        let mut sources = Sources::new(directory);
        let number = sources.named(Layer::BuiltIn, "built-in defaults", DEFAULTS);
        let defaults = jsonc::parse(DEFAULTS, number).expect("the built-in layer is sound");
        Self {
            sources,
            trees: vec![defaults],
            problems: Vec::new(),
            waiting: None,
            disclosure: None,
            read: Vec::new(),
            watched: Vec::new(),
        }
    }

    /// Finds the nearest approved file in the directory or above it. Unapproved files are ignored,
    /// so that a new file nearby cannot disable the approved one. Each candidate path is watched,
    /// because a file may be created there.
    fn find(&mut self, inputs: &Inputs<'_>) {
        self.watched.extend(inputs.approvals.iter().map(Seen::now));
        let own = user_file(inputs);
        let mut approvals = None;
        for path in inputs.directory.ancestors().map(|directory| directory.join(files::FILE_NAME)) {
            // The user's own file may be above the project; it must not become a second layer.
            if own.as_ref().is_some_and(|own| same_file(own, &path)) {
                break;
            }
            self.watched.push(Seen::now(&path));
            let Ok(text) = read_regular_text(&path, jsonc::MAX_BYTES as u64) else { continue };
            let found = FoundFile::new(&path, &text);
            let approved = approvals.get_or_insert_with(|| self.approvals(inputs)).has(&found);
            if !approved && self.waiting.is_none() {
                self.waiting = Some(found.clone());
            }
            if approved || inputs.found == FoundFiles::Preview {
                return self.found(found, &text, inputs);
            }
        }
    }

    /// The approvals. If they cannot be read, there are none, and a problem is reported.
    fn approvals(&mut self, inputs: &Inputs<'_>) -> Approvals {
        let Some(path) = &inputs.approvals else { return Approvals::default() };
        Approvals::read(path).unwrap_or_else(|error| {
            let reason = format!("the file of approvals cannot be read: {error}");
            self.problems.push(Problem::of_file(Code::Unreadable, path, reason));
            Approvals::default()
        })
    }

    /// Adds the part of a found file that a project is allowed to set.
    fn found(&mut self, found: FoundFile, text: &str, inputs: &Inputs<'_>) {
        let Some(tree) = self.parse(Layer::Project, &found.path, text) else { return };
        let tree = shorthand_timeouts(tree);
        let instead = match user_file(inputs) {
            Some(own) => format!("put it into your own file {}", own.display()),
            None => "name the file with --config if you trust it".to_owned(),
        };
        self.problems.extend(check(&tree, &schema(), "", &self.sources));
        let (kept, refused) = narrowed(&tree, &laid(self.trees.clone()), &self.sources, &instead);
        let known = |problem: &Problem| self.problems.iter().any(|known| known.key == problem.key);
        let refused: Vec<Problem> = refused.into_iter().filter(|problem| !known(problem)).collect();
        self.problems.extend(refused);
        self.disclosure = Some(disclosed(found, &tree, &self.sources));
        self.trees.push(kept);
    }

    fn file(&mut self, layer: Layer, path: &Path, needed: Needed) {
        self.watched.push(Seen::now(path));
        match read_regular_text(path, jsonc::MAX_BYTES as u64) {
            Ok(text) => {
                if let Some(tree) = self.parse(layer, path, &text) {
                    self.take(tree);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && needed == Needed::No => {}
            Err(error) => {
                let reason = format!("the file cannot be read: {error}");
                self.problems.push(Problem::of_file(Code::Unreadable, path, reason));
            }
        }
    }

    /// Parses the text of a file, and reports its problems.
    fn parse(&mut self, layer: Layer, path: &Path, text: &str) -> Option<Node> {
        self.read.push(path.to_owned());
        let number = self.sources.file(layer, path, text);
        if files::others_can_write(path) {
            let problem = Problem::of_file(
                Code::OpenFile,
                path,
                "others can change this file, and with it the commands that are run",
            );
            self.problems.push(problem.suggest(format!("chmod go-w {}", path.display())));
        }
        match jsonc::parse(text, number) {
            Ok(tree) if tree.count() > MAX_VALUES => {
                let reason = format!("the file holds more than {MAX_VALUES} values");
                self.problems.push(self.sources.problem(Code::Syntax, tree.place, "", reason));
                None
            }
            Ok(tree) => Some(tree),
            Err(errors) => {
                for error in errors {
                    let (code, key) = match error.duplicate {
                        Some(key) => (Code::DuplicateKey, key),
                        None => (Code::Syntax, String::new()),
                    };
                    self.problems.push(self.sources.problem(code, error.place, &key, error.reason));
                }
                None
            }
        }
    }

    /// Checks a tree, and adds it as a layer even if it has problems, so that later checks can
    /// report further ones.
    fn take(&mut self, tree: Node) {
        self.problems.extend(check(&tree, &schema(), "", &self.sources));
        self.trees.push(tree);
    }

    fn finish(self, inputs: &Inputs<'_>) -> Result<Loaded, Box<Rejected>> {
        let Self { sources, trees, problems, waiting, disclosure, read, mut watched } = self;
        let layered = Layered::of(trees, sources);
        let around =
            Surroundings { variables: &inputs.variables, secrets: inputs.secrets, home: inputs.home.clone() };
        let resolved = resolve::resolve(&layered, &around, problems);
        let mut problems = resolved.problems;
        watched.extend(resolved.secret_files);
        watched.sort_unstable();
        watched.dedup_by(|a, b| a.path == b.path);
        sort(&mut problems, &read);
        match resolved.settings.filter(|_| !problems.iter().any(Problem::is_error)) {
            Some(settings) => Ok(Loaded {
                guarded: guarded(inputs, &settings, &watched),
                settings,
                origins: resolved.origins,
                waiting,
                disclosure,
                shown: resolved.shown,
                layered,
                warnings: problems,
                read,
                watched,
            }),
            None => Err(Box::new(Rejected { problems, sources: layered.sources, waiting, read, watched })),
        }
    }
}

/// Path of the user's own file, which need not exist.
fn user_file(inputs: &Inputs<'_>) -> Option<PathBuf> {
    inputs.user_directory.as_ref().map(|directory| directory.join(files::FILE_NAME))
}

fn guarded(inputs: &Inputs<'_>, settings: &Settings, watched: &[Seen]) -> Vec<PathBuf> {
    let state = inputs.approvals.as_deref().and_then(Path::parent).map(Path::to_owned);
    let jwks = settings.auth.jwt.as_ref().and_then(|jwt| match &jwt.jwks {
        JwksPlace::File(path) => Some(path.clone()),
        JwksPlace::Url(_) => None,
    });
    let named = [
        inputs.user_directory.clone(),
        state,
        settings.auth.keys.clone(),
        jwks,
        settings.audit.directory.clone(),
        settings.access_log.file.clone(),
    ];
    let watched = watched.iter().map(|seen| seen.path.clone());
    let programs = programs::files(settings, &inputs.variables);
    named.into_iter().flatten().chain(watched).chain(programs).collect()
}

fn same_file(one: &Path, other: &Path) -> bool {
    one == other || fs::canonicalize(one).ok().zip(fs::canonicalize(other).ok()).is_some_and(|(a, b)| a == b)
}

/// Sorts by file, line and column, and removes duplicates.
fn sort(problems: &mut Vec<Problem>, files: &[PathBuf]) {
    let rank = |problem: &Problem| {
        files.iter().position(|file| file.display().to_string() == problem.file).unwrap_or(usize::MAX)
    };
    problems.sort_by_key(|problem| (rank(problem), problem.line, problem.column));
    problems.dedup();
}
