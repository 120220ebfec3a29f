//! Repositories whose own files name other files: the index, packs, references, worktrees (G14).

#![expect(clippy::unwrap_used, reason = "a failure here is a failure of the test")]

mod git_support;

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use git_support::{Answered, Lab};
use serde_json::{Value, json};
use trunkline_packs::{
    git::GitOptions,
    sandbox::{Reads, Restriction, Roots, restrict_process},
};

/// Content of the file outside, which no answer may contain.
const SECRET: &str = "canary-5cd1";

/// The hash of an empty file.
const EMPTY: [u8; 20] = [
    0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4,
    0x8c, 0x53, 0x91,
];

const FILE: u32 = 0o100_644;
const NESTED: u32 = 0o160_000;

fn lab() -> Lab {
    let lab = Lab::with_repository();
    fs::write(lab.path("secret"), format!("{SECRET}\n")).unwrap();
    fs::write(lab.root().join("empty"), "").unwrap();
    lab.git(&lab.repo(), &["hash-object", "-w", "../empty"]);
    lab
}

/// An index of version 2 with these entries, as no version of git would write it.
fn index(entries: &[(u32, &[u8])]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
    for (mode, name) in entries {
        let start = bytes.len();
        bytes.extend([0; 24]);
        bytes.extend(mode.to_be_bytes());
        bytes.extend([0; 12]);
        bytes.extend(EMPTY);
        bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        bytes.extend(*name);
        // One to eight NUL bytes, to a multiple of eight.
        bytes.resize(bytes.len() + 8 - (bytes.len() - start) % 8, 0);
    }
    bytes.extend([0; 20]);
    bytes
}

async fn readings(lab: &Lab) -> Vec<(&'static str, Answered)> {
    let mut answers = Vec::new();
    for (tool, args) in [
        ("git_status", json!({})),
        ("git_diff_unstaged", json!({})),
        ("git_diff_staged", json!({})),
        ("git_diff", json!({"target": "HEAD"})),
        ("git_show", json!({"revision": "HEAD"})),
        ("git_log", json!({})),
        ("git_blame", json!({"path": "a.txt"})),
        ("git_branch", json!({"branch_type": "all"})),
        ("git_worktree", json!({})),
    ] {
        answers.push((tool, lab.read(tool, args).await));
    }
    answers
}

#[tokio::test]
async fn g14_an_index_that_names_other_files_is_refused() {
    let lab = lab();
    let absolute = lab.path("secret").display().to_string();
    for name in [
        absolute.as_str(),
        "../../secret",
        "a/../../../secret",
        "./a.txt",
        "a//b",
        "a/",
        ".git/config",
        "sub/.GIT/config",
        ".git./config",
        ".g\u{200c}it/config",
        "git~1/config",
    ] {
        fs::write(lab.repo().join(".git/index"), index(&[(FILE, name.as_bytes())])).unwrap();
        for (tool, answer) in readings(&lab).await {
            let shown = format!("{}{}", answer.text, answer.data);
            assert!(!shown.contains(SECRET) && !shown.contains("repositoryformatversion"), "{name}: {shown}");
            assert!(answer.err().contains("the index of this repository"), "{name}: {tool}");
        }
        let staged = lab.change("git_add", json!({"files": ["."]})).await.err();
        assert!(staged.contains("the index of this repository"), "{name}: {staged}");
        lab.change("git_stash", json!({"action": "push"})).await.err();
    }
    fs::write(lab.repo().join(".git/index"), index(&[(FILE, b"a.txt"), (FILE, b"b..c/.gitx")])).unwrap();
    lab.read("git_diff_unstaged", json!({})).await.ok();
}

/// A split index has entries in a second file.
#[tokio::test]
async fn g14_the_second_file_of_a_split_index_counts_too() {
    let lab = lab();
    let repo = lab.repo();
    lab.git(&repo, &["update-index", "--split-index"]);
    assert_eq!(lab.read("git_status", json!({})).await.ok()["clean"], true);
    let shared = fs::read_dir(repo.join(".git")).unwrap().flatten().map(|entry| entry.path());
    let shared = shared.into_iter().find(|path| path.display().to_string().contains("sharedindex.")).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o644)).unwrap();
    let mut bytes = index(&[(FILE, b"../../secret")]);
    // The name of the file is that of its checksum.
    let hash = shared.extension().unwrap().to_str().unwrap().to_owned();
    let hash: Vec<u8> =
        (0..20).map(|at| u8::from_str_radix(&hash[2 * at..2 * at + 2], 16).unwrap()).collect();
    let end = bytes.len() - 20;
    bytes[end..].copy_from_slice(&hash);
    fs::write(&shared, bytes).unwrap();
    for (tool, answer) in readings(&lab).await {
        let shown = format!("{}{}", answer.text, answer.data);
        assert!(answer.failed && !shown.contains(SECRET), "{tool}: {shown}");
    }
}

