//! Rules of the group `prompts`.

rules![
    prompt_arguments_unique,
    prompt_gettable,
    prompt_member_types,
    prompt_name_portable,
    prompt_names,
    prompt_required_arguments,
    prompt_result,
    prompt_result_empty,
    unknown_prompt_code,
];
