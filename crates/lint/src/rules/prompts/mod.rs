//! Rules of the group `prompts`.

rules![
    prompt_arguments,
    prompt_arguments_checked,
    prompt_messages,
    prompt_names,
    unknown_prompt,
];
