//! Finds the program of a command, or places where it is installed outside PATH.

use super::directory;
use crate::{
    cause::Cause,
    diagnosis::Problem,
    edit::Edit,
    evidence::Evidence,
    examination::{Checked, passed, quietly},
    options::DoctorOptions,
    shell::quoted,
};
use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use trunkline_client::CommandLine;
use trunkline_process::{DEFAULT_PATH, is_executable};

/// Maximum directory entries compared for similar names.
const MOST_ENTRIES: usize = 5000;
/// Directories below the home directory that often hold programs and are missing in PATH.
const HOME_PLACES: [&str; 13] = [
    ".local/bin",
    ".cargo/bin",
    ".volta/bin",
    ".bun/bin",
    ".deno/bin",
    ".pyenv/shims",
    ".asdf/shims",
    ".local/share/mise/shims",
    ".local/share/fnm/aliases/default/bin",
    ".npm-global/bin",
    "go/bin",
    "bin",
    "miniconda3/bin",
];
/// Directories with one subdirectory per version, and the path below it.
const VERSIONED_PLACES: [(&str, &str); 2] = [(".nvm/versions/node", "bin"), (".pyenv/versions", "bin")];
const SYSTEM_PLACES: [&str; 7] = [
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
    "/usr/local/sbin",
];
/// Directories below the working directory.
const PROJECT_PLACES: [&str; 3] = ["node_modules/.bin", ".venv/bin", "venv/bin"];

/// Installation hints for programs that start servers.
const INSTALL: [(&str, &str); 8] = [
    ("npx", "install Node.js 20 or later (it brings npx): https://nodejs.org"),
    ("node", "install Node.js 20 or later: https://nodejs.org"),
    ("uvx", "pip install uv    # brings uvx"),
    ("uv", "pip install uv"),
    ("docker", "install Docker or podman, and use `podman` as the program"),
    ("bunx", "install Bun: https://bun.sh"),
    ("deno", "install Deno: https://deno.com"),
    ("python", "install Python 3, or use `python3` as the program"),
];

/// Finds the file that a command names.
pub(super) fn find(line: &CommandLine, options: &DoctorOptions) -> Checked<PathBuf> {
    let path = if line.program.contains('/') {
        if !Path::new(&line.program).is_absolute() {
            check_directory(line, options)?;
        }
        Some(directory(line, options).join(&line.program)).filter(|path| path.exists())
    } else {
        in_path(&line.program, &search_path(line, options))
    };
    match path {
        Some(path) => passed(path.clone(), path.display().to_string()),
        None => Err(Box::new(not_found(line, options))),
    }
}

/// Checks that the file may be executed.
pub(super) fn may_run(path: &Path) -> Checked<()> {
    let shown = path.display();
    let Ok(metadata) = fs::metadata(path) else {
        return Err(Box::new(Problem::new(Cause::ProgramNotFound, format!("`{shown}` is gone"))));
    };
    let mode = metadata.permissions().mode() & 0o7777;
    if metadata.is_dir() {
        let problem = Problem::new(Cause::NotExecutable, format!("`{shown}` is a directory"));
        return Err(Box::new(problem.fix("name the program inside that directory")));
    }
    if mode & 0o111 == 0 {
        let problem = Problem::new(Cause::NotExecutable, format!("`{shown}` has no execute permission"))
            .proof(Evidence::fact(format!("its permissions are {mode:04o}")))
            .fix(format!("chmod +x {}", quoted(&shown.to_string())))
            .mended_by(Edit::Mode { path: path.to_path_buf(), from: mode, to: mode | (mode & 0o444) >> 2 });
        return Err(Box::new(problem));
    }
    quietly(())
}

pub(super) fn check_directory(line: &CommandLine, options: &DoctorOptions) -> Checked<()> {
    let path = directory(line, options);
    if path.is_dir() {
        return passed((), path.display().to_string());
    }
    let what = if path.exists() { "is not a directory" } else { "does not exist" };
    let problem = Problem::new(Cause::WorkingDirectoryMissing, format!("`{}` {what}", path.display()))
        .fix(format!("mkdir -p {}", quoted(&path.display().to_string())))
        .fix("or correct it: \"cwd\": \"/absolute/path\" in the configuration, --cwd here");
    Err(Box::new(problem))
}

