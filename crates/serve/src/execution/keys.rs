//! Idempotency keys: a repeated request finds the execution of the first one.

use super::{
    Executions, NotBegun, decoded, encoded,
    record::{Owner, Record, hexadecimal},
};
use ring::digest::{Context, SHA256, digest};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use trunkline_store::{Condition, Outcome as Written};

/// The key of a request, and a digest of what it asks for.
pub(crate) struct Claim {
    key: String,
    digest: String,
}

/// The same key came with another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the idempotency key was used for another request before")]
pub(crate) struct KeyReused;

#[derive(Serialize, Deserialize)]
struct StoredClaim {
    digest: String,
    id: String,
}

impl Claim {
    /// `request` are the parts that must be the same in a repeat.
    pub(crate) fn new(owner: &Owner, key: &str, request: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        for part in request {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        let name = hexadecimal(digest(&SHA256, key.as_bytes()).as_ref());
        Self {
            key: format!("execution-key/{}/{name}", owner.digits()),
            digest: hexadecimal(context.finish().as_ref()),
        }
    }
}

impl Executions {
    /// The execution that this key belongs to.
    pub(super) async fn claimed(&self, claim: &Claim) -> Result<Option<Record>, NotBegun> {
        let Some(value) = self.store.get(&claim.key).await? else { return Ok(None) };
        let Some(stored) = decoded::<StoredClaim>(&value.bytes) else { return Ok(None) };
        let record = self.read(&stored.id).await?;
        if record.is_some() && stored.digest != claim.digest {
            return Err(KeyReused.into());
        }
        Ok(record)
    }

    /// Binds the key to an execution that is recorded already, so that whoever finds the key finds
    /// the execution. Returns the execution of another request that was faster.
    pub(super) async fn claim(
        &self,
        claim: &Claim,
        id: &str,
        lifetime: Duration,
    ) -> Result<Option<Record>, NotBegun> {
        let stored = encoded(&StoredClaim { digest: claim.digest.clone(), id: id.to_owned() });
        loop {
            let condition = match self.store.get(&claim.key).await? {
                None => Condition::Absent,
                Some(value) => match self.claimed(claim).await? {
                    Some(record) => return Ok(Some(record)),
                    // Its execution is no longer kept.
                    None => Condition::Unchanged(value.version),
                },
            };
            if self.store.put(&claim.key, stored.clone(), condition, Some(lifetime)).await?
                != Written::Conflict
            {
                return Ok(None);
            }
        }
    }
}
