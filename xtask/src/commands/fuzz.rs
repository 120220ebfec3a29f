//! `cargo xtask fuzz`: runs each fuzz target for a while, starting from its seeds.
//!
//! An input fails if it causes a panic, uses more than 512 MB of memory or more than a second of
//! CPU time. The target measures the CPU time itself, so other programs do not count; the limit is
//! not raised although a fuzzing build is several times slower. A wall-clock timeout only catches
//! inputs that never end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;

const SECONDS: u64 = 20;

/// Memory limit of a target, including libFuzzer and the sanitizer's bookkeeping.
const MEMORY_MB: u32 = 512;
/// Size of the sanitizer's quarantine of freed memory, which counts towards the limit.
const FREED_MB: u32 = 32;
/// Wall-clock timeout of one input, in seconds.
const ENDLESS: u32 = 30;

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS);
    let only = arguments.values("--only")?;
    arguments.finish()?;
    let package = workspace.root().join("fuzz");
    let mut targets = targets(&package)?;
    if let Some(unknown) = only.iter().find(|name| !targets.contains(name)) {
        bail!("there is no fuzz target {unknown}; there are {targets:?}");
    }
    if !only.is_empty() {
        targets.retain(|target| only.contains(target));
    }
    let cargo_fuzz = cargo_fuzz(workspace)?;
    for target in &targets {
        println!("\n== fuzz {target}, {seconds} s");
        // libFuzzer writes new inputs to the first folder; the checked-in seeds are only read.
        let found = workspace.target().join("fuzz").join(target);
        fs::create_dir_all(&found)?;
        let mut build = nightly(&cargo_fuzz);
        process::run(build.args(["fuzz", "build", target]).current_dir(workspace.root()))?;
        let mut command = nightly(&cargo_fuzz);
        command.args(["fuzz", "run", target]).arg(found).arg(seeds(&package, target)).arg("--");
        command.arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
        command.arg(format!("-rss_limit_mb={MEMORY_MB}")).arg(format!("-timeout={ENDLESS}"));
        command.env("ASAN_OPTIONS", format!("quarantine_size_mb={FREED_MB}"));
        command.current_dir(workspace.root());
        process::run(&mut command).with_context(|| {
            format!("the target {target} did not hold; the input that broke it is in fuzz/artifacts/{target}")
        })?;
    }
    println!("\nheld for {seconds} s each: {}", targets.join(", "));
    Ok(())
}

/// Checks that the targets compile with the toolchain of the workspace; does nothing without
/// targets.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    if !workspace.root().join("fuzz/Cargo.toml").exists() {
        println!("there is no fuzz folder");
        return Ok(());
    }
    let mut check = workspace.cargo(&["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir"]);
    // Shares the checked dependencies with clippy. A check links nothing, so that libFuzzer, which
    // takes a minute to compile, may be missing.
    check.arg(workspace.target()).env("CUSTOM_LIBFUZZER_PATH", workspace.target().join("no/libfuzzer.a"));
    process::run(&mut check)
}

/// A target is a file in `fuzz/fuzz_targets`; its seeds are in `fuzz/corpus/<target>`.
fn targets(package: &Path) -> Result<Vec<String>> {
    let folder = package.join("fuzz_targets");
    let entries = fs::read_dir(&folder).with_context(|| format!("{} is not there", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_stem().context("a file has a name")?.to_string_lossy().into_owned();
            let seeds = seeds(package, &name);
            if fs::read_dir(&seeds).map_or(true, |mut seeds| seeds.next().is_none()) {
                bail!("the target {name} has no seeds; put some into {}", seeds.display());
            }
            names.push(name);
        }
    }
    if names.is_empty() {
        bail!("there is no fuzz target in {}", folder.display());
    }
    names.sort_unstable();
    Ok(names)
}

fn seeds(package: &Path, target: &str) -> PathBuf {
    package.join("corpus").join(target)
}

/// Finds cargo-fuzz, or installs it under `target/tools`.
fn cargo_fuzz(workspace: &Workspace) -> Result<PathBuf> {
    let toolchain = Command::new("rustup").args(["run", "nightly", "rustc", "--version"]).output();
    if !toolchain.is_ok_and(|output| output.status.success()) {
        bail!("fuzzing needs a nightly compiler: rustup toolchain install nightly --profile minimal");
    }
    if Command::new("cargo-fuzz").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Ok("cargo-fuzz".into());
    }
    let tools = workspace.target().join("tools");
    let program = tools.join("bin/cargo-fuzz");
    if !program.exists() {
        let mut install = workspace.cargo(&["install", "cargo-fuzz", "--locked", "--root"]);
        process::run(install.arg(&tools)).context("cargo-fuzz could not be installed")?;
    }
    Ok(program)
}

/// Returns a command that calls a cargo subcommand with the nightly toolchain.
fn nightly(program: &Path) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly"]).arg(program);
    // These name the toolchain that runs this task and would override nightly.
    command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTUP_TOOLCHAIN");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_need_seeds() {
        let package = tempfile::tempdir().unwrap();
        fs::create_dir_all(package.path().join("fuzz_targets")).unwrap();
        assert!(targets(package.path()).unwrap_err().to_string().starts_with("there is no fuzz target"));
        fs::write(package.path().join("fuzz_targets/sse.rs"), "").unwrap();
        assert!(targets(package.path()).unwrap_err().to_string().contains("has no seeds"));
        fs::create_dir_all(package.path().join("corpus/sse")).unwrap();
        fs::write(package.path().join("corpus/sse/one"), "data: 1\n\n").unwrap();
        assert_eq!(targets(package.path()).unwrap(), ["sse"]);
    }
}