/// True if this kernel can restrict a process.
fn has_landlock(lab: &Lab) -> bool {
    let roots = Roots::open([lab.root()]).unwrap();
    let test = move || restrict_process(&roots, &[], &Reads::Only(Vec::new())).unwrap();
    std::thread::spawn(test).join().unwrap() != Restriction::Unavailable
}

#[tokio::test]
async fn g14_the_kernel_keeps_git_inside_the_roots() {
    let lab = lab();
    if !has_landlock(&lab) {
        return;
    }
    let bin = lab.path("bin");
    fs::create_dir(&bin).unwrap();
    let git = |commands: &str| {
        fs::write(bin.join("git"), format!("#!/bin/sh\n{commands}\nexec /usr/bin/git \"$@\"\n")).unwrap();
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let search = || vec![bin.clone()];
    let outside = lab.path("outside").display().to_string();
    // A git that can read or write outside fails.
    git(&format!(
        "cat '{}' >/dev/null 2>&1 && exit 97; (echo x >'{outside}') 2>/dev/null && exit 98",
        lab.path("secret").display()
    ));
    lab.call(GitOptions { search: search(), ..lab.options() }, "git_status", json!({})).await.ok();
    lab.write("b.txt", "b\n");
    let writing = || GitOptions { search: search(), ..lab.writing() };
    lab.call(writing(), "git_add", json!({"files": ["."]})).await.ok();
    lab.call(writing(), "git_commit", json!({"message": "b"})).await.ok();
    lab.call(writing(), "git_init", json!({"path": "new"})).await.ok();
    // A command that reads cannot write inside either.
    git(&format!("(echo x >'{}/inside') 2>/dev/null && exit 99", lab.root().display()));
    lab.call(GitOptions { search: search(), ..lab.options() }, "git_log", json!({})).await.ok();
    assert!(!lab.root().join("inside").exists() && !Path::new(&outside).exists());
}

/// A multi-pack index with one pack, of any name.
fn multi_pack_index(name: &str, objects: &[(Vec<u8>, u32)]) -> Vec<u8> {
    let mut names = format!("{name}\0").into_bytes();
    names.resize(names.len().next_multiple_of(4), 0);
    let fanout: Vec<u8> = (0..=255_u8)
        .flat_map(|first| {
            let count = objects.iter().filter(|(hash, _)| hash[0] <= first).count();
            u32::try_from(count).unwrap().to_be_bytes()
        })
        .collect();
    let hashes: Vec<u8> = objects.iter().flat_map(|(hash, _)| hash.clone()).collect();
    let offsets: Vec<u8> =
        objects.iter().flat_map(|(_, offset)| [0_u32.to_be_bytes(), offset.to_be_bytes()].concat()).collect();
    let chunks = [(b"PNAM", names), (b"OIDF", fanout), (b"OIDL", hashes), (b"OOFF", offsets)];
    let mut bytes = b"MIDX\x01\x01\x04\x00\0\0\0\x01".to_vec();
    let mut at = 12 + 12 * 5_u64;
    for (id, chunk) in &chunks {
        bytes.extend(*id);
        bytes.extend(at.to_be_bytes());
        at += chunk.len() as u64;
    }
    bytes.extend([0; 4]);
    bytes.extend(at.to_be_bytes());
    bytes.extend(chunks.into_iter().flat_map(|(_, chunk)| chunk));
    bytes.extend([0; 20]);
    bytes
}

#[tokio::test]
async fn g14_a_multi_pack_index_names_no_pack_outside() {
    let lab = lab();
    let foreign = lab.path("foreign");
    fs::create_dir(&foreign).unwrap();
    lab.git(&foreign, &["init", "--quiet", "--initial-branch=main", "--template="]);
    let commit = lab.commit(&foreign, "f.txt", SECRET, SECRET);
    lab.git(&foreign, &["repack", "-q", "-a", "-d"]);
    let packs = foreign.join(".git/objects/pack");
    let pack = fs::read_dir(&packs).unwrap().flatten().map(|entry| entry.path());
    let pack = pack.into_iter().find(|path| path.extension() == Some(OsStr::new("idx"))).unwrap();
    let listed = Command::new("sh").arg("-c").arg(format!("git show-index <'{}'", pack.display())).output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    let mut objects: Vec<(Vec<u8>, u32)> = listed
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let offset = words.next().unwrap().parse().unwrap();
            let hash = words.next().unwrap();
            ((0..20).map(|at| u8::from_str_radix(&hash[2 * at..2 * at + 2], 16).unwrap()).collect(), offset)
        })
        .collect();
    objects.sort();
    let name = format!("../../../../../foreign/.git/objects/pack/{}", pack.file_name().unwrap().display());
    let place = lab.repo().join(".git/objects/pack");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("multi-pack-index"), multi_pack_index(&name, &objects)).unwrap();
    let (done, seen) = Lab::try_git(&lab.repo(), &["cat-file", "-p", &commit]);
    assert!(done && seen.contains(SECRET), "plain git would show it: {seen}");
    lab.set("core.multiPackIndex", "true");
    let shown = lab.read("git_show", json!({"revision": commit})).await;
    assert!(shown.failed && !shown.text.contains(SECRET), "{} {}", shown.text, shown.data);
    for (tool, answer) in readings(&lab).await {
        assert!(!format!("{}{}", answer.text, answer.data).contains(SECRET), "{tool}");
    }
}

