//! Private files whose content is sealed with a key that is kept elsewhere, such as the keychain of
//! the system.

use super::{
    StoreError,
    private_file::{read_private, write_private},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use serde::{Deserialize, Serialize};
use std::{fmt, path::Path, sync::Arc};

/// Keeps the key that seals files.
pub trait KeyKeeper: fmt::Debug + Send + Sync {
    /// The key, as it was kept.
    fn find(&self) -> Result<SealingKey, NoKey>;

    /// The key, which is made and kept if there is none. `None` if there is no keeper here.
    fn find_or_make(&self) -> Result<Option<SealingKey>, NoKey>;
}

/// The reason why there is no key: the keychain is locked, failed, or never had one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoKey(pub String);

/// A key of 256 bits.
#[derive(Clone)]
pub struct SealingKey([u8; 32]);

/// Reads and writes private files, sealed if there is a keeper of keys.
#[derive(Debug, Clone, Default)]
pub struct Sealer {
    keeper: Option<Arc<dyn KeyKeeper>>,
}

/// A sealed file as written.
#[derive(Serialize, Deserialize)]
struct SealedFile {
    /// The form of the seal: 1 is AES-256-GCM with the file's name as associated data.
    sealed: u32,
    nonce: String,
    content: String,
}

const FORM: u32 = 1;

impl SealingKey {
    pub fn random() -> Result<Self, NoKey> {
        let mut bytes = [0; 32];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| NoKey("the system has no random numbers".to_owned()))?;
        Ok(Self(bytes))
    }

    /// The key of a text that [`SealingKey::to_text`] wrote.
    pub fn from_text(text: &[u8]) -> Option<Self> {
        let bytes = BASE64_STANDARD.decode(text.trim_ascii()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// The key as text, for its keeper.
    pub fn to_text(&self) -> String {
        BASE64_STANDARD.encode(self.0)
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, &self.0).ok().map(LessSafeKey::new)
    }
}

impl Sealer {
    pub fn new(keeper: Arc<dyn KeyKeeper>) -> Self {
        Self { keeper: Some(keeper) }
    }

    /// Reads a private file, sealed or not; `None` if there is none.
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(text) = read_private(path)? else { return Ok(None) };
        let Some(sealed) = parse(&text) else { return Ok(Some(text)) };
        let failed = |reason: String| StoreError::Sealed { path: path.display().to_string(), reason };
        let keeper = self.keeper.as_ref().ok_or_else(|| failed("the keychain is switched off".to_owned()))?;
        let key = keeper.find().map_err(|error| failed(error.to_string()))?;
        open(&key, &sealed, path).map(Some).ok_or_else(|| failed("the key does not fit".to_owned()))
    }

    /// Replaces a private file at once. It is sealed, unless no keeper gives a key: tokens that
    /// were just renewed must not be lost because a keychain is locked.
    pub fn write(&self, path: &Path, text: &[u8]) -> Result<(), StoreError> {
        let found = self.keeper.as_ref().map_or(Ok(None), |keeper| keeper.find_or_make());
        match found {
            Ok(Some(key)) => match seal(&key, text, path) {
                Some(sealed) => write_private(path, &sealed),
                None => Err(StoreError::Sealed {
                    path: path.display().to_string(),
                    reason: "the system has no random numbers".to_owned(),
                }),
            },
            Ok(None) => write_private(path, text),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "the keychain gives no key; the file is not sealed");
                write_private(path, text)
            }
        }
    }

    /// True if the file is there and sealed.
    pub fn is_sealed(path: &Path) -> bool {
        read_private(path).ok().flatten().is_some_and(|text| parse(&text).is_some())
    }
}

fn parse(text: &[u8]) -> Option<SealedFile> {
    serde_json::from_slice(text).ok().filter(|sealed: &SealedFile| sealed.sealed == FORM)
}

/// The name keeps a sealed file from being taken for another.
fn associated(path: &Path) -> Aad<Vec<u8>> {
    Aad::from(path.file_name().unwrap_or_default().as_encoded_bytes().to_vec())
}

