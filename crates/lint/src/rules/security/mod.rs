//! Rules of the group `security`.

rules![
    command_injection,
    concealment,
    doubtful_links,
    elicits_secrets,
    encoded_text,
    error_leaks,
    hidden_characters,
    icon_addresses,
    large_argument,
    locked_definitions,
    model_orders,
    path_escape,
    resource_escape,
    secret_parameters,
    secrets_listed,
    shadowed_names,
    stable_definitions,
    steers_other_servers,
    terminal_escapes,
    toxic_flow,
];

mod texts;

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
