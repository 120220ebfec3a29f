//! Metas: a cache of decoded `_meta` objects, because a client sends the same one with every
//! request.

use arc_swap::ArcSwapOption;
use std::sync::Arc;
use trunkline_protocol::{Raw, message::RequestMeta};

/// Size of the direct-mapped cache: each text has exactly one slot, chosen by its hash.
const PLACES: usize = 32;
/// Longest text that is cached.
const MAX_BYTES: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Metas {
    places: [ArcSwapOption<Known>; PLACES],
}

#[derive(Debug)]
struct Known {
    text: Box<[u8]>,
    meta: Arc<RequestMeta>,
}

impl Metas {
    pub(crate) fn read(&self, text: &Raw) -> Result<Arc<RequestMeta>, serde_json::Error> {
        let bytes = text.as_bytes();
        if bytes.len() > MAX_BYTES {
            return text.decode().map(Arc::new);
        }
        let place = &self.places[mix(bytes) % PLACES];
        if let Some(known) = place.load().as_ref()
            && *known.text == *bytes
        {
            return Ok(Arc::clone(&known.meta));
        }
        let meta: Arc<RequestMeta> = Arc::new(text.decode()?);
        // With a progress token or unknown keys it belongs to one request and will not repeat.
        if meta.progress_token.is_none() && meta.rest.is_empty() {
            place.store(Some(Arc::new(Known { text: bytes.into(), meta: Arc::clone(&meta) })));
        }
        Ok(meta)
    }
}

/// Hash of a text. Two texts with the same slot evict each other, which costs only time.
fn mix(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<{ size_of::<usize>() }>();
    let add = |mixed: usize, word: usize| (mixed.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B1);
    let mixed = words.iter().map(|word| usize::from_le_bytes(*word)).fold(bytes.len(), add);
    rest.iter().map(|byte| usize::from(*byte)).fold(mixed, add) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(metas: &Metas, text: &str) -> Result<Arc<RequestMeta>, serde_json::Error> {
        metas.read(&Raw::parse(text.to_owned()).unwrap())
    }

    #[test]
    fn the_same_words_are_decoded_once_and_others_are_not_mixed_up() {
        let metas = Metas::default();
        for number in 0..200 {
            let text =
                format!(r#"{{"io.modelcontextprotocol/clientInfo":{{"name":"c{number}","version":"1"}}}}"#);
            for _ in 0..2 {
                let name = read(&metas, &text).unwrap().client_info.as_ref().unwrap().name.clone();
                assert_eq!(name, format!("c{number}"));
            }
            assert!(Arc::ptr_eq(&read(&metas, &text).unwrap(), &read(&metas, &text).unwrap()));
        }
    }

    #[test]
    fn what_belongs_to_one_request_is_not_kept() {
        let metas = Metas::default();
        for once in [r#"{"progressToken":1}"#, r#"{"traceparent":"00-1"}"#] {
            assert!(!Arc::ptr_eq(&read(&metas, once).unwrap(), &read(&metas, once).unwrap()), "{once}");
        }
        assert!(read(&metas, r#"{"io.modelcontextprotocol/clientInfo":7}"#).is_err());
    }
}
