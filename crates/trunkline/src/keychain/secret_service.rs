//! The Secret Service of desktops, which several keyrings implement, over the session bus.
//!
//! The session is a plain one: the bus is a socket of this user, whose other programs may ask the
//! service for the same secret anyway.

use super::{TIMEOUT, Trouble};
use crate::environment::{self, Environment};
use futures_util::StreamExt;
use serde::{Serialize, de::DeserializeOwned};
use std::collections::HashMap;
use trunkline_resilience::timeout;
use zbus::{
    Connection, DBusError, DynamicType, MatchRule, MessageStream, OwnedObjectPath, OwnedVariant, Type,
    Variant,
};

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";
const PROMPT: &str = "org.freedesktop.Secret.Prompt";
/// The path that stands for no object.
const NOTHING: &str = "/";
/// The names that tell our item from others.
const ATTRIBUTES: [(&str, &str); 2] = [("application", "trunkline"), ("purpose", "sealing key")];
/// The errors of a bus that cannot start the service.
const NO_SERVICE: [&str; 3] = [
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner",
    "org.freedesktop.DBus.Error.Spawn",
];

/// The address of the session bus.
#[derive(Debug)]
pub(super) struct Place(String);

/// A secret on the bus: session, parameters of its encryption, value, content type.
type Secret = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

/// An open session with the service.
struct Service {
    bus: Connection,
    session: OwnedObjectPath,
}

impl Place {
    pub(super) fn find(environment: &Environment) -> Result<Self, Trouble> {
        if let Some(address) = environment.get_filled(environment::SESSION_BUS) {
            return Ok(Self(address.to_owned()));
        }
        let bus = environment.get_directory(environment::RUNTIME_DIR).map(|folder| folder.join("bus"));
        match bus.filter(|bus| bus.exists()) {
            Some(bus) => Ok(Self(format!("unix:path={}", bus.display()))),
            None => Err(Trouble::Absent(
                "there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set)".to_owned(),
            )),
        }
    }
}

/// The secret of our item, if there is one.
pub(super) fn load(place: &Place) -> Result<Option<Vec<u8>>, Trouble> {
    blocking(async {
        let service = Service::connect(place).await?;
        let Some(item) = service.find().await? else { return Ok(None) };
        let secret: Secret = service.call(item.as_str(), ITEM, "GetSecret", &(&service.session,)).await?;
        Ok(Some(secret.2))
    })
}

/// Keeps a secret as our item.
pub(super) fn store(place: &Place, secret: &str) -> Result<(), Trouble> {
    blocking(async { Service::connect(place).await?.create(secret).await })
}

/// Runs a conversation with the service; the caller has a thread of its own.
fn blocking<T>(work: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::Failed(error.to_string()))?;
    let late = || Trouble::Failed(format!("the keychain did not answer within {} s", TIMEOUT.as_secs()));
    runtime.block_on(async { timeout(TIMEOUT, Box::pin(work)).await.unwrap_or_else(|| Err(late())) })
}

impl Service {
    async fn connect(place: &Place) -> Result<Self, Trouble> {
        let bus = zbus::connection::Builder::address(place.0.as_str()).build().await;
        let bus =
            bus.map_err(|error| Trouble::Absent(format!("the session bus does not answer: {error}")))?;
        let algorithm = ("plain", Variant::from(""));
        let opened = bus.call_method(Some(NAME), ROOT, Some(SERVICE), "OpenSession", &algorithm).await;
        let opened = opened.map_err(trouble)?;
        let (_, session): (OwnedVariant, OwnedObjectPath) = opened.body().deserialize().map_err(trouble)?;
        Ok(Self { bus, session })
    }

    async fn call<B, T>(&self, path: &str, interface: &str, method: &str, body: &B) -> Result<T, Trouble>
    where
        B: Serialize + DynamicType,
        T: DeserializeOwned + Type,
    {
        let answer = self.bus.call_method(Some(NAME), path, Some(interface), method, body).await;
        answer.map_err(trouble)?.body().deserialize().map_err(trouble)
    }

    /// Our item, unlocked.
    async fn find(&self) -> Result<Option<OwnedObjectPath>, Trouble> {
        let found: (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
            self.call(ROOT, SERVICE, "SearchItems", &(HashMap::from(ATTRIBUTES),)).await?;
        let (unlocked, locked) = found;
        if let Some(item) = unlocked.into_iter().next() {
            return Ok(Some(item));
        }
        let Some(item) = locked.into_iter().next() else { return Ok(None) };
        self.unlock(&item).await?;
        Ok(Some(item))
    }

    async fn create(&self, secret: &str) -> Result<(), Trouble> {
        let collection: OwnedObjectPath = self.call(ROOT, SERVICE, "ReadAlias", &("default",)).await?;
        if collection.as_str() == NOTHING {
            return Err(Trouble::Absent("the keychain has no default collection".to_owned()));
        }
        self.unlock(&collection).await?;
        let properties = HashMap::from([
            ("org.freedesktop.Secret.Item.Label", Variant::from("Trunkline: key of logins and secrets")),
            ("org.freedesktop.Secret.Item.Attributes", Variant::from(HashMap::from(ATTRIBUTES))),
        ]);
        let secret: Secret =
            (self.session.clone(), Vec::new(), secret.as_bytes().to_vec(), "text/plain".to_owned());
        let (_, prompt): (OwnedObjectPath, OwnedObjectPath) =
            self.call(collection.as_str(), COLLECTION, "CreateItem", &(properties, secret, true)).await?;
        self.complete(&prompt).await
    }

    async fn unlock(&self, object: &OwnedObjectPath) -> Result<(), Trouble> {
        let (_, prompt): (Vec<OwnedObjectPath>, OwnedObjectPath) =
            self.call(ROOT, SERVICE, "Unlock", &(vec![object],)).await?;
        self.complete(&prompt).await
    }

    /// Shows a prompt to the user, if there is one, and waits for its end.
    async fn complete(&self, prompt: &OwnedObjectPath) -> Result<(), Trouble> {
        if prompt.as_str() == NOTHING {
            return Ok(());
        }
        let rule = MatchRule::builder().msg_type(zbus::message::Type::Signal).sender(NAME);
        let rule = rule.interface(PROMPT).member("Completed").path(prompt.as_str()).build();
        let completed = MessageStream::for_match_rule(rule.map_err(trouble)?, &self.bus, None).await;
        let mut completed = completed.map_err(trouble)?;
        self.call::<_, ()>(prompt.as_str(), PROMPT, "Prompt", &("",)).await?;
        let Some(signal) = completed.next().await else {
            return Err(Trouble::Failed("the session bus was closed".to_owned()));
        };
        let (dismissed, _): (bool, OwnedVariant) =
            signal.map_err(trouble)?.body().deserialize().map_err(trouble)?;
        if dismissed { Err(Trouble::Failed("the keychain was not unlocked".to_owned())) } else { Ok(()) }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn trouble(error: zbus::Error) -> Trouble {
    match &error {
        zbus::Error::FDO(told) if NO_SERVICE.iter().any(|known| told.name().starts_with(known)) => {
            Trouble::Absent("the session bus has no keychain".to_owned())
        }
        _ => Trouble::Failed(format!("the keychain refused: {error}")),
    }
}
