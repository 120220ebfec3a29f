//! The interface to a fetcher of foreign URLs, which the embedding program implements.

use std::fmt;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::failure::DocumentFailure;

/// Fetches URLs that callers chose. The implementation refuses addresses of our own network and
/// bounds size and time.
pub trait FetchUrl: fmt::Debug + Send + Sync {
    fn fetch(&self, url: String) -> BoxFuture<'static, Result<FetchedUrl, DocumentFailure>>;
}

/// A fetched document.
#[derive(Debug, Clone)]
pub struct FetchedUrl {
    /// The URL that answered, after redirects.
    pub url: String,
    /// The media type that the server gave, without parameters.
    pub media_type: Option<String>,
    pub bytes: Bytes,
}

impl FetchedUrl {
    /// The last part of the URL's path, for the name of the document.
    pub fn name(&self) -> Option<&str> {
        let path = self.url.split(['?', '#']).next()?;
        let (_, path) = path.split_once("://")?;
        let (_, name) = path.split_once('/')?.1.rsplit_once('/').unwrap_or(("", path.split_once('/')?.1));
        (!name.is_empty()).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_named_after_the_end_of_its_path() {
        let name = |url: &str| {
            let fetched = FetchedUrl { url: url.to_owned(), media_type: None, bytes: Bytes::new() };
            fetched.name().map(str::to_owned)
        };
        assert_eq!(name("https://h/a/b.pdf?x=/y#z").as_deref(), Some("b.pdf"));
        assert_eq!(name("https://h/b.pdf").as_deref(), Some("b.pdf"));
        assert_eq!(name("https://h/a/"), None);
        assert_eq!(name("https://h"), None);
    }
}
