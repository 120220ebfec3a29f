//! Rules of the group `http`.

rules![
    answer_type,
    cors_wildcard,
    ended_session,
    foreign_host,
    foreign_origin,
    get_answer,
    listens_everywhere,
    method_header,
    name_encoding,
    name_header,
    notification_status,
    session_for_modern,
    session_id_form,
    unknown_method_status,
    unknown_session,
    version_header,
];
