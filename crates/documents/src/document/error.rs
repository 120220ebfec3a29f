//! Reasons why a document's JSON is refused.

use super::node_id::NodeId;

#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("not the JSON of a DoclingDocument: {0}")]
    Json(#[from] serde_json::Error),
    #[error("expected schema_name \"DoclingDocument\", got {0:?}")]
    SchemaName(String),
    #[error("expected a DoclingDocument of version 1.x, got {0:?}")]
    Version(String),
    #[error("{from} refers to {to}, which does not exist")]
    Dangling { from: NodeId, to: NodeId },
    #[error("the node at {at} calls itself {says}")]
    SelfRef { at: NodeId, says: NodeId },
    #[error("{0} contains itself through its references")]
    Cycle(NodeId),
    #[error("nodes are nested deeper than {0} levels")]
    Depth(usize),
    #[error("{at} has {cells} cells; at most {limit} are allowed in a table")]
    TableCells { at: NodeId, cells: u64, limit: u64 },
    #[error("the tables have more than {0} cells together")]
    TotalCells(u64),
    #[error("a cell of {at} ends at row {row}, column {column}, outside its table of {rows} × {columns}")]
    CellOutside { at: NodeId, row: u32, column: u32, rows: u32, columns: u32 },
}
