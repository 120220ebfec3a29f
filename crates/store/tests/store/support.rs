//! The stores that every case runs over.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::time::timeout;
use trunkline_store::{Condition, Embedded, Outcome, Retention, Store, Version};

use crate::redis_server::RedisServer;

/// Catches hangs only.
const LONG: Duration = Duration::from_mins(1);
pub(crate) const HOUR: Duration = Duration::from_hours(1);
pub(crate) const KEPT: Retention = Retention { lifetime: HOUR, events: 1000 };

/// Runs a case over all stores.
pub(crate) async fn over_all<C, F>(case: C)
where
    C: Fn(Arc<dyn Store>) -> F,
    F: Future<Output = ()>,
{
    let folder = tempfile::tempdir().unwrap();
    let redis = RedisServer::start(&[]).await;
    let stores: [(&str, Arc<dyn Store>); 3] = [
        ("memory", Arc::new(Embedded::in_memory().unwrap())),
        ("disk", Arc::new(Embedded::open(&folder.path().join("store")).unwrap())),
        ("redis", Arc::new(redis.store())),
    ];
    for (name, store) in stores {
        let done = timeout(LONG, case(store)).await;
        done.unwrap_or_else(|_| panic!("{name} hangs"));
    }
}

pub(crate) async fn write(store: &dyn Store, key: &str, text: &str) -> Version {
    let bytes = text.to_owned().into();
    match store.put(key, bytes, Condition::Always, Some(HOUR)).await.unwrap() {
        Outcome::Done(version) => version,
        Outcome::Conflict => panic!("an unconditional write cannot conflict"),
    }
}

pub(crate) async fn text(store: &dyn Store, key: &str) -> Option<String> {
    let value = store.get(key).await.unwrap()?;
    Some(String::from_utf8(value.bytes.to_vec()).unwrap())
}
