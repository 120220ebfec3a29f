//! Converts files named on the command line: `convert OUT FILE…` writes `OUT/<name>.md`, `.json`
//! and `.html`. Files that end in `.json` are exported as they are.

use std::{env, error::Error, fs, path::Path};
use trunkline_documents::{
    Document, Format, HtmlOptions, MarkdownOptions, ReadOptions, html, markdown, read,
};

#[expect(clippy::print_stderr, reason = "a program of its own")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let out = arguments.next().ok_or("usage: convert OUT FILE…")?;
    for file in arguments {
        if let Err(error) = convert(Path::new(&out), Path::new(&file)) {
            eprintln!("{file}: {error}");
        }
    }
    Ok(())
}

fn convert(out: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = fs::read(file)?;
    let name = file.file_name().and_then(|name| name.to_str()).ok_or("no file name")?;
    let format = Format::detect(Some(name), &bytes).ok_or("unknown format")?;
    let options = ReadOptions { name: Some(name.to_owned()), ..ReadOptions::default() };
    let document = match format {
        Format::Json => Document::from_json(&bytes)?,
        _ => read(&bytes, format, &options)?,
    };
    let options = match format {
        Format::Json => MarkdownOptions::default(),
        _ => MarkdownOptions::for_reading(),
    };
    fs::write(out.join(format!("{name}.md")), markdown(&document, &options))?;
    fs::write(out.join(format!("{name}.html")), html(&document, &HtmlOptions::default()))?;
    fs::write(out.join(format!("{name}.json")), document.to_json())?;
    Ok(())
}
