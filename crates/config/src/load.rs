//! Reads all layers and builds the settings. Only files are read; environment variables are passed
//! in.

use crate::{
    approval::{Approvals, FoundFile},
    disclosure::{Disclosure, disclosed},
    files, jsonc,
    jsonc::{Node, Place},
    keys::{check::check, schema, schema::DEFAULTS},
    layered::{Layered, laid, shorthand_timeouts},
    narrow::{Extent, narrowed, widened_rates},
    problem::{Code, Problem},
    protected,
    regular_file::read_regular_text,
    resolve::{self, Resolved, Shown, Surroundings},
    secret::{Secret, Secrets},
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

/// Everything that loading depends on: directories, environment, flags and the secret store.
#[expect(missing_debug_implementations, reason = "it holds the environment, secrets among it")]
pub struct Inputs<'a> {
    /// Start of the search for the project's file, and base of relative paths in variables and
    /// flags.
    pub directory: PathBuf,
    /// The file to read instead of searching for the project's file; it must exist.
    pub file: Option<PathBuf>,
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
    /// The place of each server's definition.
    pub origins: Origins,
    /// The nearest found file whose current content is not approved.
    pub waiting: Option<FoundFile>,
    /// All values for display, with their origins.
    pub shown: Vec<Shown>,
    /// The resolved values of all texts with references; they are shown as written.
    pub references: Vec<Secret>,
    pub layered: Layered,
    pub warnings: Vec<Problem>,
    /// The files that were read.
    pub read: Vec<PathBuf>,
    /// The named file, else the user's own one; a found one only if there is neither.
    pub foremost: Option<PathBuf>,
    /// The state of all files that affect the settings if they are changed, created or removed,
    /// including files of secrets. For [`Watch`](crate::Watch).
    pub watched: Vec<Seen>,
    /// Files and directories that control the settings, hold records or are run as servers. The
    /// built-in tools must not change them.
    pub guarded: Vec<PathBuf>,
    /// Files and directories with secrets, or with records of all callers. The built-in tools must
    /// neither read nor change them.
    pub private: Vec<PathBuf>,
}

/// Unusable settings, with all their problems.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the configuration has {}", counted(.problems))]
pub struct Rejected {
    /// Errors and warnings, in the order of files and lines.
    pub problems: Vec<Problem>,
    pub sources: Sources,
    pub waiting: Option<FoundFile>,
    pub read: Vec<PathBuf>,
    pub watched: Vec<Seen>,
}

/// The number of errors, in words.
fn counted(problems: &[Problem]) -> String {
    match problems.iter().filter(|problem| problem.is_error()).count() {
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    }
}

/// The judgement of a configuration whose found file may not be approved. There are no settings:
/// nothing may be started or opened with such a file.
#[derive(Debug, Clone)]
pub struct Preview {
    /// Errors and warnings, in the order of files and lines.
    pub problems: Vec<Problem>,
    pub sources: Sources,
    /// The names of enabled servers, and the file that defines each.
    pub servers: Vec<(String, String)>,
    /// The nearest found file whose current content is not approved.
    pub waiting: Option<FoundFile>,
    /// The disclosure of the found file, if there is one.
    pub disclosure: Option<Disclosure>,
    pub read: Vec<PathBuf>,
}

/// Reads all layers. A found file is used if the user approved its current content; otherwise only
/// the restrictions of the content that was approved before stay in force.
pub fn load(inputs: &Inputs<'_>) -> Result<Loaded, Box<Rejected>> {
    let _held_until_all_is_checked = schema();
    read(inputs, Purpose::Use).finish(inputs)
}

/// Reads all layers, and the nearest found file as if it were approved. The references of an
/// unapproved file are not resolved.
pub fn preview(inputs: &Inputs<'_>) -> Preview {
    let _held_until_all_is_checked = schema();
    read(inputs, Purpose::Preview).preview(inputs)
}

/// The use of a found file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Use,
    Preview,
}

