//! Rules of the group `json-rpc`.

mod batch_refused;
mod envelope_members;
mod error_code_range;
mod error_shape;
mod error_texts;
mod fuzzed_frames;
mod id_echo;
mod interleaved_answers;
mod invalid_envelope;
mod json_spelling;
mod jsonrpc_member;
mod large_ids;
mod lone_surrogates;
mod long_request;
mod malformed_survival;
mod message_objects;
mod meta_keys;
mod notification_shape;
mod notification_silence;
mod notification_survival;
mod parse_error_code;
mod requests_answered;
mod response_shape;
mod responses_ignored;
mod result_type;
mod stray_responses;
mod unicode_input;
mod unique_members;
mod unknown_method_code;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &batch_refused::RULE,
    &envelope_members::RULE,
    &error_code_range::RULE,
    &error_shape::RULE,
    &error_texts::RULE,
    &fuzzed_frames::RULE,
    &id_echo::RULE,
    &interleaved_answers::RULE,
    &invalid_envelope::RULE,
    &json_spelling::RULE,
    &jsonrpc_member::RULE,
    &large_ids::RULE,
    &lone_surrogates::RULE,
    &long_request::RULE,
    &malformed_survival::RULE,
    &message_objects::RULE,
    &meta_keys::RULE,
    &notification_shape::RULE,
    &notification_silence::RULE,
    &notification_survival::RULE,
    &parse_error_code::RULE,
    &requests_answered::RULE,
    &response_shape::RULE,
    &responses_ignored::RULE,
    &result_type::RULE,
    &stray_responses::RULE,
    &unicode_input::RULE,
    &unique_members::RULE,
    &unknown_method_code::RULE,
];
