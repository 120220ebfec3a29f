//! A real browser without windows.

use crate::installed;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The folders with shared libraries below a folder, as `LD_LIBRARY_PATH` wants them.
fn libraries(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = vec![folder.display().to_string()];
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with("chromium") {
            found.extend(libraries(&path));
        }
    }
    found
}

/// A program that opens a page in Chromium, and keeps the text of the last page.
pub(crate) fn chromium(home: &Path) -> PathBuf {
    let root = installed::installed("browser");
    let unpacked = root.join("usr/lib/chromium/chromium-headless-shell");
    let program = if unpacked.exists() { unpacked } else { root.join("usr/bin/chromium-headless-shell") };
    let home = home.display();
    // The kernel may forbid user namespaces, which the sandbox needs; only our own pages are
    // opened.
    let script = format!(
        "#!/bin/sh\nLD_LIBRARY_PATH={} {} --no-sandbox --disable-gpu --user-data-dir={home}/chromium \
         --dump-dom \"$1\" > {home}/page.part 2>/dev/null\nmv {home}/page.part {home}/page\n",
        libraries(&root.join("usr/lib")).join(":"),
        program.display(),
    );
    let browser = PathBuf::from(format!("{home}/browser"));
    fs::write(&browser, script).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o700)).unwrap();
    browser
}
