//! Rules of the group `security`.

mod texts;

rules![
    command_injection,
    concealment,
    definitions_stable,
    encoded_text,
    error_leaks,
    form_secrets,
    hidden_instructions,
    icon_addresses,
    invisible_text,
    large_argument,
    locked_definitions,
    path_escape,
    request_forgery,
    resource_escape,
    secrets_in_results,
    secrets_in_texts,
    shadowed_names,
    steers_other_servers,
    steers_other_tools,
    suspicious_links,
    toxic_flow,
];

mod keys;
mod phrases;
mod words;

use crate::{engine::Fleet, evidence::List};

/// The tools of all servers, with whose they are.
fn fleet_tools<'a>(fleet: &Fleet<'a>) -> Vec<(&'a str, &'a str)> {
    let mut tools = Vec::new();
    for server in &fleet.servers {
        let Some(case) = server.cases().last() else { continue };
        let items = case.list(List::Tools).unwrap_or_default();
        tools.extend(items.iter().filter_map(|tool| Some((server.target.as_str(), tool.text("name")?))));
    }
    tools
}
