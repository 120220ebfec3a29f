//! Disclosure: how much of its tools a view lists.
//!
//! A view that discloses by search lists three tools of its own in place of all others: one
//! searches, one describes, one calls. None of them keeps a state, so they work alike in both
//! eras. What a caller may not use is neither found nor described nor called: the same policy
//! decides as for lists. [`Unwrapped`] turns a call of `call_tool` into a call of the real tool
//! before any other layer sees it.

mod cost;
mod describe;
mod documents;
mod own_tools;
mod search;
mod unwrapped;

pub use cost::{ViewCost, tokens};
pub(crate) use describe::describe;
pub(crate) use documents::index_of;
pub(crate) use own_tools::{OwnTool, is_reserved, listed};
pub(crate) use search::search;
pub use unwrapped::Unwrapped;

/// The listed part of a view's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Disclosure {
    /// Every tool, whole.
    #[default]
    All,
    /// Every tool with its name and one line of its description; `describe_tool` gives the rest.
    Names,
    /// Three tools, by which all others are found, described and called.
    Search,
    /// Every tool if they fit into the view's budget, else three as with `Search`.
    Auto,
}
