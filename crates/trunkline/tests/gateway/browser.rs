//! A browser that signs in: follows the links of the door and of the authorization server of the
//! bench, with cookies.

use crate::wire::{Answer, Wire};
use std::collections::BTreeMap;
use url::Url;

/// Most pages of an authorization server that are followed.
const MAX_PAGES: usize = 20;

/// A browser with the cookies of one site.
#[derive(Default)]
pub(crate) struct Browser {
    cookie: Option<String>,
}

impl Browser {
    /// Opens a login link and continues to the authorization server; returns the address of its
    /// page.
    pub(crate) async fn start(&mut self, link: &str) -> String {
        let shown = send("GET", link, "").await;
        assert_eq!(shown.status, 200, "{}", shown.text());
        let begun = self.submit(link).await;
        assert_eq!(begun.status, 303, "{}", begun.text());
        begun.header("location").unwrap().to_owned()
    }

    /// Submits the form of a link's page.
    pub(crate) async fn submit(&mut self, link: &str) -> Answer {
        let origin = Url::parse(link).unwrap().origin().ascii_serialization();
        let answer = send("POST", link, &format!("Origin: {origin}\r\n")).await;
        let cookie = answer.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        self.cookie = cookie.map(str::to_owned).or(self.cookie.take());
        answer
    }

    /// Signs in at the authorization server; returns the address that it redirects to.
    pub(crate) async fn sign_in(page: &str, user: &str) -> String {
        let page = format!("{page}&bench_user={user}");
        let answer = send("GET", &page, "").await;
        answer.header("location").unwrap_or_else(|| panic!("{}", answer.text())).to_owned()
    }

    /// Follows the pages of any authorization server that asks nobody, with its cookies; returns
    /// the address that it redirects to.
    pub(crate) async fn follow(page: &str) -> String {
        let mut jar: BTreeMap<String, String> = BTreeMap::new();
        let mut at = Url::parse(page).unwrap();
        let origin = at.origin();
        for _ in 0..MAX_PAGES {
            let cookies: Vec<String> = jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let answer = send("GET", at.as_str(), &format!("Cookie: {}\r\n", cookies.join("; "))).await;
            for (_, cookie) in answer.headers.iter().filter(|(name, _)| name == "set-cookie") {
                let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
                jar.insert(name.to_owned(), value.to_owned());
            }
            let next = answer.header("location").unwrap_or_else(|| panic!("{at}: {}", answer.text()));
            at = at.join(next).unwrap();
            if at.origin() != origin {
                return at.into();
            }
        }
        panic!("the authorization server goes on and on: {at}");
    }

    /// Follows the redirect back to the door.
    pub(crate) async fn come_back(&self, address: &str) -> Answer {
        send("GET", address, &self.cookies()).await
    }

    /// The header with the cookie of the door, if there is one.
    pub(crate) fn cookies(&self) -> String {
        self.cookie.as_ref().map(|cookie| format!("Cookie: {cookie}\r\n")).unwrap_or_default()
    }

    /// The whole way; returns the code that the door shows.
    pub(crate) async fn code(link: &str, user: &str) -> String {
        let mut browser = Self::default();
        let page = browser.start(link).await;
        let back = Self::sign_in(&page, user).await;
        let shown = browser.come_back(&back).await;
        code_of(&shown).unwrap_or_else(|| panic!("{} {}", shown.status, shown.text()))
    }
}

/// The code on a page.
pub(crate) fn code_of(page: &Answer) -> Option<String> {
    let text = page.text();
    let (_, rest) = text.split_once("<code>")?;
    Some(rest.split_once("</code>")?.0.to_owned())
}

async fn send(method: &str, address: &str, headers: &str) -> Answer {
    let url = Url::parse(address).unwrap();
    let place = format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap());
    let target = &url[url::Position::BeforePath..];
    Wire::open(&place).await.unwrap().send(&format!("{method} {target}"), headers, "").await.unwrap()
}