/// The PATH directories of the process.
pub(super) fn search_path(line: &CommandLine, options: &DoctorOptions) -> Vec<PathBuf> {
    let given =
        line.environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));
    let path = given.or_else(|| options.variable("PATH")).unwrap_or(DEFAULT_PATH.as_ref());
    trunkline_process::search_path(path)
}

/// A program of this name in these directories.
pub(super) fn in_path(name: &str, path: &[PathBuf]) -> Option<PathBuf> {
    path.iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Paths of programs of this name in the usual installation directories.
pub(crate) fn installed(name: &str, options: &DoctorOptions) -> Vec<PathBuf> {
    let name = Path::new(name).file_name().unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    for place in likely_places(options) {
        let file = place.join(name);
        if is_executable(&file) && !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

/// Usual installation directories, many of which are missing in PATH.
fn likely_places(options: &DoctorOptions) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = PROJECT_PLACES.iter().map(|place| options.directory.join(place)).collect();
    if let Some(home) = options.variable("HOME").map(Path::new) {
        places.extend(HOME_PLACES.iter().map(|place| home.join(place)));
        for (above, below) in VERSIONED_PLACES {
            let Ok(versions) = fs::read_dir(home.join(above)) else { continue };
            let mut versions: Vec<PathBuf> =
                versions.flatten().take(MOST_ENTRIES).map(|entry| entry.path().join(below)).collect();
            versions.sort();
            places.extend(versions.into_iter().rev());
        }
    }
    places.extend(SYSTEM_PLACES.iter().map(PathBuf::from));
    places
}

fn not_found(line: &CommandLine, options: &DoctorOptions) -> Problem {
    let program = &line.program;
    if let Some(problem) = one_word(line, options) {
        return problem;
    }
    let path = search_path(line, options);
    let searched = if program.contains('/') {
        Evidence::fact(format!("there is no file `{}`", directory(line, options).join(program).display()))
    } else {
        Evidence::fact(format!("searched: {}", join(&path)))
    };
    if let Some(elsewhere) = installed(program, options).first() {
        let elsewhere = elsewhere.display().to_string();
        return Problem::new(
            Cause::ProgramOutsidePath,
            format!("`{program}` is not in PATH, but at `{elsewhere}`"),
        )
        .proof(searched)
        .fix(format!("\"command\": \"{elsewhere}\""));
    }
    let mut problem =
        Problem::new(Cause::ProgramNotFound, format!("there is no program `{program}`")).proof(searched);
    for similar in similar(program, &path) {
        problem = problem.fix(format!("did you mean `{similar}`?"));
    }
    if let Some((_, install)) = INSTALL.iter().find(|(name, _)| name == program) {
        problem = problem.fix(*install);
    } else if program.contains('/') {
        problem = problem.fix("correct the path; a relative one counts from the working directory");
    } else {
        problem = problem.fix(format!("install `{program}`, or write its absolute path"));
    }
    problem
}

/// Detects arguments inside `command`, such as `"npx -y server"`.
fn one_word(line: &CommandLine, options: &DoctorOptions) -> Option<Problem> {
    let mut words = line.program.split_whitespace();
    let (program, args) = (words.next()?, words.collect::<Vec<_>>());
    if args.is_empty() {
        return None;
    }
    let known = in_path(program, &search_path(line, options)).is_some() || program.contains('/');
    let args: Vec<String> = args.iter().map(|arg| format!("\"{arg}\"")).collect();
    let summary = format!("there is no program of the name `{}`", line.program);
    let problem = Problem::new(Cause::CommandInOneWord, summary)
        .fix(format!("\"command\": \"{program}\", \"args\": [{}]", args.join(", ")));
    Some(if known { problem } else { problem.fix(format!("and install `{program}`, which is not there")) })
}

/// Programs in PATH with a similar name.
fn similar(program: &str, path: &[PathBuf]) -> Vec<String> {
    if program.contains('/') {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for folder in path {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten().take(MOST_ENTRIES) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let near = strsim::damerau_levenshtein(&name, program) == 1 && program.len() > 2;
            let versioned = name.strip_prefix(program).is_some_and(|rest| rest == "3");
            if (near || versioned) && !found.contains(&name) && is_executable(&entry.path()) {
                found.push(name);
            }
        }
    }
    found.sort_by_key(|name| !name.starts_with(program));
    found.truncate(3);
    found
}

fn join(places: &[PathBuf]) -> String {
    places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(":")
}
