//! The reasons for which a frame is refused, and their JSON-RPC codes.

use crate::RequestId;

/// A frame that was refused. Nothing of it was executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{defect} (at byte {offset})")]
pub struct Malformed {
    pub defect: Defect,
    /// The byte offset of the defect in the frame.
    pub offset: usize,
    /// The id of the refused message, if it could be read, for the error response.
    pub id: Option<RequestId>,
}

/// The kinds of defect a frame can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    #[error("the frame is not valid UTF-8")]
    Utf8,
    #[error("the frame is not valid JSON: {0}")]
    Json(&'static str),
    #[error("the frame is nested deeper than {} levels", crate::MAX_DEPTH)]
    Depth,
    #[error("the frame is larger than 4 GiB")]
    Size,
    #[error("a member name occurs twice in one object")]
    DuplicateKey,
    #[error("the message is not a JSON object")]
    NotAnObject,
    #[error("`jsonrpc` is not \"2.0\"")]
    Version,
    #[error("`id` is null; a request id is a string or an integer")]
    NullId,
    #[error("`id` is not a string or an integer")]
    BadId,
    #[error("`id` is longer than {} bytes", crate::MAX_ID_BYTES)]
    LongId,
    #[error("`method` is not a string")]
    BadMethod,
    #[error("`params` is not an object or an array")]
    BadParams,
    #[error("the message has both `result` and `error`")]
    ResultAndError,
    #[error("the message has `method` together with `result` or `error`")]
    MethodAndResult,
    #[error("`error` is not an object with an integer `code` and a string `message`")]
    BadError,
    #[error("the response has no `id`")]
    MissingId,
    #[error("the message has none of `method`, `result` and `error`")]
    Unrecognised,
    #[error("the batch is empty")]
    EmptyBatch,
    #[error("the batch has more than {} messages", crate::MAX_BATCH)]
    LongBatch,
}

/// A defect and its offset. Small, because every step of the scan may return one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flaw {
    pub(crate) defect: Defect,
    pub(crate) offset: usize,
}

impl From<Flaw> for Malformed {
    fn from(flaw: Flaw) -> Self {
        Self::new(flaw.defect, flaw.offset)
    }
}

impl Malformed {
    pub(crate) fn new(defect: Defect, offset: usize) -> Self {
        Self { defect, offset, id: None }
    }

    pub(crate) fn with_id(mut self, id: Option<&RequestId>) -> Self {
        self.id = id.cloned();
        self
    }

    /// −32700 for frames that cannot be parsed (encoding, grammar, depth, size), −32600 for JSON
    /// that is not an acceptable message.
    pub fn rpc_code(&self) -> i64 {
        match self.defect {
            Defect::Utf8 | Defect::Json(_) | Defect::Depth | Defect::Size => -32700,
            _ => -32600,
        }
    }
}
