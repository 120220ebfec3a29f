//! The tables of the database, and the operations on them.

use std::time::Duration;

use bytes::Bytes;
use redb::{ReadableTable, Table, TableDefinition, WriteTransaction};

use super::{
    expiry::{NEVER, after, now},
    worker::{Change, failed},
};
use crate::{Condition, Event, Outcome, Retention, StoreError, Value, Version};

/// Version, expiry, bytes.
const VALUES: TableDefinition<'_, &str, (u64, u64, &[u8])> = TableDefinition::new("values");
/// Number of the last event, expiry.
const LOGS: TableDefinition<'_, &str, (u64, u64)> = TableDefinition::new("logs");
const EVENTS: TableDefinition<'_, (&str, u64), &[u8]> = TableDefinition::new("events");
/// Count, expiry.
const COUNTERS: TableDefinition<'_, &str, (i64, u64)> = TableDefinition::new("counters");
/// Expiry, kind, name: all that expires, by time.
const EXPIRY: TableDefinition<'_, (u64, u8, &str), ()> = TableDefinition::new("expiry");

const VALUE: u8 = 0;
const LOG: u8 = 1;
const COUNTER: u8 = 2;

pub(super) struct Tables<'t> {
    values: Table<'t, &'static str, (u64, u64, &'static [u8])>,
    logs: Table<'t, &'static str, (u64, u64)>,
    events: Table<'t, (&'static str, u64), &'static [u8]>,
    counters: Table<'t, &'static str, (i64, u64)>,
    expiry: Table<'t, (u64, u8, &'static str), ()>,
}

