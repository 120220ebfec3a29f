//! The layers and sources of settings.

use crate::{
    excerpt,
    jsonc::{Lines, Place, Position},
    problem::{Code, Problem},
};
use serde::Serialize;
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// The layers, from the lowest to the highest precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    BuiltIn,
    /// The file in the user's configuration directory.
    User,
    /// The file found in the current directory or above it, or the one named explicitly.
    Project,
    Environment,
    Flags,
}

/// One file, or one variable or flag, which is treated as a file with one setting.
#[derive(Clone)]
pub struct Source {
    pub layer: Layer,
    /// The path, or the name of the variable or flag.
    pub label: String,
    pub path: Option<PathBuf>,
    lines: Lines,
}

/// All sources of one reading. A [`Place`] refers to its source by index.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    all: Vec<Source>,
    /// Base directory of relative paths that come from a variable or flag.
    directory: PathBuf,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    pub layer: Layer,
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    pub position: Option<Position>,
}

/// Maximum number of sources.
const MAX_SOURCES: usize = u16::MAX as usize;
/// Maximum length of a line that is shown.
const MAX_SHOWN: usize = 4096;

impl Sources {
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { all: Vec::new(), directory: directory.into() }
    }

    /// Adds a file, and returns its index.
    pub fn file(&mut self, layer: Layer, path: &Path, text: &str) -> u16 {
        self.push(Source {
            layer,
            label: path.display().to_string(),
            path: Some(path.to_owned()),
            lines: Lines::new(text),
        })
    }

    /// Adds a source that is not a file, such as a variable or flag.
    pub fn named(&mut self, layer: Layer, label: &str, text: &str) -> u16 {
        self.push(Source { layer, label: label.to_owned(), path: None, lines: Lines::new(text) })
    }

    fn push(&mut self, source: Source) -> u16 {
        assert!(self.all.len() < MAX_SOURCES, "there are no so many variables");
        self.all.push(source);
        u16::try_from(self.all.len() - 1).expect("bounded above")
    }

    pub fn get(&self, number: u16) -> &Source {
        &self.all[usize::from(number)]
    }

    pub fn origin(&self, place: Place) -> Origin {
        let source = self.get(place.source);
        let position = (source.path.is_some()).then(|| source.lines.position(place.start as usize));
        Origin { layer: source.layer, file: source.label.clone(), position }
    }

    /// The base directory of relative paths at this place.
    pub fn directory(&self, place: Place) -> &Path {
        self.get(place.source).path.as_deref().and_then(Path::parent).unwrap_or(&self.directory)
    }

    /// The directory in which the search for files began.
    pub fn start(&self) -> &Path {
        &self.directory
    }

    /// The source line of a problem, with likely secrets masked; `None` if it is too long to show.
    pub fn line(&self, problem: &Problem) -> Option<String> {
        let source = self.all.iter().find(|source| source.path.is_some() && source.label == problem.file)?;
        source.lines.line(problem.line).filter(|line| line.len() <= MAX_SHOWN).map(excerpt::covered)
    }

    pub(crate) fn problem(&self, code: Code, place: Place, key: &str, message: impl Into<String>) -> Problem {
        let source = self.get(place.source);
        let (mut line, mut column, mut length) = (0, 0, 0);
        if source.path.is_some() {
            let position = source.lines.position(place.start as usize);
            (line, column) = (position.line, position.column);
            let meant = source.lines.text().get(place.range()).unwrap_or_default();
            let meant = meant.lines().next().unwrap_or_default().chars().count();
            length = u32::try_from(meant).unwrap_or(u32::MAX).max(1);
        }
        Problem {
            code,
            severity: code.severity(),
            file: source.label.clone(),
            line,
            column,
            length,
            key: key.to_owned(),
            message: message.into(),
            suggestion: None,
        }
    }
}

/// Omits the text, which may hold secrets.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("layer", &self.layer)
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

impl Layer {
    /// Name of the layer.
    pub fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Flags => "flags",
        }
    }
}

impl Problem {
    #[must_use]
    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// A problem of a whole file, without a line.
    pub(crate) fn of_file(code: Code, file: &Path, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            file: file.display().to_string(),
            line: 0,
            column: 0,
            length: 0,
            key: String::new(),
            message: message.into(),
            suggestion: None,
        }
    }
}
