//! Cursors: the end of a page, protected against forgery by a keyed hash.

use std::{collections::hash_map::RandomState, hash::BuildHasher};
use trunkline_protocol::{Caller, Fault, FaultKind};

/// Encodes and checks cursors. A cursor is valid for one caller, one list and one process.
#[derive(Debug, Default)]
pub(super) struct Cursors(RandomState);

impl Cursors {
    pub(super) fn write(&self, list: &str, caller: &Caller, last: u64) -> String {
        format!("{last:x}.{:016x}", self.seal(list, caller, last))
    }

    pub(super) fn read(&self, list: &str, caller: &Caller, cursor: &str) -> Result<u64, Fault> {
        let (last, seal) = cursor.split_once('.').ok_or_else(bad)?;
        let last = u64::from_str_radix(last, 16).map_err(|_| bad())?;
        if cursor != self.write(list, caller, last) || seal.len() != 16 {
            return Err(bad());
        }
        Ok(last)
    }

    fn seal(&self, list: &str, caller: &Caller, last: u64) -> u64 {
        self.0.hash_one((list, &caller.id, last))
    }
}

fn bad() -> Fault {
    Fault::new(FaultKind::InvalidRequest, "invalid cursor; list again without a cursor")
}
