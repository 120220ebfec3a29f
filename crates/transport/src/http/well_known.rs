//! The URLs of the metadata documents that lead from a 401 to the sign-in: RFC 9728, then RFC
//! 8414.

use super::Challenge;
use url::Url;

/// Possible URLs of a server's metadata: from its challenges, then by its path, then at the root.
pub fn resource_places<'a>(url: &Url, challenges: impl IntoIterator<Item = &'a str>) -> Vec<Url> {
    let challenges = challenges.into_iter().flat_map(Challenge::read);
    let mut named = challenges.filter_map(|challenge| url.join(challenge.get("resource_metadata")?).ok());
    let path = url.path().trim_end_matches('/');
    let places = [path, ""].map(|path| at(url, &format!("/.well-known/oauth-protected-resource{path}")));
    once_each(named.next().into_iter().chain(places))
}

/// Possible URLs of an authorization server's metadata, in the three existing forms.
pub fn issuer_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let forms = [
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
        format!("{path}/.well-known/openid-configuration"),
    ];
    once_each(forms.map(|form| at(issuer, &form)))
}

/// The URL with another path on the same origin.
fn at(url: &Url, path: &str) -> Url {
    let mut place = url.clone();
    place.set_path(path);
    place.set_query(None);
    place.set_fragment(None);
    place
}

fn once_each(places: impl IntoIterator<Item = Url>) -> Vec<Url> {
    let mut all = Vec::new();
    for place in places {
        if !all.contains(&place) {
            all.push(place);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(places: &[Url]) -> Vec<&str> {
        places.iter().map(Url::as_str).collect()
    }

    #[test]
    fn a_named_place_comes_before_the_well_known_ones() {
        let url = Url::parse("https://h/mcp/?a=b").unwrap();
        let challenges = ["Basic realm=\"x\"", "Bearer resource_metadata=\"/meta\""];
        assert_eq!(
            texts(&resource_places(&url, challenges)),
            [
                "https://h/meta",
                "https://h/.well-known/oauth-protected-resource/mcp",
                "https://h/.well-known/oauth-protected-resource",
            ]
        );
        let root = Url::parse("https://h").unwrap();
        assert_eq!(texts(&resource_places(&root, [])), ["https://h/.well-known/oauth-protected-resource"]);
    }

    #[test]
    fn no_path_of_an_issuer_leads_to_another_host() {
        let issuer = Url::parse("https://h//elsewhere.example/a").unwrap();
        let places = issuer_places(&issuer);
        assert_eq!(places.len(), 3);
        assert!(places.iter().all(|place| place.origin() == issuer.origin()), "{places:?}");
        assert_eq!(
            texts(&issuer_places(&Url::parse("https://h/").unwrap())),
            [
                "https://h/.well-known/oauth-authorization-server",
                "https://h/.well-known/openid-configuration",
            ]
        );
    }
}
