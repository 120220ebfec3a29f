//! Rules of the group `prompts`.

mod prompt_arguments;
mod prompt_arguments_checked;
mod prompt_arguments_optional;
mod prompt_arguments_unique;
mod prompt_content;
mod prompt_gettable;
mod prompt_member_types;
mod prompt_messages;
mod prompt_name_portable;
mod prompt_names;
mod prompt_result_empty;
mod unknown_prompt;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &prompt_arguments::RULE,
    &prompt_arguments_checked::RULE,
    &prompt_arguments_optional::RULE,
    &prompt_arguments_unique::RULE,
    &prompt_content::RULE,
    &prompt_gettable::RULE,
    &prompt_member_types::RULE,
    &prompt_messages::RULE,
    &prompt_name_portable::RULE,
    &prompt_names::RULE,
    &prompt_result_empty::RULE,
    &unknown_prompt::RULE,
];