impl<'t> Tables<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            values: transaction.open_table(VALUES).map_err(failed)?,
            logs: transaction.open_table(LOGS).map_err(failed)?,
            events: transaction.open_table(EVENTS).map_err(failed)?,
            counters: transaction.open_table(COUNTERS).map_err(failed)?,
            expiry: transaction.open_table(EXPIRY).map_err(failed)?,
        })
    }

    pub(super) fn get(&self, key: &str) -> Result<Option<Value>, StoreError> {
        let found = self.values.get(key).map_err(failed)?;
        Ok(found.and_then(|row| current(row.value())))
    }

    pub(super) fn put(
        &mut self,
        key: &str,
        bytes: &[u8],
        condition: Condition,
        lifetime: Option<Duration>,
    ) -> Result<(Outcome, Change), StoreError> {
        if !holds(condition, self.get(key)?.as_ref()) {
            return Ok((Outcome::Conflict, Change::None));
        }
        let (version, expiry) = (Version::random(), after(lifetime));
        let old = self.values.insert(key, (version.0, expiry, bytes)).map_err(failed)?;
        let old = old.map_or(NEVER, |row| row.value().1);
        self.expire(VALUE, key, old, expiry)?;
        Ok((Outcome::Done(version), Change::Made))
    }

    pub(super) fn remove(
        &mut self,
        key: &str,
        condition: Condition,
    ) -> Result<(Outcome, Change), StoreError> {
        let found = self.get(key)?;
        if !holds(condition, found.as_ref()) {
            return Ok((Outcome::Conflict, Change::None));
        }
        let old = self.values.remove(key).map_err(failed)?.map_or(NEVER, |row| row.value().1);
        self.expire(VALUE, key, old, NEVER)?;
        Ok((Outcome::Done(found.map_or(Version(0), |value| value.version)), Change::Made))
    }

    pub(super) fn list(
        &self,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, Value)>, StoreError> {
        let start = if after > prefix { after } else { prefix };
        let mut found = Vec::new();
        for row in self.values.range(start..).map_err(failed)? {
            let (key, row) = row.map_err(failed)?;
            let key = key.value();
            if found.len() == limit || !key.starts_with(prefix) {
                break;
            }
            if key > after
                && let Some(value) = current(row.value())
            {
                found.push((key.to_owned(), value));
            }
        }
        Ok(found)
    }

    pub(super) fn append(
        &mut self,
        log: &str,
        event: &[u8],
        retention: Retention,
    ) -> Result<(u64, Change), StoreError> {
        let old = self.logs.get(log).map_err(failed)?.map(|row| row.value());
        let (last, old_expiry) = old.unwrap_or((0, NEVER));
        if is_over(old_expiry) {
            self.remove_events(log, last)?;
        }
        let number = if is_over(old_expiry) { 1 } else { last + 1 };
        let expiry = after(Some(retention.lifetime));
        self.logs.insert(log, (number, expiry)).map_err(failed)?;
        self.events.insert((log, number), event).map_err(failed)?;
        self.expire(LOG, log, old_expiry, expiry)?;
        self.remove_events(log, number.saturating_sub(retention.events.max(1)))?;
        Ok((number, Change::Made))
    }

    pub(super) fn events(&self, log: &str, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        let row = self.logs.get(log).map_err(failed)?.map(|row| row.value());
        if row.is_none_or(|(_, expiry)| is_over(expiry)) {
            return Ok(Vec::new());
        }
        let range = (log, after.saturating_add(1))..=(log, u64::MAX);
        let rows = self.events.range(range).map_err(failed)?.take(limit);
        rows.map(|row| {
            let (key, bytes) = row.map_err(failed)?;
            Ok(Event { number: key.value().1, bytes: Bytes::copy_from_slice(bytes.value()) })
        })
        .collect()
    }

    pub(super) fn add(
        &mut self,
        counter: &str,
        by: i64,
        lifetime: Duration,
    ) -> Result<(i64, Change), StoreError> {
        let old = self.counters.get(counter).map_err(failed)?.map(|row| row.value());
        let (count, expiry) = match old {
            Some((count, expiry)) if !is_over(expiry) => (count.saturating_add(by), expiry),
            _ => (by, after(Some(lifetime))),
        };
        self.counters.insert(counter, (count, expiry)).map_err(failed)?;
        self.expire(COUNTER, counter, old.map_or(NEVER, |(_, expiry)| expiry), expiry)?;
        Ok((count, Change::Made))
    }

    /// Removes up to `limit` expired entries; returns true if there was one.
    pub(super) fn remove_expired(&mut self, limit: usize) -> Result<bool, StoreError> {
        let over = self.expiry.range(..=(now(), u8::MAX, "")).map_err(failed)?;
        let over: Vec<(u64, u8, String)> = over
            .take(limit)
            .map(|row| {
                let (key, _) = row.map_err(failed)?;
                let (expiry, kind, name) = key.value();
                Ok((expiry, kind, name.to_owned()))
            })
            .collect::<Result<_, StoreError>>()?;
        for (expiry, kind, name) in &over {
            self.expiry.remove((*expiry, *kind, name.as_str())).map_err(failed)?;
            match *kind {
                VALUE => drop(self.values.remove(name.as_str()).map_err(failed)?),
                COUNTER => drop(self.counters.remove(name.as_str()).map_err(failed)?),
                _ => {
                    self.remove_events(name, u64::MAX)?;
                    drop(self.logs.remove(name.as_str()).map_err(failed)?);
                }
            }
        }
        Ok(!over.is_empty())
    }

    fn remove_events(&mut self, log: &str, up_to: u64) -> Result<(), StoreError> {
        self.events.retain_in((log, 0)..=(log, up_to), |_, _| false).map_err(failed)
    }

    /// Keeps the table of expiry times in step with an entry.
    fn expire(&mut self, kind: u8, name: &str, old: u64, new: u64) -> Result<(), StoreError> {
        if old == new {
            return Ok(());
        }
        if old != NEVER {
            self.expiry.remove((old, kind, name)).map_err(failed)?;
        }
        if new != NEVER {
            self.expiry.insert((new, kind, name), ()).map_err(failed)?;
        }
        Ok(())
    }
}

fn holds(condition: Condition, found: Option<&Value>) -> bool {
    match condition {
        Condition::Always => true,
        Condition::Absent => found.is_none(),
        Condition::Unchanged(version) => found.is_some_and(|value| value.version == version),
    }
}

fn current((version, expiry, bytes): (u64, u64, &[u8])) -> Option<Value> {
    (!is_over(expiry)).then(|| Value { bytes: Bytes::copy_from_slice(bytes), version: Version(version) })
}

fn is_over(expiry: u64) -> bool {
    expiry <= now()
}
