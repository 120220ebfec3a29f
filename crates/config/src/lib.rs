//! Settings of the gateway, and the import of other clients' configuration files.
//!
//! [`load`] reads every layer (built-in defaults, the user's file, the project's file, variables,
//! flags), checks each one, merges them ([`Layered`]), resolves references, and returns
//! [`Settings`]: plain data, from which the binary builds components. Errors and warnings are
//! returned as a list of [`Problem`]s, each with file, line and column.
//!
//! This crate does not read the environment, and no settings come from requests: servers are
//! defined only in files.

mod approval;
mod disclosure;
pub mod edit;
mod excerpt;
mod expand;
mod files;
pub mod import;
pub mod jsonc;
mod keys;
mod layered;
pub mod lenient;
mod listen;
mod load;
mod looks;
mod narrow;
mod problem;
mod programs;
mod protected;
mod regular_file;
mod resolve;
mod secret;
mod settings;
mod source;
mod variables;
mod watch;
mod write;

pub use approval::{Approvals, FoundFile, NotApproved, approve};
pub use disclosure::{DisclosedServer, Disclosure, Reference, Said};
pub use excerpt::covered;
pub use expand::{is_secret_name, is_variable_name};
pub use files::{FILE_NAME, find_upwards};
pub use keys::{parse_time, reference_page, schema, schema_json};
pub use layered::Layered;
pub use listen::{DEFAULT_PORT, listen_address};
pub use load::{Flag, Inputs, Loaded, Preview, Rejected, load, preview};
pub use problem::{Code, Problem, Severity};
pub use regular_file::{read_regular, read_regular_head, read_regular_text};
pub use resolve::Shown;
pub use secret::{MASK, NoKeychain, NoSecret, Secret, Secrets};
pub use settings::*;
pub use source::{Layer, Origin, Source, Sources};
pub use variables::{OTHERS as OTHER_VARIABLES, Variable, variables};
pub use watch::{Seen, Watch};
pub use write::{overwrite, replace, write_secret};
