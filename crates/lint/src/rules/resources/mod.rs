//! Rules of the group `resources`.

rules![
    resource_contents,
    resource_readable,
    resource_type,
    resource_unique,
    resource_uri,
    template_syntax,
    unknown_resource,
];
