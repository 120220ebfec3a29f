//! Rules of the group `resources`.

rules![
    file_uri_form,
    resource_annotations,
    resource_contents,
    resource_contents_empty,
    resource_contents_uri,
    resource_identity,
    resource_media_agrees,
    resource_media_fits,
    resource_media_form,
    resource_member_types,
    resource_names_differ,
    resource_readable,
    resource_size_fits,
    resource_uri_form,
    resource_uris_unique,
    subscribe_works,
    template_form,
    unknown_resource_code,
    unknown_resource_refused,
];
