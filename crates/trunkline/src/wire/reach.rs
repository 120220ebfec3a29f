//! Builds the target and connection options of a configured server.

use crate::environment::Environment;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::{collections::BTreeMap, sync::Arc};
use trunkline_client::{
    ConnectOptions, Exposure, KnownTransport, Memory, RevisionChoice, Target,
    resilience::{TimeoutOptions, Timeouts},
};
use trunkline_config::{
    EraSetting, Local, Remote, Secret, Server, Timeouts as TimeoutSetting, TransportSetting,
};
use trunkline_protocol::{Era, Revision};
use trunkline_transport::http::HttpOptions;

/// Shorter parts of a secret text are ordinary words.
const SHORTEST_PART: usize = 8;

/// A program, with its environment and working directory.
pub(crate) fn program(
    local: &Local,
    server: &Server,
    environment: &Environment,
) -> Result<(Target, ConnectOptions), String> {
    let words = std::iter::once(&local.program).chain(&local.arguments).map(|word| word.expose().to_owned());
    let secrets = std::iter::once(&local.program).chain(&local.arguments);
    conceal(secrets.chain(local.environment.values()), environment);
    let mut target = Target::command(words).map_err(|bad| bad.to_string())?;
    if let Target::Command(command) = &mut target {
        let inherited = local
            .inherit
            .iter()
            .filter_map(|name| environment.get(name).map(|value| (name.clone(), value.to_owned())));
        command.environment.extend(inherited);
        let given = local.environment.iter().map(|(name, value)| (name.clone(), value.expose().to_owned()));
        command.environment.extend(given);
        command.directory = Some(local.directory.clone());
        let words = std::iter::once(&local.program).chain(&local.arguments);
        let hidden = words.filter(|word| word.expose() != word.shown());
        command.shown = hidden.map(|word| (word.expose().to_owned(), word.shown().to_owned())).collect();
    }
    let mut options = connect_options(server, local.era, environment)?;
    options.environment = environment.all();
    Ok((target, options))
}

/// An address, with its headers.
pub(crate) fn address(
    remote: &Remote,
    server: &Server,
    environment: &Environment,
) -> Result<(Target, ConnectOptions), String> {
    conceal_parts(remote.headers.values().chain([&remote.url]), environment);
    let target = Target::url(remote.url.expose()).map_err(|bad| bad.to_string())?;
    let mut options = connect_options(server, remote.era, environment)?;
    options.http = HttpOptions { extra_headers: headers(remote)?, ..HttpOptions::default() };
    options.exposure = if remote.insecure { Exposure::Accept } else { Exposure::Refuse };
    if remote.transport == TransportSetting::Sse {
        let known = BTreeMap::from([(target.key(), KnownTransport::LegacySse)]);
        options.memory = Some(Arc::new(Memory::from_entries(known)));
    }
    Ok((target, options))
}

/// Masks the values that the configuration masks.
fn conceal<'a>(values: impl Iterator<Item = &'a Secret>, environment: &Environment) {
    for value in values.filter(|value| value.shown() != value.expose()) {
        environment.concealed.add(value.expose());
    }
}

/// Masks the secret parts of a header or an address, too: a server may repeat only the token, or
/// the query.
fn conceal_parts<'a>(values: impl Iterator<Item = &'a Secret>, environment: &Environment) {
    for value in values.filter(|value| value.shown() != value.expose()) {
        environment.concealed.add(value.expose());
        let parts = value.expose().split([' ', '/', '?', '&', '=', ':', '@', ',', ';']);
        parts
            .filter(|part| part.len() >= SHORTEST_PART && !value.shown().contains(part))
            .for_each(|part| environment.concealed.add(part));
    }
}

/// Timeouts of the server.
pub(crate) fn timeouts(given: &TimeoutSetting) -> Result<Timeouts, String> {
    let options = TimeoutOptions { connect: given.startup, call: given.request, ceiling: given.ceiling };
    Timeouts::new(options).map_err(|error| error.to_string())
}

/// Parses headers. Values may be secrets, so errors contain only names.
fn headers(remote: &Remote) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &remote.headers {
        let header: HeaderName = name.parse().map_err(|_| format!("`{name}` is not the name of a header"))?;
        let mut value: HeaderValue = value.expose().parse().map_err(|_| {
            format!("the value of the header `{name}` has characters that are not allowed in a header")
        })?;
        value.set_sensitive(true);
        headers.append(header, value);
    }
    Ok(headers)
}

/// The revision that was asked for.
pub(crate) fn exactly(options: &ConnectOptions) -> Option<Revision> {
    match options.speak {
        RevisionChoice::Exactly(revision) => Some(revision),
        RevisionChoice::Newest | RevisionChoice::Era(_) => None,
    }
}

fn connect_options(
    server: &Server,
    era: EraSetting,
    environment: &Environment,
) -> Result<ConnectOptions, String> {
    let speak = match era {
        EraSetting::Auto => super::revision(environment)?,
        EraSetting::Legacy => RevisionChoice::Era(Era::Legacy),
        EraSetting::Modern => RevisionChoice::Era(Era::Modern),
        EraSetting::V2024_11_05 => RevisionChoice::Exactly(Revision::V2024_11_05),
        EraSetting::V2025_03_26 => RevisionChoice::Exactly(Revision::V2025_03_26),
        EraSetting::V2025_06_18 => RevisionChoice::Exactly(Revision::V2025_06_18),
        EraSetting::V2025_11_25 => RevisionChoice::Exactly(Revision::V2025_11_25),
        EraSetting::V2026_07_28 => RevisionChoice::Exactly(Revision::V2026_07_28),
    };
    Ok(ConnectOptions { speak, timeouts: timeouts(&server.options.timeout)?, ..ConnectOptions::default() })
}
