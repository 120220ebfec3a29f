//! `cargo xtask bench documents FOLDER`: our converter beside markitdown and docling, over a folder
//! of documents with ground truth, in one run.
//!
//! The folder has sets, and a set has `<format>/sources/<file>` and `<format>/groundtruth`. A
//! program `score.py` in the folder, or another with `--scorer`, compares `<format>/<file>.md` and
//! `.json` with the ground truth; without one, only speed and memory are measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::arguments::Arguments;
use crate::peers::{self, Converters};
use crate::process;
use crate::workspace::Workspace;

/// Converts with the other converters, and measures commands.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/commands/bench/documents.py");
const FORMATS: [&str; 5] = ["docx", "xlsx", "pptx", "html", "pdf"];

/// The converters that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Trunkline,
    Markitdown,
    Docling,
}

/// The CPU time and memory of one command.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Used {
    status: i32,
    cpu: f64,
    /// Peak memory of the largest process, in bytes.
    peak: f64,
}

/// The figures of one tool and one format, over all sets.
#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    documents: f64,
    cpu: f64,
    peak: f64,
}

struct Bench {
    program: PathBuf,
    converters: Converters,
    out: PathBuf,
}

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let program = arguments.value("--program")?.map(PathBuf::from);
    let scorer = arguments.value("--scorer")?.map(PathBuf::from);
    let folder = arguments.word().map(PathBuf::from);
    arguments.finish()?;
    let folder = folder.context("expected the folder of documents: cargo xtask bench documents FOLDER")?;
    let sets = sets(&folder)?;
    let program = if let Some(program) = program {
        program
    } else {
        process::run(&mut workspace.cargo(&["build", "--release", "--package", "trunkline"]))?;
        workspace.target().join("release/trunkline")
    };
    let scorer = scorer.unwrap_or_else(|| folder.join("score.py"));
    let out = workspace.target().join("documents");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let bench = Bench { program, converters: peers::install_converters(&workspace.peers())?, out };
    let mut rows = Vec::new();
    for tool in [Tool::Trunkline, Tool::Markitdown, Tool::Docling] {
        let idle = bench.idle(tool)?;
        for format in FORMATS {
            if let Some(figures) = bench.all(tool, format, &sets, idle)? {
                rows.push((tool, format, figures));
            }
        }
        for set in sets.iter().filter(|_| scorer.exists()) {
            println!("\n{} on {}", tool.name(), name(set));
            let mut score = Command::new(&bench.converters.docling);
            process::run(score.arg(&scorer).arg(bench.produced(tool, set)).arg("--gt").arg(set))?;
        }
    }
    println!("\n{}", table(&rows));
    Ok(())
}

impl Bench {
    fn produced(&self, tool: Tool, set: &Path) -> PathBuf {
        self.out.join(tool.name()).join(name(set))
    }

    /// The cost of a run without documents: start and imports, which are no part of the figures.
    fn idle(&self, tool: Tool) -> Result<f64> {
        let empty = self.out.join("empty");
        fs::create_dir_all(&empty)?;
        match tool {
            // Every conversion is a process of its own, so its start is a part of the figures.
            Tool::Trunkline => Ok(0.0),
            Tool::Markitdown | Tool::Docling => Ok(self.measured(&self.command(tool, &empty, &empty))?.cpu),
        }
    }

    fn all(&self, tool: Tool, format: &str, sets: &[PathBuf], idle: f64) -> Result<Option<Figures>> {
        // docling needs models for PDF.
        if (tool, format) == (Tool::Docling, "pdf") {
            return Ok(None);
        }
        let mut figures = Figures::default();
        for set in sets {
            let sources = set.join(format).join("sources");
            if !sources.is_dir() {
                continue;
            }
            let out = self.produced(tool, set).join(format);
            fs::create_dir_all(&out)?;
            let used = self.measured(&self.command(tool, &sources, &out))?;
            figures.documents += fs::read_dir(&sources)?.fold(0.0, |count, _| count + 1.0);
            figures.cpu += (used.cpu - idle).max(0.0);
            figures.peak = figures.peak.max(used.peak);
            if tool == Tool::Trunkline {
                name_as_sources(&sources, &out)?;
                let json = self.out.join("json");
                self.measured(&[self.command(tool, &sources, &json), words(["--to", "json"])].concat())?;
                name_as_sources(&sources, &json)?;
                move_all(&json, &out)?;
            }
        }
        Ok((figures.documents > 0.0).then_some(figures))
    }

