//! Rules of the group `json-rpc`.

rules![error_shape, id_echo, interleaved_answers, jsonrpc_member, malformed_survival, notification_silence, response_shape, unknown_method_code];
