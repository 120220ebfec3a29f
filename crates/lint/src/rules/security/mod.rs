//! Rules of the group `security`.

mod texts;

rules![
    concealment,
    definitions_stable,
    hidden_instructions,
    invisible_text,
    secrets_in_texts,
    steers_other_tools,
    suspicious_links,
];
