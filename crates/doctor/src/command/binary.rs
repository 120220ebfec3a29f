//! Checks from the first bytes of a file that it can run here: interpreter, architecture, loader.

use super::program::{in_path, search_path};
use crate::{
    cause::Cause,
    diagnosis::Problem,
    edit::Edit,
    evidence::Evidence,
    examination::{Checked, passed},
    options::DoctorOptions,
    shell::quoted,
};
use std::path::{Path, PathBuf};
use trunkline_client::CommandLine;
use trunkline_config::{read_regular_head, read_regular_text};

/// Bytes read from a file; real program headers fit.
const HEAD: u64 = 8192;
/// Larger scripts are not edited.
const LARGEST_SCRIPT: u64 = 1024 * 1024;

/// `e_machine` values of ELF files, with Rust's names of the architectures.
const MACHINES: [(u16, &str); 8] = [
    (3, "x86"),
    (8, "mips"),
    (20, "powerpc"),
    (21, "powerpc64"),
    (22, "s390x"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
];
const RISCV: (u16, &str) = (243, "riscv64");

/// Interpreters by file name extension.
const INTERPRETERS: [(&str, &str); 9] = [
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
    ("ts", "npx tsx"),
    ("py", "python3"),
    ("sh", "sh"),
    ("rb", "ruby"),
    ("php", "php"),
    ("jar", "java -jar"),
];

pub(super) fn check(path: &Path, line: &CommandLine, options: &DoctorOptions) -> Checked<()> {
    let Ok(head) = read_regular_head(path, HEAD) else {
        // A program may have execute permission without read permission.
        return passed((), "the file cannot be read, only executed");
    };
    match head.as_slice() {
        [b'#', b'!', rest @ ..] => script(path, rest, line, options),
        [0x7f, b'E', b'L', b'F', ..] => elf(path, &head),
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] if !cfg!(target_os = "macos") => {
            Err(foreign(path, "macOS"))
        }
        [b'M', b'Z', ..] => Err(foreign(path, "Windows")),
        [] => Err(Box::new(
            Problem::new(Cause::NoInterpreterLine, format!("`{}` is empty", path.display()))
                .fix("install the program again"),
        )),
        _ if head.iter().take(512).all(|byte| *byte >= 9) => Err(Box::new(no_line(path, line))),
        _ => passed((), "a program of a kind we do not know"),
    }
}

fn script(path: &Path, rest: &[u8], line: &CommandLine, options: &DoctorOptions) -> Checked<()> {
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let first = String::from_utf8_lossy(&rest[..end]).into_owned();
    if first.ends_with('\r') {
        let file = quoted(&path.display().to_string());
        let problem = Problem::new(
            Cause::CrlfScript,
            format!("the first line of `{}` ends in a carriage return", path.display()),
        )
        .proof(Evidence::fact(format!("its first line: {:?}", format!("#!{first}"))))
        .fix(format!("sed -i 's/\\r$//' {file}"));
        return Err(Box::new(match unix_lines(path) {
            Some(edit) => problem.mended_by(edit),
            None => problem,
        }));
    }
    let mut words = first.split_whitespace();
    let Some(interpreter) = words.next() else { return Err(Box::new(no_line(path, line))) };
    if !Path::new(interpreter).exists() {
        return Err(Box::new(no_interpreter(path, &first, interpreter)));
    }
    if Path::new(interpreter).file_name().is_some_and(|name| name == "env") {
        let named = words.find(|word| !word.starts_with('-') && !word.contains('='));
        if let Some(named) = named
            && in_path(named, &search_path(line, options)).is_none()
            && !Path::new(named).is_absolute()
        {
            return Err(Box::new(no_interpreter(path, &first, named)));
        }
    }
    passed((), first.trim().to_owned())
}

/// An edit to Unix line endings, if the script is UTF-8 and not too large.
fn unix_lines(path: &Path) -> Option<Edit> {
    let from = read_regular_text(path, LARGEST_SCRIPT).ok()?;
    let to = from.replace("\r\n", "\n");
    Some(Edit::Text { path: path.to_path_buf(), from, to })
}

