//! Settings of the gateway: as written, layered, resolved; and the files of other clients, read.
//!
//! [`load`] reads every layer (built-in defaults, the user's file, the project's file, variables, flags), checks each by itself, lays
//! them over each other ([`Layered`]), looks up what they refer to, and gives [`Settings`]: plain data, from which the binary makes
//! components. What is wrong is told as a list of [`Problem`]s, each with file, line and column.
//!
//! Nothing here reads the environment, and nothing takes settings from a request: servers come from files alone.

mod approval;
mod disclosure;
mod excerpt;
mod expand;
mod files;
pub mod import;
pub mod jsonc;
mod keys;
mod layered;
pub mod lenient;
mod load;
mod looks;
mod narrow;
mod problem;
mod regular_file;
mod resolve;
mod secret;
mod settings;
mod source;
mod variables;
mod watch;
mod write;

pub use approval::{Approvals, FoundFile};
pub use disclosure::{DisclosedServer, Disclosure, Reference, Said};
pub use excerpt::covered;
pub use files::{FILE_NAME, find_upwards};
pub use keys::{reference_page, schema, schema_json};
pub use layered::Layered;
pub use load::{Flag, FoundFiles, Inputs, Loaded, Rejected, load};
pub use problem::{Code, Problem, Severity};
pub use regular_file::{read_regular, read_regular_text};
pub use resolve::Shown;
pub use secret::{MASK, NoKeychain, NoSecret, Secret, Secrets};
pub use settings::*;
pub use source::{Layer, Origin, Source, Sources};
pub use variables::{OTHERS as OTHER_VARIABLES, Variable, variables};
pub use watch::{Seen, Watch};
pub use write::{replace, write_secret};
