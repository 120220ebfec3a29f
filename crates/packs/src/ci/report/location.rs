//! Locations in source files, as programs print them.

/// A location in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceLocation {
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) column: Option<u64>,
}

/// `path:line` or `path:line:column`, and nothing else.
pub(super) fn exact(text: &str) -> Option<SourceLocation> {
    let text = text.trim().trim_start_matches("file://");
    let (before, last) = text.rsplit_once(':')?;
    let last: u64 = last.parse().ok()?;
    let column_last =
        before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u64>().ok()?)));
    let place = match column_last {
        Some((file, line)) => SourceLocation { file: file.to_owned(), line, column: Some(last) },
        None => SourceLocation { file: before.to_owned(), line: last, column: None },
    };
    is_file(&place.file).then_some(place)
}

/// `path:line…` at the beginning, and the text after the colon that follows it.
pub(super) fn leading(line: &str) -> Option<(SourceLocation, &str)> {
    // Skips the colon after a Windows drive letter.
    let skip = usize::from(line.as_bytes().get(1) == Some(&b':')) * 2;
    let colon = skip + line.get(skip..)?.find(':')?;
    let (file, rest) = (&line[..colon], &line[colon + 1..]);
    let (number, rest) = number(rest)?;
    let (column, rest) = match rest.strip_prefix(':').and_then(self::number) {
        Some((column, rest)) => (Some(column), rest),
        None => (None, rest),
    };
    is_file(file).then(|| (SourceLocation { file: file.trim().to_owned(), line: number, column }, rest))
}

/// The first location in a stack trace that is not in a library. It is in parentheses or at the
/// end of a line.
pub(super) fn in_stack(trace: &str) -> Option<SourceLocation> {
    let places = trace.lines().filter_map(in_frame);
    let mut fallback = None;
    for place in places {
        let foreign = ["node_modules/", "node:", "internal/", "/lib/python"]
            .iter()
            .any(|part| place.file.contains(part));
        if !foreign {
            return Some(place);
        }
        fallback.get_or_insert(place);
    }
    fallback
}

fn in_frame(line: &str) -> Option<SourceLocation> {
    let line = line.trim().trim_end_matches(',');
    let inner = match (line.rfind('('), line.strip_suffix(')')) {
        (Some(open), Some(cut)) => &cut[open + 1..],
        _ => line.rsplit(' ').next()?,
    };
    exact(inner)
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// True if the text can be the path of a source file: it has an extension or is a makefile, and is
/// not a sentence.
fn is_file(text: &str) -> bool {
    let text = text.trim();
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && !ending.is_empty() && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let sentence = text.contains(": ") || text.contains("//") || text.starts_with('(');
    (has_ending || name.to_ascii_lowercase().ends_with("makefile")) && !sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u64, column: Option<u64>) -> SourceLocation {
        SourceLocation { file: file.into(), line, column }
    }

    #[test]
    fn places_are_read_with_and_without_a_column() {
        assert_eq!(exact("src/a.rs:3:5"), Some(place("src/a.rs", 3, Some(5))));
        assert_eq!(exact("file:///x/a.js:7"), Some(place("/x/a.js", 7, None)));
        assert_eq!(exact("12:30:45"), None);
        assert_eq!(leading("a b.c:3: error: x"), Some((place("a b.c", 3, None), ": error: x")));
        assert_eq!(leading("C:\\a.c:3:4: x"), Some((place("C:\\a.c", 3, Some(4)), ": x")));
        assert_eq!(leading("note: see a.c:3"), None);
    }

    #[test]
    fn the_frame_of_the_project_is_chosen() {
        let trace = "    at ok (node:internal/x.js:1:1)\n    at Context.<anonymous> (test/a.js:6:12)";
        assert_eq!(in_stack(trace), Some(place("test/a.js", 6, Some(12))));
        assert_eq!(
            in_stack("at x (/p/node_modules/m/i.js:2:3)"),
            Some(place("/p/node_modules/m/i.js", 2, Some(3)))
        );
    }
}
