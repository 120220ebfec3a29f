//! The keychain of macOS.

use super::Trouble;
use crate::environment::Environment;
use security_framework::passwords::{get_generic_password, set_generic_password};

const SERVICE: &str = "trunkline";
const ACCOUNT: &str = "sealing key";
/// `errSecItemNotFound`.
const NOT_FOUND: i32 = -25300;

/// The default keychain.
#[derive(Debug)]
pub(super) struct Place;

impl Place {
    #[expect(clippy::unnecessary_wraps, reason = "other systems may have none")]
    pub(super) fn find(_: &Environment) -> Result<Self, Trouble> {
        Ok(Self)
    }
}

/// The secret of our item, if there is one.
pub(super) fn load(_: &Place) -> Result<Option<Vec<u8>>, Trouble> {
    match get_generic_password(SERVICE, ACCOUNT) {
        Ok(secret) => Ok(Some(secret)),
        Err(error) if error.code() == NOT_FOUND => Ok(None),
        Err(error) => Err(Trouble::Failed(format!("the keychain refused: {error}"))),
    }
}

/// Keeps a secret as our item.
pub(super) fn store(_: &Place, secret: &str) -> Result<(), Trouble> {
    let stored = set_generic_password(SERVICE, ACCOUNT, secret.as_bytes());
    stored.map_err(|error| Trouble::Failed(format!("the keychain refused: {error}")))
}
