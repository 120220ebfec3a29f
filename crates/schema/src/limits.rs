//! Limits: what a schema may cost. Tests hold the engine to them.

/// The most text a schema may have, as compact JSON.
pub const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// The most subschemas.
pub const MAX_SUBSCHEMAS: usize = 10_000;
/// The most visits to subschemas that one value may need, its members and items left aside.
pub const MAX_BRANCHES: u64 = 10_000;
/// The longest chain of subschemas for one value, such as a reference to a reference.
pub const MAX_CHAIN: u32 = 64;
/// The most subschemas that the engine may build, some of them several times over.
pub const MAX_COMPILED: u64 = 50_000;
/// The most bytes in the JSON pointers to all keywords, which the engine keeps as texts.
pub const MAX_POINTER_BYTES: usize = 4 * 1024 * 1024;
/// The most subschemas with an `$id` of their own.
pub const MAX_EMBEDDED: usize = 4;
/// The most different patterns, and the most text in them.
pub const MAX_PATTERNS: usize = 100;
pub const MAX_PATTERN_TEXT: usize = 16 * 1024;
/// The most memory that all compiled patterns of a schema may take.
pub const MAX_PATTERN_BYTES: usize = 1024 * 1024;
/// The most memory that the compiled patterns of all schemas may take which are in use at once.
pub const MAX_ALL_PATTERN_BYTES: usize = 32 * 1024 * 1024;
/// The most memory for the states that one pattern has met in texts.
pub(crate) const MAX_PATTERN_CACHE: usize = 128 * 1024;
/// The most memory that errors about one value may take.
pub const MAX_ERROR_BYTES: u64 = 16 * 1024 * 1024;
/// How deep subschemas and values may be nested in each other during a check: the engine recurses.
pub const MAX_NESTING: u32 = 512;

/// How many steps a check may take. A step is a visit of a value by a subschema, or as much work as that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget(pub(crate) u64);

impl Budget {
    /// About a millisecond: short enough for a thread that serves connections.
    pub const QUICK: Self = Self(20_000);
    /// About a tenth of a second: for a thread on which nobody waits for anything else.
    pub const FULL: Self = Self(2_000_000);
}
