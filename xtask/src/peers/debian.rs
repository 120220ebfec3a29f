//! Unpacking Debian packages without root. They have no pinned version: Debian's archive keeps only
//! the newest one of a release.

use std::collections::BTreeSet;
use std::env::split_paths;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::answer_of;
use super::npm::gist;
use super::pins::Pin;
use crate::process::{Ending, Scope, run_bounded};

const LIMIT: Duration = Duration::from_mins(5);

/// Downloads and unpacks the packages into `folder`, with those that they need and this system
/// lacks. Where there is no apt, links to the `programs` of the system.
pub(super) fn install(folder: &Path, pins: &[Pin], programs: &[&str], log: &Path) -> Result<()> {
    if answer_of("apt-get", &["--version"]).is_none() {
        return link(folder, programs);
    }
    if download(folder, pins, log, None).is_err() {
        // The package lists of the system may be empty, and only root may fill them.
        let lists = folder.join("lists");
        fs::create_dir_all(lists.join("partial"))?;
        let mut update = apt(Some(&lists));
        update.arg("update");
        step(&mut update, log)?;
        download(folder, pins, log, Some(&lists))?;
    }
    for file in fs::read_dir(folder)? {
        let file = file?.path();
        if file.extension().is_some_and(|extension| extension == "deb") {
            let mut unpack = Command::new("dpkg");
            unpack.arg("-x").arg(&file).arg(folder);
            step(&mut unpack, log)?;
            fs::remove_file(&file)?;
        }
    }
    Ok(())
}

fn download(folder: &Path, pins: &[Pin], log: &Path, lists: Option<&Path>) -> Result<()> {
    let wanted: BTreeSet<String> =
        pins.iter().map(|(name, _)| (*name).to_owned()).chain(lacking(pins, log, lists)?).collect();
    let mut download = apt(lists);
    download.arg("download").args(wanted).current_dir(folder);
    step(&mut download, log)
}

/// The packages that apt would install together with these.
fn lacking(pins: &[Pin], log: &Path, lists: Option<&Path>) -> Result<Vec<String>> {
    let mut plan = apt(lists);
    // It only prints, but asks for the lock of the system first.
    plan.args(["-o", "Debug::NoLocking=1", "install", "--print-uris", "--yes", "-qq"]);
    plan.arg("--no-install-recommends").args(pins.iter().map(|(name, _)| name));
    step(&mut plan, log)?;
    Ok(planned(&fs::read_to_string(log).context("apt's plan was not written")?))
}

/// The names in lines such as `'http://…/x_1.deb' x_1_amd64.deb 1234 SHA256:…`.
fn planned(plan: &str) -> Vec<String> {
    let files = plan.lines().filter(|line| line.starts_with('\'')).filter_map(|line| line.split(' ').nth(1));
    files.filter_map(|file| Some(file.split_once('_')?.0.to_owned())).collect()
}

fn apt(lists: Option<&Path>) -> Command {
    let mut command = Command::new("apt-get");
    if let Some(lists) = lists {
        for (option, path) in [("Dir::State::Lists", lists.to_owned()), ("Dir::Cache", lists.join("cache"))] {
            command.arg("-o").arg(format!("{option}={}", path.display()));
        }
        command.args(["-o", "Debug::NoLocking=1"]);
    }
    command
}

fn link(folder: &Path, programs: &[&str]) -> Result<()> {
    let place = folder.join("usr/bin");
    fs::create_dir_all(&place)?;
    for program in programs {
        let found = on_path(program).with_context(|| {
            format!(
                "{program} is missing: install it with the package manager of this system, then try again"
            )
        })?;
        symlink(found, place.join(program))?;
    }
    Ok(())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = answer_of("sh", &["-c", "echo \"$PATH\""])?;
    split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn step(command: &mut Command, log: &Path) -> Result<()> {
    match run_bounded(command, log, LIMIT, Scope::Program)? {
        Ending::Exited(status) if status.success() => Ok(()),
        _ => bail!(
            "a Debian package could not be fetched; check the network and /etc/apt/sources.list\n{}\n    (all of it: {})",
            gist(&fs::read_to_string(log).unwrap_or_default()),
            log.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_of_apt_names_packages() {
        let plan = "Reading package lists...\n\
                    'http://host/pool/x_1%3a2.deb' libx-0_1%3a2-3_amd64.deb 10 SHA256:ab\n\
                    'http://host/pool/y.deb' y_1.0_all.deb 20\n";
        assert_eq!(planned(plan), ["libx-0", "y"]);
    }
}
