//! The linter on third-party servers: above info, it finds exactly what `docs/real-servers.md`
//! lists. A new finding is either fixed as a false positive, or added there with its clause of the
//! specification.
//!
//! Rules about speed are left out, because what they find depends on the machine.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

#[path = "../support/installed.rs"]
mod installed;
mod linted;
mod page;
mod peers;
mod subject;

use page::Page;
use subject::{Mode, SUBJECTS, Subject};

/// Each line is a subject of [`SUBJECTS`] by its title, and a test of that name.
macro_rules! servers {
    ($($name:ident: $title:literal $(, $mode:ident)?;)*) => {
        /// The titles that have tests.
        const TESTED: &[&str] = &[$($title),*];
        $(
            #[test]
            fn $name() {
                #[allow(unused_mut, unused_assignments, reason = "most subjects are judged in the usual mode only")]
                let mut mode = Mode::Default;
                $(mode = Mode::$mode;)?
                is_as_explained($title, mode);
            }
        )*
    };
}

servers! {
    everything_stdio: "server-everything over stdio";
    everything_stdio_active: "server-everything over stdio", Active;
    everything_http: "server-everything over Streamable HTTP";
    everything_sse: "server-everything over HTTP+SSE";
    filesystem: "server-filesystem";
    filesystem_active: "server-filesystem", Active;
    memory: "server-memory";
    memory_active: "server-memory", Active;
    sequential_thinking: "server-sequential-thinking";
    git: "mcp-server-git";
    time: "mcp-server-time";
    time_active: "mcp-server-time", Active;
    fetch: "mcp-server-fetch";
    fastmcp_stdio: "a FastMCP server over stdio";
    fastmcp_http: "a FastMCP server over Streamable HTTP";
    rmcp_stdio: "an rmcp server over stdio";
    rmcp_http: "an rmcp server over Streamable HTTP";
    typescript_1_output_schema: "example mcpServerOutputSchema of the TypeScript SDK 1.x";
    typescript_1_progress: "example progressExample of the TypeScript SDK 1.x";
    typescript_1_sample: "example toolWithSampleServer of the TypeScript SDK 1.x";
    typescript_1_http: "example simpleStreamableHttp of the TypeScript SDK 1.x";
    typescript_1_json: "example jsonResponseStreamableHttp of the TypeScript SDK 1.x";
    typescript_1_stateless: "example simpleStatelessStreamableHttp of the TypeScript SDK 1.x";
    typescript_1_both: "example sseAndStreamableHttpCompatibleServer of the TypeScript SDK 1.x";
    typescript_1_standalone: "example standaloneSseWithGetStreamableHttp of the TypeScript SDK 1.x";
    typescript_1_form: "example elicitationFormExample of the TypeScript SDK 1.x";
    typescript_1_sse: "example simpleSseServer of the TypeScript SDK 1.x";
    typescript_1_tasks: "example simpleTaskInteractive of the TypeScript SDK 1.x";
    typescript_1_polling: "example ssePollingExample of the TypeScript SDK 1.x";
    typescript_2_stdio: "a server of the TypeScript SDK 2.x over stdio";
    typescript_2_http: "a server of the TypeScript SDK 2.x over Streamable HTTP";
}

fn is_as_explained(title: &str, mode: Mode) {
    let subject = SUBJECTS.iter().find(|subject| subject.title == title).unwrap();
    let Some(found) = linted::above_info(subject, mode) else { return };
    let page = Page::read();
    let section = page.section(title);
    assert_eq!(
        section.version,
        peers::version(&subject.package),
        "{title}: the page is about another version"
    );
    let explained = section.expected(mode, linted::has_own_network());
    assert_eq!(
        found, explained,
        "{title}, {mode:?}: found on the left, explained in docs/real-servers.md on the right"
    );
}

#[test]
fn every_section_of_the_page_is_tested() {
    let page = Page::read();
    let titles: Vec<&str> = page.sections.iter().map(|section| section.title.as_str()).collect();
    for title in &titles {
        assert!(TESTED.contains(title), "no test is about `{title}`");
    }
    for Subject { title, .. } in SUBJECTS {
        assert!(titles.contains(title), "the page has no section `{title}`");
    }
}

#[test]
fn server_everything_is_open_to_foreign_pages_and_to_the_network() {
    let page = Page::read();
    let rows = &page.section("server-everything over Streamable HTTP").rows;
    for rule in ["foreign-origin", "listens-everywhere"] {
        assert!(rows.iter().any(|row| row.rule == rule), "{rule}");
    }
}
