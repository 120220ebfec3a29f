//! Rules of the group `security`.

mod texts;

rules![
    concealment,
    definitions_stable,
    form_secrets,
    hidden_instructions,
    invisible_text,
    locked_definitions,
    secrets_in_texts,
    shadowed_names,
    steers_other_tools,
    suspicious_links,
];