fn no_interpreter(path: &Path, first: &str, interpreter: &str) -> Problem {
    let summary = format!("`{}` is to be run by `{interpreter}`, which is not there", path.display());
    let problem = Problem::new(Cause::InterpreterMissing, summary)
        .proof(Evidence::fact(format!("its first line: #!{}", first.trim())));
    problem.fix(format!("install `{interpreter}`, or start the file with one that is there: \"command\": \"…\", \"args\": [\"{}\", …]", path.display()))
}

fn no_line(path: &Path, line: &CommandLine) -> Problem {
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let interpreter = INTERPRETERS.iter().find(|(known, _)| *known == ending).map_or("sh", |(_, name)| *name);
    let summary = format!("`{}` is a script without a `#!` line", path.display());
    let mut words: Vec<String> = interpreter.split(' ').map(str::to_owned).collect();
    words.push(path.display().to_string());
    words.extend(line.args.iter().cloned());
    let args: Vec<String> = words[1..].iter().map(|word| format!("{word:?}")).collect();
    Problem::new(Cause::NoInterpreterLine, summary).fix(format!(
        "\"command\": \"{}\", \"args\": [{}]",
        words[0],
        args.join(", ")
    ))
}

fn elf(path: &Path, head: &[u8]) -> Checked<()> {
    let Some(machine) = word(head, 18) else { return passed((), "a program cut short") };
    let known = MACHINES.iter().chain([&RISCV]).find(|(number, _)| *number == machine);
    let ours = std::env::consts::ARCH;
    match known {
        Some((_, name)) if *name != ours && !(ours == "x86_64" && *name == "x86") => Err(foreign(path, name)),
        _ if !cfg!(target_os = "linux") => Err(foreign(path, "Linux")),
        _ => match loader(head) {
            Some(loader) if !loader.exists() => {
                let summary =
                    format!("`{}` needs `{}`, which is not there", path.display(), loader.display());
                let musl = if loader.to_string_lossy().contains("musl") { "musl" } else { "glibc" };
                Err(Box::new(
                    Problem::new(Cause::LoaderMissing, summary)
                        .fix(format!("install a build that is not linked against {musl}, or a static one")),
                ))
            }
            _ => passed((), format!("a program for {ours}")),
        },
    }
}

fn foreign(path: &Path, other: &str) -> Box<Problem> {
    let (architecture, system) = (std::env::consts::ARCH, std::env::consts::OS);
    let summary =
        format!("`{}` is a program for {other}; this machine is {system} on {architecture}", path.display());
    Box::new(
        Problem::new(Cause::WrongArchitecture, summary)
            .fix(format!("install the build for {system} on {architecture}")),
    )
}

/// The loader named in the `PT_INTERP` segment of a 64-bit little-endian ELF file.
fn loader(head: &[u8]) -> Option<PathBuf> {
    const PT_INTERP: u32 = 3;
    let little_64 = head.get(4) == Some(&2) && head.get(5) == Some(&1);
    let table = usize::try_from(long(head, 32).filter(|_| little_64)?).ok()?;
    let (size, count) = (usize::from(word(head, 54)?), usize::from(word(head, 56)?));
    for at in (0..count).map_while(|index| table.checked_add(index.checked_mul(size)?)) {
        let kind = head.get(at..at.checked_add(4)?)?;
        if u32::from_le_bytes(kind.try_into().ok()?) == PT_INTERP {
            let start = usize::try_from(long(head, at + 8)?).ok()?;
            let length = usize::try_from(long(head, at + 32)?).ok()?;
            let name = head.get(start..start.checked_add(length)?)?;
            return Some(PathBuf::from(String::from_utf8_lossy(name).trim_end_matches('\0')));
        }
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_program_passes_and_names_its_loader() {
        let own = read_regular_head(Path::new("/bin/sh"), HEAD).unwrap();
        assert!(elf(Path::new("/bin/sh"), &own).is_ok());
        if cfg!(target_env = "gnu") {
            assert!(loader(&own).is_some_and(|loader| loader.exists()));
        }
    }

    #[test]
    fn headers_cut_short_are_no_trouble() {
        let own = read_regular_head(Path::new("/bin/sh"), HEAD).unwrap();
        for length in [4, 6, 18, 19, 40, 60, 70, 130] {
            assert!(elf(Path::new("/x"), &own[..length]).is_ok());
        }
        let mut wild = own[..64].to_vec();
        wild[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(loader(&wild).is_none());
    }
}
