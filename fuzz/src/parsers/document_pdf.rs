//! The reader of PDF.

use super::documents::reads;
use trunkline_documents::Format;

pub fn holds(data: &[u8]) {
    reads(data, Format::Pdf);
}
