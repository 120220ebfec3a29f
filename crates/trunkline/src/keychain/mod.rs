//! The keychain of the system, which keeps the key that seals logins and secrets.
//!
//! The keychain keeps one key and not the tokens themselves: files can be replaced atomically,
//! locked and listed, and a gateway reads the login of a caller without a request to another
//! process that may have to ask its user. Where there is no keychain, the files are not sealed.

#[cfg(not(target_os = "macos"))]
mod secret_service;
#[cfg(not(target_os = "macos"))]
use secret_service as system;
#[cfg(target_os = "macos")]
mod apple;
#[cfg(target_os = "macos")]
use apple as system;

use crate::environment::{self, Environment};
use parking_lot::Mutex;
use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};
use trunkline_oauth::{KeyKeeper, NoKey, Sealer, SealingKey, lock_private};
use trunkline_resilience::Moment;

/// Longest wait for the keychain, whose user may have to enter a password.
const TIMEOUT: Duration = Duration::from_mins(1);
/// A keychain that gave no key is not asked again for this time.
const RETRY_PAUSE: Duration = Duration::from_mins(1);

/// The answers of the keychain to this process; clones share them.
#[derive(Clone, Default)]
pub(crate) struct KeyCache(Arc<Known>);

#[derive(Default)]
struct Known {
    key: OnceLock<SealingKey>,
    /// Held while the keychain is asked, so that its user is asked once.
    failed: Mutex<Option<(Moment, Trouble)>>,
}

/// The reason why the keychain gives no key.
#[derive(Debug, Clone)]
enum Trouble {
    /// There is no keychain, so files are not sealed.
    Absent(String),
    /// There is one, and it is locked or does not work.
    Failed(String),
}

/// The keychain of this user.
#[derive(Debug)]
struct Keychain {
    place: Result<system::Place, Trouble>,
    /// Locked while the key is made, so that no other process makes another one.
    lock: PathBuf,
    cache: KeyCache,
}

/// What to do if the keychain has no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Leave,
    Make,
}

/// Seals private files with the key of the user's keychain, if there is one.
pub(crate) fn sealer(environment: &Environment) -> Sealer {
    let Some(data) = environment::data_directory(environment) else { return Sealer::default() };
    let place = match environment.get(environment::KEYCHAIN) {
        Some("off") => Err(Trouble::Absent(format!("{} is off", environment::KEYCHAIN))),
        _ => system::Place::find(environment),
    };
    let lock = data.join("trunkline/keychain.lock");
    Sealer::new(Arc::new(Keychain { place, lock, cache: environment.key_cache.clone() }))
}

impl Keychain {
    /// Asks the keychain once, in a thread of its own: callers may be in an asynchronous runtime.
    fn ask(&self, missing: Missing) -> Result<Option<SealingKey>, Trouble> {
        let place = self.place.as_ref().map_err(Clone::clone)?;
        if let Some(key) = self.cache.0.key.get() {
            return Ok(Some(key.clone()));
        }
        let mut failed = self.cache.0.failed.lock();
        if let Some(key) = self.cache.0.key.get() {
            return Ok(Some(key.clone()));
        }
        if let Some((at, trouble)) = &*failed
            && at.elapsed() < RETRY_PAUSE
        {
            return Err(trouble.clone());
        }
        let found = std::thread::scope(|scope| {
            let asking = scope.spawn(|| self.find_in(place, missing));
            asking.join().unwrap_or_else(|_| Err(Trouble::Failed("its client panicked".to_owned())))
        });
        match &found {
            Ok(Some(key)) => drop(self.cache.0.key.set(key.clone())),
            Ok(None) => {}
            Err(trouble) => *failed = Some((Moment::now(), trouble.clone())),
        }
        found
    }

    fn find_in(&self, place: &system::Place, missing: Missing) -> Result<Option<SealingKey>, Trouble> {
        let failed = |text: &str| Trouble::Failed(text.to_owned());
        let _lock = lock_private(&self.lock).map_err(|error| failed(&error.to_string()))?;
        match (system::load(place)?, missing) {
            (Some(text), _) => match SealingKey::from_text(&text) {
                Some(key) => Ok(Some(key)),
                None => Err(failed("the keychain's item is not a key that we wrote")),
            },
            (None, Missing::Leave) => Ok(None),
            (None, Missing::Make) => {
                let key = SealingKey::random().map_err(|error| failed(&error.to_string()))?;
                system::store(place, &key.to_text())?;
                Ok(Some(key))
            }
        }
    }
}

impl KeyKeeper for Keychain {
    fn find(&self) -> Result<SealingKey, NoKey> {
        match self.ask(Missing::Leave) {
            Ok(Some(key)) => Ok(key),
            Ok(None) => Err(NoKey("the keychain has no key of ours".to_owned())),
            Err(Trouble::Absent(text) | Trouble::Failed(text)) => Err(NoKey(text)),
        }
    }

    fn find_or_make(&self) -> Result<Option<SealingKey>, NoKey> {
        match self.ask(Missing::Make) {
            Ok(key) => Ok(key),
            Err(Trouble::Absent(_)) => Ok(None),
            Err(Trouble::Failed(text)) => Err(NoKey(text)),
        }
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyCache")
    }
}
