//! Prepares foreign text for people: masks secrets and escapes control characters. All code that
//! prints, logs or records foreign text uses this crate.
//!
//! [`Mask::hide`] works on free text. It finds tokens by their prefix (`shapes`), values of secret
//! names (`assignment`), credentials in URLs, private keys, `Bearer` and `Basic` credentials, and
//! values that the caller knows to be secret. The other functions classify a single name or value,
//! for settings and variables. [`visible`] escapes characters that a terminal would obey or hide.
//!
//! No I/O, no runtime, no MCP. Every scan is linear in the text, whatever the text is.

mod address;
mod anchors;
mod assignment;
mod counted;
mod credentials;
mod extent;
mod key_body;
mod known;
mod mask;
mod names;
mod ordinary;
mod pem;
mod random;
mod report;
mod scan;
mod shapes;
mod token;
mod value;
pub mod visible;

pub use address::masked_address;
pub use counted::counted;
pub use mask::{Caution, Mask};
pub use names::{NameClass, is_secret_name, name_class};
pub use report::find;
pub use shapes::{SHAPES, Shape};
pub use token::is_token;
pub use value::{credential, is_secret};
