//! The Python client without asyncio, made of the one with it by replacing words.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

const ASYNC: &str = "clients/python/src/trunkline_client/_async.py";
pub(crate) const SYNC: &str = "clients/python/src/trunkline_client/_sync.py";

/// Each word of the asynchronous client, and its replacement; longer words come first.
const WORDS: [(&str, &str); 20] = [
    (
        "The client for programs with asyncio. ``cargo xtask gen`` makes ``_sync.py`` of this file.",
        "The client for programs without asyncio. Generated from ``_async.py``: do not edit.",
    ),
    ("import asyncio\n", ""),
    ("AsyncGenerator[Event, None]", "Generator[Event, None, None]"),
    ("AsyncGenerator, AsyncIterator, Awaitable, Callable", "Callable, Generator, Iterator"),
    ("Awaitable[Answer | None]", "Answer | None"),
    ("AsyncClient", "Client"),
    ("AsyncExecution", "Execution"),
    ("AsyncGenerator", "Generator"),
    ("AsyncIterator", "Iterator"),
    ("async def", "def"),
    ("async for", "for"),
    ("async with", "with"),
    ("await ", ""),
    ("asyncio.sleep", "time.sleep"),
    ("aclosing", "closing"),
    ("aclose", "close"),
    ("aread", "read"),
    ("aiter_lines", "iter_lines"),
    ("__aenter__", "__enter__"),
    ("__aexit__", "__exit__"),
];

/// The text of the client without asyncio.
pub(crate) fn synchronous(root: &Path) -> Result<String> {
    let source = fs::read_to_string(root.join(ASYNC)).with_context(|| format!("{ASYNC} cannot be read"))?;
    Ok(WORDS.iter().fold(source, |text, (word, replacement)| text.replace(word, replacement)))
}
