//! The file formats that can be read.

mod detect;

use docling::InputFormat;

/// A format that [`crate::read`] knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    Pdf,
    Docx,
    Xlsx,
    Pptx,
    Html,
    Doc,
    Xls,
    Ppt,
    Odt,
    Ods,
    Odp,
    Rtf,
    Epub,
    Csv,
    Email,
    Mhtml,
    Markdown,
    Asciidoc,
    Latex,
    WebVtt,
    Notebook,
    Xml,
    Text,
    /// The JSON of a `DoclingDocument`.
    Json,
    /// A picture, which has no text without OCR.
    Image,
}

/// Name, media type, extensions and docling's own name of a format.
struct Facts {
    format: Format,
    name: &'static str,
    mime: &'static str,
    extensions: &'static [&'static str],
    reader: InputFormat,
}

impl Format {
    /// Every format, with those of office programs first.
    pub fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(|facts| facts.format)
    }

    /// A short name, such as `docx`.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    pub fn from_name(name: &str) -> Option<Self> {
        FACTS.iter().find(|facts| facts.name.eq_ignore_ascii_case(name)).map(|facts| facts.format)
    }

    pub fn media_type(self) -> &'static str {
        self.facts().mime
    }

    /// File name extensions without the dot, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        self.facts().extensions
    }

    pub fn from_extension(extension: &str) -> Option<Self> {
        let facts = FACTS
            .iter()
            .find(|facts| facts.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension)));
        facts.map(|facts| facts.format)
    }

    /// Finds the format by the content, then by the extension of the name. Without either, bytes
    /// that are UTF-8 text are [`Format::Text`].
    pub fn detect(name: Option<&str>, bytes: &[u8]) -> Option<Self> {
        let extension = name.and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
        detect::by_content(bytes)
            .or_else(|| Self::from_extension(extension?).filter(|format| !format.has_signature()))
            .or_else(|| detect::is_text(bytes).then_some(Self::Text))
            .or_else(|| Self::from_extension(extension?))
    }

    /// True for packages and binary formats, whose content is always recognised if it is intact.
    pub(crate) fn is_package(self) -> bool {
        use Format::{Docx, Epub, Odp, Ods, Odt, Pptx, Xlsx};
        matches!(self, Docx | Xlsx | Pptx | Odt | Ods | Odp | Epub)
    }

    pub(crate) fn reader(self) -> InputFormat {
        self.facts().reader
    }

    fn has_signature(self) -> bool {
        use Format::{Doc, Image, Pdf, Ppt, Rtf, Xls};
        self.is_package() || matches!(self, Doc | Image | Pdf | Ppt | Rtf | Xls)
    }

    fn facts(self) -> &'static Facts {
        // Every variant has a row; a test checks it.
        FACTS.iter().find(|facts| facts.format == self).unwrap_or(&FACTS[0])
    }
}

const fn row(
    format: Format,
    name: &'static str,
    mime: &'static str,
    extensions: &'static [&'static str],
    reader: InputFormat,
) -> Facts {
    Facts { format, name, mime, extensions, reader }
}

#[rustfmt::skip]
const FACTS: &[Facts] = &[
    row(Format::Pdf, "pdf", "application/pdf", &["pdf"], InputFormat::Pdf),
    row(Format::Docx, "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        &["docx", "docm", "dotx", "dotm"], InputFormat::Docx),
    row(Format::Xlsx, "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        &["xlsx", "xlsm"], InputFormat::Xlsx),
    row(Format::Pptx, "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        &["pptx", "pptm", "ppsx", "ppsm", "potx", "potm"], InputFormat::Pptx),
    row(Format::Html, "html", "text/html", &["html", "htm", "xhtml"], InputFormat::Html),
    row(Format::Doc, "doc", "application/msword", &["doc", "dot"], InputFormat::Doc),
    row(Format::Xls, "xls", "application/vnd.ms-excel", &["xls", "xlt"], InputFormat::Xls),
    row(Format::Ppt, "ppt", "application/vnd.ms-powerpoint", &["ppt", "pps", "pot"], InputFormat::Ppt),
    row(Format::Odt, "odt", "application/vnd.oasis.opendocument.text", &["odt", "ott"], InputFormat::Odt),
    row(Format::Ods, "ods", "application/vnd.oasis.opendocument.spreadsheet", &["ods", "ots"], InputFormat::Ods),
    row(Format::Odp, "odp", "application/vnd.oasis.opendocument.presentation", &["odp", "otp"], InputFormat::Odp),
    row(Format::Rtf, "rtf", "application/rtf", &["rtf"], InputFormat::Rtf),
    row(Format::Epub, "epub", "application/epub+zip", &["epub"], InputFormat::Epub),
    row(Format::Csv, "csv", "text/csv", &["csv", "tsv"], InputFormat::Csv),
    row(Format::Email, "email", "message/rfc822", &["eml", "msg"], InputFormat::Email),
    row(Format::Mhtml, "mhtml", "multipart/related", &["mhtml", "mht"], InputFormat::Mhtml),
    row(Format::Markdown, "markdown", "text/markdown", &["md", "markdown"], InputFormat::Md),
    row(Format::Asciidoc, "asciidoc", "text/asciidoc", &["adoc", "asciidoc", "asc"], InputFormat::Asciidoc),
    row(Format::Latex, "latex", "text/x-tex", &["tex", "latex"], InputFormat::Latex),
    row(Format::WebVtt, "webvtt", "text/vtt", &["vtt"], InputFormat::Vtt),
    row(Format::Notebook, "notebook", "application/x-ipynb+json", &["ipynb"], InputFormat::Ipynb),
    row(Format::Xml, "xml", "application/xml", &["xml", "nxml"], InputFormat::Xml),
    row(Format::Text, "text", "text/plain", &["txt", "text", "log"], InputFormat::Text),
    row(Format::Json, "json", "application/json", &["json"], InputFormat::JsonDocling),
    row(Format::Image, "image", "image/*", &["png", "jpg", "jpeg", "tif", "tiff", "bmp", "webp", "gif"],
        InputFormat::Image),
];

#[cfg(test)]
mod tests;
