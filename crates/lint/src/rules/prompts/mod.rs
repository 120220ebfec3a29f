//! Rules of the group `prompts`.

rules![
    prompt_arguments,
    prompt_arguments_checked,
    prompt_arguments_unique,
    prompt_content,
    prompt_gettable,
    prompt_member_types,
    prompt_messages,
    prompt_name_portable,
    prompt_names,
    prompt_result_empty,
    unknown_prompt,
];
