//! `/docs`: a page for people, with a form to try each tool.
//!
//! The page is the same for everybody and says nothing about this server. It reads
//! `openapi.json` next to it with the key that its reader types in, so it shows what that key may
//! use. It loads nothing from elsewhere, and its policy forbids that.

use crate::http::{Body, plain};
use ::http::{HeaderValue, Response, StatusCode, header};

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// A file of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocsFile {
    Page,
    Script,
    Style,
}

impl DocsFile {
    /// The file of a path, below the main endpoint or below a view.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        let rest = match parts.as_slice() {
            ["mcp", "server", _, rest @ ..] | ["mcp", _, rest @ ..] | rest => rest,
        };
        match rest {
            ["docs"] => Some(Self::Page),
            ["docs", "app.js"] => Some(Self::Script),
            ["docs", "style.css"] => Some(Self::Style),
            _ => None,
        }
    }

    pub(crate) fn respond(self) -> Response<Body> {
        let (kind, text) = match self {
            Self::Page => ("text/html; charset=utf-8", include_str!("page.html")),
            Self::Script => ("text/javascript; charset=utf-8", include_str!("app.js")),
            Self::Style => ("text/css; charset=utf-8", include_str!("style.css")),
        };
        let mut response = plain(StatusCode::OK, text);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_below_every_endpoint() {
        for (path, expected) in [
            ("/docs", Some(DocsFile::Page)),
            ("/docs/app.js", Some(DocsFile::Script)),
            ("/mcp/team/docs", Some(DocsFile::Page)),
            ("/mcp/server/git/docs/style.css", Some(DocsFile::Style)),
            ("/mcp/server/docs", None),
            ("/mcp/docs", None),
            ("/docs/", None),
            ("/docs/other", None),
            ("/mcp", None),
        ] {
            assert_eq!(DocsFile::of(path), expected, "{path}");
        }
    }

    #[test]
    fn the_page_names_no_other_place_and_has_no_script_of_its_own() {
        let page = include_str!("page.html");
        for text in [page, include_str!("app.js"), include_str!("style.css")] {
            assert!(!text.contains("http://") && !text.contains("https://"), "{text}");
        }
        assert!(!page.contains("style=") && !page.contains(" on") && page.matches("<script").count() == 1);
    }
}
