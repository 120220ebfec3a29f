//! Cut results: long texts of tool results are cut, and the rest is read as a resource.

mod results;
mod shortened;

pub use results::CutResults;
pub use shortened::Shortened;
