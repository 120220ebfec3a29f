//! Limits on the cost of a schema.

/// Maximum size of a schema, as compact JSON.
pub const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// Maximum number of subschemas.
pub const MAX_SUBSCHEMAS: usize = 10_000;
/// Maximum number of visits to subschemas for one value, not counting its members and items.
pub const MAX_BRANCHES: u64 = 10_000;
/// Maximum length of a chain of subschemas for one value, such as a reference to a reference.
pub const MAX_CHAIN: u32 = 64;
/// Maximum number of subschemas that the engine may compile, counting repeated compilations.
pub const MAX_COMPILED: u64 = 50_000;
/// Maximum total length of the JSON pointers to all keywords, which the engine stores as strings.
pub const MAX_POINTER_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of subschemas with their own `$id`.
pub const MAX_EMBEDDED: usize = 4;
/// Maximum number of different patterns.
pub const MAX_PATTERNS: usize = 100;
/// Maximum total length of all patterns, in bytes.
pub const MAX_PATTERN_TEXT: usize = 16 * 1024;
/// Maximum memory of all compiled patterns of a schema.
pub const MAX_PATTERN_BYTES: usize = 1024 * 1024;
/// Maximum memory of the compiled patterns of all schemas in use.
pub const MAX_ALL_PATTERN_BYTES: usize = 32 * 1024 * 1024;
/// Maximum memory of the DFA cache of one pattern.
pub(crate) const MAX_PATTERN_CACHE: usize = 128 * 1024;
/// Maximum memory of the errors about one value.
pub const MAX_ERROR_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum depth of nested subschemas and values during validation. It is limited because the
/// engine recurses.
pub const MAX_NESTING: u32 = 512;

/// Maximum number of steps of a validation. A step is one visit of a subschema by a value, or
/// equivalent work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget(pub(crate) u64);

impl Budget {
    /// About a millisecond: short enough for a thread that serves connections.
    pub const QUICK: Self = Self(20_000);
    /// About a tenth of a second: for a thread that serves nothing else meanwhile.
    pub const FULL: Self = Self(2_000_000);
}