fn seal(key: &SealingKey, text: &[u8], path: &Path) -> Option<Vec<u8>> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).ok()?;
    let mut content = text.to_vec();
    let unique = Nonce::assume_unique_for_key(nonce);
    key.cipher()?.seal_in_place_append_tag(unique, associated(path), &mut content).ok()?;
    let sealed = SealedFile {
        sealed: FORM,
        nonce: BASE64_STANDARD.encode(nonce),
        content: BASE64_STANDARD.encode(content),
    };
    serde_json::to_vec(&sealed).ok()
}

fn open(key: &SealingKey, sealed: &SealedFile, path: &Path) -> Option<Vec<u8>> {
    let nonce: [u8; NONCE_LEN] = BASE64_STANDARD.decode(&sealed.nonce).ok()?.try_into().ok()?;
    let mut content = BASE64_STANDARD.decode(&sealed.content).ok()?;
    let nonce = Nonce::assume_unique_for_key(nonce);
    let text = key.cipher()?.open_in_place(nonce, associated(path), &mut content).ok()?;
    Some(text.to_vec())
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::fs;

    #[derive(Debug, Default)]
    struct Keeper(Mutex<Option<SealingKey>>, Mutex<Option<NoKey>>);

    impl KeyKeeper for Keeper {
        fn find(&self) -> Result<SealingKey, NoKey> {
            self.1.lock().clone().map_or(Ok(()), Err)?;
            self.0.lock().clone().ok_or_else(|| NoKey("it was never made".to_owned()))
        }

        fn find_or_make(&self) -> Result<Option<SealingKey>, NoKey> {
            self.1.lock().clone().map_or(Ok(()), Err)?;
            Ok(Some(self.0.lock().get_or_insert(SealingKey::random()?).clone()))
        }
    }

    #[test]
    fn o10_a_sealed_file_opens_with_its_own_key_and_name_only() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.json"), folder.path().join("b.json"));
        let sealer = Sealer::new(Arc::new(Keeper::default()));
        sealer.write(&path, b"canary").unwrap();
        assert!(Sealer::is_sealed(&path));
        assert!(!fs::read_to_string(&path).unwrap().contains("canary"));
        assert_eq!(sealer.read(&path).unwrap().as_deref(), Some(&b"canary"[..]));
        fs::copy(&path, &other).unwrap();
        assert!(matches!(sealer.read(&other), Err(StoreError::Sealed { .. })), "another name");
        for stranger in [Sealer::new(Arc::new(Keeper::default())), Sealer::default()] {
            assert!(matches!(stranger.read(&path), Err(StoreError::Sealed { .. })), "no key");
        }
        let with_another =
            Sealer::new(Arc::new(Keeper(Mutex::new(SealingKey::random().ok()), Mutex::default())));
        assert!(matches!(with_another.read(&path), Err(StoreError::Sealed { .. })), "another key");
    }

    #[test]
    fn a_file_that_is_not_sealed_is_read_and_sealed_when_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        Sealer::default().write(&path, b"{\"server\": 1}").unwrap();
        assert!(!Sealer::is_sealed(&path));
        let sealer = Sealer::new(Arc::new(Keeper::default()));
        let text = sealer.read(&path).unwrap().unwrap();
        sealer.write(&path, &text).unwrap();
        assert!(Sealer::is_sealed(&path));
        assert_eq!(sealer.read(&path).unwrap().unwrap(), text);
    }

    #[test]
    fn a_locked_keychain_loses_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let keeper = Arc::new(Keeper::default());
        let sealer = Sealer::new(keeper.clone());
        sealer.write(&path, b"old").unwrap();
        *keeper.1.lock() = Some(NoKey("locked".to_owned()));
        let unreadable = sealer.read(&path).unwrap_err().to_string();
        assert!(unreadable.contains("locked"), "{unreadable}");
        sealer.write(&path, b"new").unwrap();
        assert_eq!(sealer.read(&path).unwrap().as_deref(), Some(&b"new"[..]));
    }

    #[test]
    fn o13_the_key_does_not_show_in_debug_output() {
        let key = SealingKey::from_text(SealingKey([7; 32]).to_text().as_bytes()).unwrap();
        assert_eq!(key.0, [7; 32]);
        assert_eq!(format!("{key:?}"), "SealingKey(…)");
        assert!(SealingKey::from_text(b"c2hvcnQ=").is_none());
    }
}