    fn command(&self, tool: Tool, sources: &Path, out: &Path) -> Vec<String> {
        let [sources, out] = [sources, out].map(|path| path.display().to_string());
        let python = match tool {
            Tool::Trunkline => {
                let program = self.program.display().to_string();
                return words([&program, "convert", &sources, "--out", &out, "--force"]);
            }
            Tool::Markitdown => &self.converters.markitdown,
            Tool::Docling => &self.converters.docling,
        };
        words([&python.display().to_string(), SCRIPT, tool.name(), &sources, &out])
    }

    fn measured(&self, command: &[String]) -> Result<Used> {
        let mut measure = Command::new(&self.converters.docling);
        let output = measure.arg(SCRIPT).arg("measure").args(command).output()?;
        let used: Used = serde_json::from_slice(&output.stdout).with_context(|| {
            format!("{} was not measured: {}", command.join(" "), String::from_utf8_lossy(&output.stderr))
        })?;
        // 1: some documents failed, which the scorer counts.
        if ![0, 1].contains(&used.status) {
            bail!("{} failed: {}", command.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(used)
    }
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Trunkline => "trunkline",
            Self::Markitdown => "markitdown",
            Self::Docling => "docling",
        }
    }
}

/// The folder itself if it is a set, or else the sets in it.
fn sets(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_set = |set: &Path| FORMATS.iter().any(|format| set.join(format).join("sources").is_dir());
    let folder = folder.canonicalize().with_context(|| format!("{} cannot be read", folder.display()))?;
    if is_set(&folder) {
        return Ok(vec![folder]);
    }
    let mut sets = Vec::new();
    for entry in fs::read_dir(&folder)? {
        sets.push(entry?.path());
    }
    sets.retain(|set| is_set(set));
    sets.sort();
    if sets.is_empty() {
        bail!("{} has no <format>/sources, and no folder in it has", folder.display());
    }
    Ok(sets)
}

/// Renames `report.md` to `report.docx.md`.
fn name_as_sources(sources: &Path, out: &Path) -> Result<()> {
    for source in fs::read_dir(sources)? {
        let source = PathBuf::from(source?.file_name());
        for kind in ["md", "json"] {
            let written = out.join(source.with_extension(kind));
            if written.exists() {
                fs::rename(written, out.join(format!("{}.{kind}", source.display())))?;
            }
        }
    }
    Ok(())
}

fn move_all(from: &Path, to: &Path) -> Result<()> {
    for file in fs::read_dir(from)? {
        let file = file?;
        fs::rename(file.path(), to.join(file.file_name()))?;
    }
    Ok(())
}

fn table(rows: &[(Tool, &str, Figures)]) -> String {
    let mut text = "format  converter   documents  per CPU second  to ours  peak MB\n".to_owned();
    for format in FORMATS {
        let speed = |figures: &Figures| figures.documents / figures.cpu.max(1e-6);
        let of_format = || rows.iter().filter(|(_, found, _)| *found == format);
        let ours = of_format().find(|(tool, ..)| *tool == Tool::Trunkline).map(|(.., own)| speed(own));
        for (tool, _, figures) in of_format() {
            let share = ours.map_or(1.0, |ours| speed(figures) / ours);
            let row = format!(
                "{format:<7} {:<11} {:>9.0} {:>15.1} {:>8.2} {:>8.0}\n",
                tool.name(),
                figures.documents,
                speed(figures),
                share,
                figures.peak / 1e6
            );
            text.push_str(&row);
        }
    }
    text
}

fn name(set: &Path) -> String {
    set.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}
