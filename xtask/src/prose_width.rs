//! Prose has at most 100 columns, in comments and in pages, so that it fits beside code.

use std::fs;
use std::path::PathBuf;

use crate::file_length::sources;
use crate::workspace::Workspace;

const MOST_COLUMNS: usize = 100;
/// Pages that a program writes: their paragraphs are the lines of its sources.
const GENERATED: [&str; 5] = ["cli.md", "configuration.md", "doctor.md", "errors.md", "lint-comparison.md"];

#[test]
fn comments_and_pages_stay_below_100_columns() {
    let root = Workspace::find().unwrap().root().to_owned();
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "fuzz/src"] {
        sources(&root.join(folder), &mut files);
    }
    let pages = ["docs", "."].iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let is_page = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|extension| extension == "md") && !GENERATED.contains(&&*name)
    };
    files.extend(pages.map(|entry| entry.unwrap().path()).filter(is_page));
    let too_wide: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let text = fs::read_to_string(file).unwrap();
            let wide = if is_page(file) { wide_prose(&text) } else { wide_comments(&text) };
            wide.into_iter().map(|line| format!("{}:{line}", file.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(too_wide.is_empty(), "{} lines are too wide: {too_wide:#?}", too_wide.len());
}

#[test]
fn tables_code_and_single_words_may_be_wide() {
    let long = "word ".repeat(30);
    let page = format!("{long}\n| {long}\n```\n{long}\n```\n{}\n", "x".repeat(200));
    assert_eq!(wide_prose(&page), [1]);
    assert_eq!(wide_comments(&format!("    /// {long}\nlet x = \"{long}\";\n/// | {long}\n")), [1]);
}

/// The numbers of the too wide lines of a page, without tables, code and unbreakable lines.
fn wide_prose(page: &str) -> Vec<usize> {
    wide_lines(page.lines().enumerate())
}

fn wide_comments(source: &str) -> Vec<usize> {
    wide_lines(source.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//")))
}

fn wide_lines<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<usize> {
    let mut in_code = false;
    let mut wide = |line: &str| {
        let fence = prose(line).starts_with("```");
        in_code ^= fence;
        !fence && !in_code && is_wide(line)
    };
    lines.filter(|(_, line)| wide(line)).map(|(index, _)| index + 1).collect()
}

fn is_wide(line: &str) -> bool {
    let prose = prose(line);
    line.chars().count() > MOST_COLUMNS && !prose.starts_with(['|', '#']) && prose.contains(' ')
}

/// The line without its indentation and comment marker.
fn prose(line: &str) -> &str {
    line.trim_start().trim_start_matches(['/', '!', ' '])
}
