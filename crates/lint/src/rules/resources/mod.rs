//! Rules of the group `resources`.

rules![
    file_uri_form,
    resource_annotations,
    resource_bytes_fit,
    resource_contents,
    resource_contents_empty,
    resource_contents_uri,
    resource_media_form,
    resource_member_types,
    resource_names_differ,
    resource_readable,
    resource_size_form,
    resource_type,
    resource_unique,
    resource_uri,
    resource_uri_characters,
    template_scheme,
    template_syntax,
    templates_unique,
    unknown_resource,
];
