//! `search_content`: finds text in files.

use std::io::{self, Read};
use std::sync::Arc;

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use super::filter::Filter;
use super::ignores::Ignored;
use super::search_files::here;
use super::walk::{self, End, Rules, Step};
use crate::sandbox::{Dir, Kind, Name, Purpose, Spot};
use trunkline_toolbox::{Tool, ToolError};

const USUAL_MATCHES: usize = 100;
const MAX_CONTEXT: usize = 10;
const MAX_QUERY_BYTES: usize = 4096;
/// Memory limit of a compiled regular expression and of its DFA cache.
const MAX_REGEX_BYTES: usize = 4 << 20;
/// Maximum length of a line while searching.
const MAX_LINE_BYTES: usize = 4 << 20;
/// Characters shown of a line; below: characters shown before the match.
const SHOWN_CHARS: usize = 240;
const SHOWN_BEFORE: usize = 80;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Directory or file to search; default: the allowed directory
    #[serde(default = "here")]
    path: String,
    /// Text to find, or a regular expression with regex: true
    query: String,
    /// Treat the query as a regular expression (Rust syntax, no look-around or back-references)
    #[serde(default)]
    regex: bool,
    /// Ignore case
    #[serde(default)]
    ignore_case: bool,
    /// Globs of files to search; default: all
    #[serde(default)]
    include: Vec<String>,
    /// Globs of files and directories to exclude
    #[serde(default)]
    exclude: Vec<String>,
    /// Lines to show before and after each match, at most 10
    #[serde(default)]
    context: usize,
    /// Include files ignored by `.gitignore`, and `.git`
    #[serde(default)]
    include_ignored: bool,
    /// Maximum number of matching lines; default 100
    #[schemars(range(min = 1))]
    max_results: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ContentMatches {
    matches: Vec<Hit>,
    files_searched: usize,
    files_matched: usize,
    /// Number of skipped files: too large, binary, protected or unreadable
    files_passed_over: usize,
    /// True if there may be more matches
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hit {
    path: String,
    /// Counted from 1
    line: u64,
    /// Start of the match, in characters counted from 1
    column: usize,
    /// The line, truncated if it is long
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "search_content", run)
        .title("Search in files")
        .description(format!(
            "Finds lines that contain a text or fit a regular expression, in linear time. Returns {USUAL_MATCHES} matching lines \
             unless max_results says otherwise (at most {}), each cut to {SHOWN_CHARS} characters, and works no longer than {} seconds; \
             `truncated` tells that there may be more. Passed over are binary files, files over {} MB, protected names, links, and what \
             `.gitignore` names unless include_ignored is true.",
            fs.caps.results,
            fs.caps.time.as_secs(),
            fs.caps.searched_bytes >> 20
        ))
        .read_only()
        .idempotent()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<ContentMatches, ToolError> {
    let spot = fs.spot(&args.path, Purpose::Read)?;
    let mut search = Search::new(fs, args, budget)?;
    if spot.kind()? == Kind::File {
        let (dir, name) = spot.entry()?;
        search.file(dir, name);
    } else {
        search.below(&spot, args)?;
    }
    Ok(search.done)
}

struct Search<'a> {
    fs: &'a Filesystem,
    budget: &'a Budget,
    matcher: RegexMatcher,
    searcher: Searcher,
    include: Filter,
    most: usize,
    left: usize,
    done: ContentMatches,
}

impl<'a> Search<'a> {
    fn new(fs: &'a Filesystem, args: &Args, budget: &'a Budget) -> Result<Self, ToolError> {
        let context = args.context.min(MAX_CONTEXT);
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .line_terminator(LineTerminator::crlf())
            .before_context(context)
            .after_context(context)
            .heap_limit(Some(MAX_LINE_BYTES))
            .binary_detection(BinaryDetection::quit(0))
            .build();
        let done = ContentMatches {
            matches: Vec::new(),
            files_searched: 0,
            files_matched: 0,
            files_passed_over: 0,
            truncated: false,
        };
        let most = args.max_results.unwrap_or(USUAL_MATCHES).clamp(1, fs.caps.results);
        Ok(Self {
            fs,
            budget,
            matcher: matcher(args)?,
            searcher,
            include: Filter::new(&args.include)?,
            most,
            left: fs.caps.read_bytes,
            done,
        })
    }

    fn below(&mut self, spot: &Spot, args: &Args) -> Result<(), ToolError> {
        let rules = Rules {
            depth: usize::MAX,
            exclude: Filter::new(&args.exclude)?,
            ignored: if args.include_ignored { Ignored::Include } else { Ignored::PassOver },
        };
        let (fs, budget) = (self.fs, self.budget);
        let end = walk::walk(fs, &spot.open_dir()?, &rules, budget, &mut |found| Ok(self.visit(found)))?;
        self.done.truncated |= end == End::Early;
        Ok(())
    }

