//! URL elicitation: a page that the server asks the user to visit. No URL is opened or resolved
//! without consent.

use super::ask::{Asker, Said};
use std::{
    io::{self, BufRead, Write},
    process::{Command, Stdio},
};
use trunkline_protocol::message::{ElicitResult, UrlParams};
use url::Url;

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

/// Shows the host and the whole URL, and asks for consent.
pub(super) fn visit<R: BufRead, W: Write>(
    asker: &mut Asker<R, W>,
    params: &UrlParams,
    open: impl FnOnce(&Url) -> io::Result<()>,
) -> ElicitResult {
    let Some((url, host)) = web_address(&params.url) else {
        asker.show("The server wants you to visit something that is no web address; it was declined:");
        asker.show(&params.url);
        return ElicitResult::decline();
    };
    asker.show(&format!("The server wants you to visit a page of {host}"));
    asker.show(&format!("  why:     {}", params.message));
    asker.show(&format!("  address: {url}"));
    loop {
        match asker.ask("[y] I visit it myself, [o] open it in the browser, [n] no:") {
            Said::Line(text) => match text.to_lowercase().as_str() {
                "y" | "yes" => return ElicitResult::accept(None),
                "o" | "open" => {
                    if let Err(error) = open(&url) {
                        asker.show(&format!("  it cannot be opened ({error}); please visit it yourself"));
                    }
                    return ElicitResult::accept(None);
                }
                "n" | "no" => return ElicitResult::decline(),
                _ => asker.show("  y, o or n, please"),
            },
            Said::Decline => return ElicitResult::decline(),
            Said::Cancel => return ElicitResult::cancel(),
        }
    }
}

/// Opens the URL in the desktop's browser; it is passed as one argument, without a shell.
pub(super) fn open(url: &Url) -> io::Result<()> {
    open_page(url, None)
}

/// As [`open`], with another program than the desktop's own.
pub(crate) fn open_page(url: &Url, program: Option<&str>) -> io::Result<()> {
    let quiet = || Stdio::null();
    let program = program.unwrap_or(OPENER);
    Command::new(program).arg(url.as_str()).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().map(drop)
}

/// The URL and its host in Punycode, so that look-alike letters are visible.
fn web_address(text: &str) -> Option<(Url, String)> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?.to_owned();
    Some((url, host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::message::Action;

    fn visited(url: &str, typed: &str) -> (Action, String, usize) {
        let (mut shown, mut opened) = (Vec::new(), 0);
        let mut asker = Asker::new(typed.as_bytes(), &mut shown);
        let open = |_: &Url| {
            opened += 1;
            Ok(())
        };
        let result = visit(&mut asker, &UrlParams::new("sign in", url), open);
        (result.action, String::from_utf8(shown).unwrap(), opened)
    }

    #[test]
    fn host_and_address_are_shown_and_nothing_is_opened_unasked() {
        let (action, shown, opened) = visited("https://раypal.com/x?y=1", "hm\ny\n");
        assert_eq!((action, opened), (Action::Accept, 0));
        assert!(shown.contains("a page of xn--ypal-43d9g.com\n"), "{shown}");
        assert!(shown.contains("https://xn--ypal-43d9g.com/x?y=1\n"), "{shown}");
    }

    #[test]
    fn opening_needs_the_word_for_it() {
        let opened = |typed| visited("http://h/", typed);
        assert_eq!(opened("o\n").2, 1);
        assert_eq!((opened("n\n").0, opened("n\n").2), (Action::Decline, 0));
        assert_eq!(opened("").0, Action::Cancel);
    }

    #[test]
    fn other_schemes_are_declined_without_asking() {
        for url in ["file:///etc/passwd", "javascript:alert(1)", "-x", "ssh://h/"] {
            assert_eq!((visited(url, "o\n").0, visited(url, "o\n").2), (Action::Decline, 0), "{url}");
        }
    }
}
