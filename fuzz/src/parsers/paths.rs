//! Paths: any path from a client resolves below a root, also through symbolic links.
//!
//! The first byte of an input gives the purpose of the path; the rest is the path, in which a
//! leading `@` is replaced by the directory of the test.

use std::{
    fs,
    io::Read as _,
    os::{
        fd::AsRawFd as _,
        unix::{ffi::OsStrExt as _, fs::symlink},
    },
    path::{Path, PathBuf},
    sync::LazyLock,
};
use tempfile::TempDir;
use trunkline_packs::sandbox::{HardLinks, Protected, Purpose, Roots, Sandbox, Spot};

const INSIDE: &str = "inside";
const OUTSIDE: &str = "outside";

static TREE: LazyLock<TestTree> = LazyLock::new(|| TestTree::new().expect("a directory can be made"));

pub fn holds(data: &[u8]) {
    let Some((purpose, path)) = data.split_first() else { return };
    let path = String::from_utf8_lossy(path);
    let path = match path.strip_prefix('@') {
        Some(below) => format!("{}{below}", TREE.home.display()),
        None => path.into_owned(),
    };
    let purposes = [Purpose::Read, Purpose::Look, Purpose::Change, Purpose::Rename, Purpose::Create];
    let purpose = purposes[usize::from(*purpose) % purposes.len()];
    if purpose == Purpose::Create {
        if let Ok(spot) = TREE.scratch.spot(&path, purpose) {
            TREE.is_below(&spot);
        }
        TREE.nothing_else_was_made();
        return;
    }
    for sandbox in [&TREE.open, &TREE.guarded] {
        if let Ok(spot) = sandbox.spot(&path, purpose) {
            TREE.is_below(&spot);
            TREE.holds_what_is_inside(&spot);
            comes_back(sandbox, &spot);
        }
    }
}

/// Two roots, a folder outside, and links of every kind between them.
struct TestTree {
    _directory: TempDir,
    home: PathBuf,
    /// A sandbox without protected paths.
    open: Sandbox,
    guarded: Sandbox,
    /// A sandbox in which directories are created.
    scratch: Sandbox,
}

impl TestTree {
    fn new() -> std::io::Result<Self> {
        let directory = TempDir::new()?;
        let home = directory.path().canonicalize()?;
        for made in ["one/a/b", "one/.ssh", "one/.git", "two/c", "new", "out/a"] {
            fs::create_dir_all(home.join(made))?;
        }
        for (file, holds) in [
            ("one/f", INSIDE),
            ("one/a/f", INSIDE),
            ("one/a/b/\u{1b}\u{202e} x\\y", INSIDE),
            ("one/.ssh/key", INSIDE),
            ("one/.env", INSIDE),
            ("two/c/f", INSIDE),
            ("out/f", OUTSIDE),
            ("out/a/f", OUTSIDE),
            ("f", OUTSIDE),
        ] {
            fs::write(home.join(file), holds)?;
        }
        let outside = home.join("out");
        let inside = home.join("one/a");
        let links: [(&Path, &str); 12] = [
            (Path::new("a"), "one/in"),
            (Path::new("../out"), "one/out"),
            (Path::new("../../out/f"), "one/a/out"),
            (&outside, "one/absolute-out"),
            (&inside, "one/absolute-in"),
            (Path::new(".."), "one/a/b/up"),
            (Path::new("../.."), "one/a/b/upper"),
            (Path::new("loop"), "one/loop"),
            (Path::new("a/b/upper/../out"), "one/winding"),
            (Path::new("nowhere"), "one/dangling"),
            (Path::new("../two/c"), "one/other-root"),
            (Path::new("/"), "two/top"),
        ];
        for (to, at) in links {
            symlink(to, home.join(at))?;
        }
        symlink("../out", home.join("new/out"))?;
        let sandbox = |roots: &[&str], protected| {
            let roots = Roots::open(roots.iter().map(|root| home.join(root))).expect("it was made");
            Sandbox::new(roots, protected, HardLinks::Read)
        };
        Ok(Self {
            open: sandbox(&["one", "two"], Protected::nothing()),
            guarded: sandbox(&["one", "two"], Protected::default()),
            scratch: sandbox(&["new"], Protected::default()),
            home,
            _directory: directory,
        })
    }

    /// Checks with the kernel that the opened directory is below a root, and that the name is a
    /// single component.
    fn is_below(&self, spot: &Spot) {
        let Ok((dir, name)) = spot.entry() else { return };
        let real = fs::read_link(format!("/proc/self/fd/{}", dir.fd().as_raw_fd())).expect("it is open");
        let below = ["one", "two", "new"].iter().any(|root| real.starts_with(self.home.join(root)));
        assert!(below, "{} is outside", real.display());
        assert_eq!(real, dir.root().path().join(dir.path().to_os_string()));
        assert!(!matches!(name.as_bytes(), b"" | b"." | b"..") && !name.as_bytes().contains(&b'/'));
    }

    fn holds_what_is_inside(&self, spot: &Spot) {
        if let Ok(mut file) = spot.open_file() {
            let mut text = String::new();
            file.read_to_string(&mut text).expect("a small file");
            assert_eq!(text, INSIDE);
        }
        if let Ok(dir) = spot.open_dir() {
            let real = fs::read_link(format!("/proc/self/fd/{}", dir.fd().as_raw_fd())).expect("it is open");
            assert!(["one", "two"].iter().any(|root| real.starts_with(self.home.join(root))));
        }
    }

    /// Checks that directories were created only where requested, and removes them.
    fn nothing_else_was_made(&self) {
        assert_eq!(names(&self.home), ["f", "new", "one", "out", "two"]);
        assert_eq!(names(&self.home.join("out")), ["a", "f"]);
        for name in names(&self.home.join("new")).iter().filter(|name| *name != "out") {
            fs::remove_dir_all(self.home.join("new").join(name)).expect("it was made here");
        }
    }
}

fn names(directory: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(directory).expect("it is there");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("it can be listed").file_name()).collect();
    names.sort_unstable();
    names
}

/// Checks that the displayed path resolves to the same place, unless it looks like a home or drive
/// path.
fn comes_back(sandbox: &Sandbox, spot: &Spot) {
    let label = spot.label();
    assert!(!label.chars().any(char::is_control), "{label:?}");
    let mistaken = label.starts_with('~') || label.as_bytes().get(1) == Some(&b':');
    if !mistaken && let Ok(again) = sandbox.spot(&label, Purpose::Look) {
        assert_eq!(again.real_path(), spot.real_path(), "{label}");
    }
    assert!(spot.real_path().to_os_string().as_bytes().iter().all(|byte| *byte != 0));
}