    fn visit(&mut self, found: &walk::VisitedEntry<'_>) -> Step {
        let wanted = self.include.is_empty() || self.include.fits(found.below);
        if found.entry.kind == Kind::File && wanted {
            self.file(found.dir, &found.entry.name);
        }
        if self.done.truncated { Step::Stop } else { Step::On }
    }

    fn file(&mut self, dir: &Dir, name: &Name) {
        let before = self.done.matches.len();
        match self.search(dir, name) {
            Some(()) => self.done.files_searched += 1,
            None => self.done.files_passed_over += 1,
        }
        self.done.files_matched += usize::from(self.done.matches.len() > before);
    }

    fn search(&mut self, dir: &Dir, name: &Name) -> Option<()> {
        let fs = self.fs;
        if fs.sandbox.hides(dir.root(), &dir.path().join(name)) {
            return None;
        }
        let opened = fs.read_from(dir, name, dir.open_file(name).ok()?).ok()?;
        if opened.size() > fs.caps.searched_bytes {
            return None;
        }
        let reader = Bounded { file: opened.file.take(fs.caps.searched_bytes), budget: self.budget };
        let kept = self.done.matches.len();
        let mut collect = Collect {
            path: opened.label,
            matcher: &self.matcher,
            most: self.most,
            done: &mut self.done,
            before: Vec::new(),
            left: &mut self.left,
            binary: false,
        };
        let searched = self.searcher.search_reader(&self.matcher, reader, &mut collect);
        if collect.binary {
            self.done.matches.truncate(kept);
            return None;
        }
        searched.ok()
    }
}

fn matcher(args: &Args) -> Result<RegexMatcher, ToolError> {
    if args.query.is_empty() || args.query.len() > MAX_QUERY_BYTES {
        return Err(
            ToolError::new(format!("the query has to have 1 to {MAX_QUERY_BYTES} bytes")).hint("shorten it")
        );
    }
    RegexMatcherBuilder::new()
        .fixed_strings(!args.regex)
        .case_insensitive(args.ignore_case)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .crlf(true)
        .build(&args.query)
        .map_err(|error| {
            ToolError::new(format!("the query cannot be searched for: {error}")).hint(
                "matches lie within one line; correct the expression, or leave out regex to find plain text",
            )
        })
}

/// Reader that stops in a long file when the budget is used up.
struct Bounded<'a, R> {
    file: R,
    budget: &'a Budget,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_spent() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}

struct Collect<'a> {
    path: String,
    matcher: &'a RegexMatcher,
    most: usize,
    done: &'a mut ContentMatches,
    before: Vec<String>,
    /// Remaining bytes of text in the answer.
    left: &'a mut usize,
    binary: bool,
}

impl Collect<'_> {
    fn taken(&mut self, line: &str, match_at: usize) -> String {
        let text = shown(line, match_at);
        *self.left = self.left.saturating_sub(text.len() + self.path.len());
        text
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.done.matches.len() >= self.most || *self.left == 0 {
            self.done.truncated = true;
            return Ok(false);
        }
        let at = self.matcher.find(found.bytes()).ok().flatten().map_or(0, |found| found.start());
        let text = String::from_utf8_lossy(found.bytes());
        let column = String::from_utf8_lossy(&found.bytes()[..at]).chars().count();
        let hit = Hit {
            path: self.path.clone(),
            line: found.line_number().unwrap_or(0),
            column: column + 1,
            text: self.taken(&text, column),
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        };
        self.done.matches.push(hit);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        let text = self.taken(&String::from_utf8_lossy(found.bytes()), 0);
        match (found.kind(), self.done.matches.last_mut()) {
            (SinkContextKind::After, Some(hit)) => hit.after.push(text),
            _ => self.before.push(text),
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

/// A line without its line end, truncated to the part around the match.
fn shown(line: &str, match_at: usize) -> String {
    let line = line.trim_end_matches(['\r', '\n']);
    let skip = if match_at + SHOWN_BEFORE > SHOWN_CHARS { match_at.saturating_sub(SHOWN_BEFORE) } else { 0 };
    let mut text: String = line.chars().skip(skip).take(SHOWN_CHARS).collect();
    if skip > 0 {
        text.insert(0, '…');
    }
    if line.chars().nth(skip + SHOWN_CHARS).is_some() {
        text.push('…');
    }
    text
}