#[tokio::test]
async fn g14_a_list_of_reference_tables_names_no_file_outside() {
    for directory in ["/usr/bin", "/usr/local/bin"] {
        let lab = lab();
        let repo = lab.root().join("tables");
        fs::create_dir(&repo).unwrap();
        let git = |args: &str| {
            let command = format!("{directory}/git -c user.name=Ada -c user.email=a@b.c {args}");
            let done = Command::new("sh").arg("-c").arg(command).current_dir(&repo).output().unwrap();
            done.status.success()
        };
        // Older versions of git do not have this format.
        if !git("init --quiet --initial-branch=main --ref-format=reftable") {
            continue;
        }
        assert!(git("commit --quiet --allow-empty -m first"));
        let options = || GitOptions { search: vec![directory.into()], ..lab.options() };
        let at = || json!({"repo_path": "tables"});
        assert_eq!(lab.call(options(), "git_status", at()).await.ok()["branch"], "main");
        let list = repo.join(".git/reftable/tables.list");
        let names = fs::read_to_string(&list).unwrap();
        for name in names.lines() {
            fs::rename(repo.join(".git/reftable").join(name), lab.path(name)).unwrap();
        }
        let moved: Vec<_> = names.lines().map(|name| format!("../../../../{name}\n")).collect();
        fs::write(list, moved.concat()).unwrap();
        assert!(git("rev-parse --verify --quiet main"), "plain git reads it");
        let refused = lab.call(options(), "git_status", at()).await.err();
        assert!(refused.contains("outside"), "{refused}");
    }
}

#[tokio::test]
async fn g14_nested_repositories_of_any_name_stay_inside() {
    let lab = lab();
    let foreign = lab.path("foreign");
    fs::create_dir(&foreign).unwrap();
    lab.git(&foreign, &["init", "--quiet", "--initial-branch=main", "--template="]);
    let commit = lab.commit(&foreign, "f.txt", SECRET, SECRET);
    let name = OsStr::from_bytes(b"nest\xff");
    fs::create_dir(lab.repo().join(name)).unwrap();
    fs::write(lab.repo().join(name).join(".git"), format!("gitdir: {}/.git\n", foreign.display())).unwrap();
    fs::write(lab.repo().join(".git/index"), index(&[(NESTED, name.as_bytes())])).unwrap();
    for (tool, answer) in readings(&lab).await {
        let shown = format!("{}{}", answer.text, answer.data);
        assert!(!shown.contains(&commit), "{tool}: {shown}");
        if ["git_status", "git_diff_unstaged", "git_diff"].contains(&tool) {
            assert!(answer.err().contains("outside"), "{tool}");
        }
    }
}

#[tokio::test]
async fn g14_the_list_of_worktrees_does_not_tell_which_files_exist() {
    let lab = lab();
    let entry = lab.repo().join(".git/worktrees/w");
    fs::create_dir_all(&entry).unwrap();
    fs::write(entry.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(entry.join("commondir"), "../..\n").unwrap();
    let mut seen: Vec<Value> = Vec::new();
    for name in ["secret", "missin"] {
        fs::write(entry.join("gitdir"), format!("{}\n", lab.path(name).join(".git").display())).unwrap();
        fs::create_dir_all(lab.path("secret-directory")).unwrap();
        let answer = lab.read("git_worktree", json!({})).await;
        let text = answer.data.to_string().replace("missin", "secret");
        seen.push(serde_json::from_str(&text).unwrap());
        // The same for a directory with a file `.git`.
        fs::remove_file(lab.path("secret")).ok();
        fs::create_dir_all(lab.path("secret")).unwrap();
        fs::write(lab.path("secret/.git"), "").unwrap();
        let answer = lab.read("git_worktree", json!({})).await;
        seen.push(serde_json::from_str(&answer.data.to_string().replace("missin", "secret")).unwrap());
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:#?}");
    assert_eq!(seen[0]["worktrees"][1]["branch"], "main");
}

/// The limit is far below git's own deadline of 30 s, and far above any normal answer.
#[tokio::test]
async fn g14_pipes_in_a_repository_do_not_hang() {
    for name in [
        "HEAD",
        "index",
        "packed-refs",
        "info/exclude",
        "info/attributes",
        "refs/heads/pipe",
        "../.gitignore",
        "../.gitattributes",
        "../deep/er/.gitignore",
        "../deep/er/.gitattributes",
    ] {
        let lab = lab();
        let path = lab.repo().join(".git").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::remove_file(&path).ok();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let start = Instant::now();
        let text = lab.read("git_status", json!({})).await.err();
        assert!(start.elapsed() < Duration::from_secs(15), "{name}: {text}");
        assert!(text.contains("not a regular file"), "{name}: {text}");
        if let Some(shown) = name.strip_prefix("../") {
            assert!(text.contains(&format!("`{shown}`")), "{name}: {text}");
        }
    }
}