fn read(inputs: &Inputs<'_>, purpose: Purpose) -> Reading {
    let mut reading = Reading::new(&inputs.directory);
    if let Some(path) = user_file(inputs) {
        reading.file(Layer::User, &path, Needed::No);
    }
    match &inputs.file {
        Some(file) => reading.file(Layer::Project, &inputs.directory.join(file), Needed::Yes),
        None => reading.find(inputs, purpose),
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
    reading.compare_rates(inputs);
    reading
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
    /// Index of the found file's tree.
    project: Option<usize>,
    /// The source of a found file that is previewed and not approved.
    unapproved: Option<u16>,
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
            project: None,
            unapproved: None,
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
    fn find(&mut self, inputs: &Inputs<'_>, purpose: Purpose) {
        self.watched.extend(inputs.approvals.iter().map(Seen::now));
        let own = user_file(inputs);
        let mut approvals = None;
        let mut before = None;
        for path in inputs.directory.ancestors().map(|directory| directory.join(files::FILE_NAME)) {
            // The user's own file, or a link to it, must not become a second layer.
            if own.as_ref().is_some_and(|own| same_file(own, &path)) {
                continue;
            }
            self.watched.push(Seen::now(&path));
            let text = match read_regular_text(&path, jsonc::MAX_BYTES as u64) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                text => text,
            };
            let approvals = approvals.get_or_insert_with(|| self.approvals(inputs));
            let found = text.ok().map(|text| FoundFile::new(&path, &text));
            let approved = found.as_ref().is_some_and(|found| approvals.has(found));
            if !approved && before.is_none() {
                before = inputs.approvals.as_ref().and_then(|file| approvals.content(file, &path));
            }
            let Some(found) = found else { continue };
            if !approved && self.waiting.is_none() {
                self.waiting = Some(found.clone());
            }
            if approved || purpose == Purpose::Preview {
                self.found(found, inputs);
                break;
            }
        }
        if let Some(before) = before.filter(|_| purpose == Purpose::Use) {
            self.restrict(&before);
        }
    }

    /// Adds the restrictions of a content that was approved before the file was changed.
    /// Otherwise, changing the file would remove them.
    fn restrict(&mut self, before: &FoundFile) {
        let number = self.sources.file(Layer::Project, &before.path, before.text());
        let Ok(tree) = jsonc::parse(before.text(), number) else { return };
        let below = laid(self.trees.clone());
        let (kept, _) = narrowed(&shorthand_timeouts(tree), &below, Extent::Restrictions, &self.sources, "");
        if !kept.entries().is_empty() {
            self.read.push(before.path.clone());
            self.trees.push(kept);
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
    fn found(&mut self, found: FoundFile, inputs: &Inputs<'_>) {
        let Some(tree) = self.parse(Layer::Project, &found.path, found.text()) else { return };
        let tree = shorthand_timeouts(tree);
        if self.waiting.as_ref() == Some(&found) {
            self.unapproved = Some(tree.place.source);
        }
        self.problems.extend(check(&tree, &schema(), "", &self.sources));
        let below = laid(self.trees.clone());
        let (kept, refused) = narrowed(&tree, &below, Extent::All, &self.sources, &instead(inputs));
        self.refuse(refused);
        self.disclosure = Some(disclosed(found, &tree, &self.sources));
        self.project = Some(self.trees.len());
        self.trees.push(kept);
    }

    /// Compares the rates with and without the found file, now that all layers are known.
    fn compare_rates(&mut self, inputs: &Inputs<'_>) {
        let Some(project) = self.project else { return };
        let others = self.trees.iter().enumerate().filter(|(at, _)| *at != project);
        let without = laid(others.map(|(_, tree)| tree.clone()).collect());
        let with = laid(self.trees.clone());
        let both = (&with, &without);
        let wider = widened_rates(&self.trees[project], both, &self.sources, &instead(inputs));
        self.refuse(wider);
    }

    /// Reports refused keys, unless another problem of the same key is known.
    fn refuse(&mut self, refused: Vec<Problem>) {
        for problem in refused {
            if !self.problems.iter().any(|known| known.key == problem.key) {
                self.problems.push(problem);
            }
        }
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

    fn finish(mut self, inputs: &Inputs<'_>) -> Result<Loaded, Box<Rejected>> {
        let (resolved, layered) = self.resolve(inputs);
        let Self { waiting, read, mut watched, .. } = self;
        let mut problems = resolved.problems;
        let secrets: Vec<PathBuf> = resolved.secret_files.iter().map(|seen| seen.path.clone()).collect();
        watched.extend(resolved.secret_files);
        watched.sort_unstable();
        watched.dedup_by(|a, b| a.path == b.path);
        sort(&mut problems, &read);
        match resolved.settings.filter(|_| !problems.iter().any(Problem::is_error)) {
            Some(settings) => Ok(Loaded {
                // The user's own file is read first.
                foremost: if inputs.file.is_some() { read.last() } else { read.first() }.cloned(),
                guarded: protected::guarded(inputs, &settings, &watched),
                private: protected::private(inputs, &settings).chain(secrets).collect(),
                settings,
                origins: resolved.origins,
                waiting,
                shown: resolved.shown,
                references: resolved.references,
                layered,
                warnings: problems,
                read,
                watched,
            }),
            None => Err(Box::new(Rejected { problems, sources: layered.sources, waiting, read, watched })),
        }
    }

    fn preview(mut self, inputs: &Inputs<'_>) -> Preview {
        let (resolved, layered) = self.resolve(inputs);
        let Self { waiting, disclosure, read, .. } = self;
        let mut problems = resolved.problems;
        sort(&mut problems, &read);
        let servers = layered.tree.at(&["mcp", "servers"]).map(Node::entries).unwrap_or_default();
        let servers = servers
            .iter()
            .filter(|server| !resolve::is_disabled(&server.node))
            .map(|server| (server.key.clone(), layered.sources.origin(server.key_place).file));
        let servers = servers.collect();
        Preview { problems, sources: layered.sources, servers, waiting, disclosure, read }
    }

    fn resolve(&mut self, inputs: &Inputs<'_>) -> (Resolved, Layered) {
        let layered = Layered::of(std::mem::take(&mut self.trees), std::mem::take(&mut self.sources));
        let around = Surroundings {
            variables: &inputs.variables,
            secrets: inputs.secrets,
            home: inputs.home.clone(),
            unapproved: self.unapproved,
        };
        (resolve::resolve(&layered, &around, std::mem::take(&mut self.problems)), layered)
    }
}

impl Preview {
    /// Keeps what concerns one file. The other layers were read, because the file may adjust them.
    #[must_use]
    pub fn only(mut self, file: &Path) -> Self {
        let label = file.display().to_string();
        self.problems.retain(|problem| problem.file == label);
        self.read.retain(|read| read == file);
        self.servers.retain(|(_, origin)| *origin == label);
        self
    }

    /// True if there are no errors.
    pub fn is_valid(&self) -> bool {
        !self.problems.iter().any(Problem::is_error)
    }
}

/// The advice about a key that a found file may not set.
fn instead(inputs: &Inputs<'_>) -> String {
    match user_file(inputs) {
        Some(own) => format!("put it into your own file {}", own.display()),
        None => "name the file with --config if you trust it".to_owned(),
    }
}

/// Path of the user's own file, which need not exist.
fn user_file(inputs: &Inputs<'_>) -> Option<PathBuf> {
    inputs.user_directory.as_ref().map(|directory| directory.join(files::FILE_NAME))
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
