//! Rules of the group `utilities`.

rules![
    cache_hints,
    cache_scope_pages,
    completion_values,
    cursor_refused,
    items_once,
    pages_end,
    stray_progress,
    undeclared_logs,
];
