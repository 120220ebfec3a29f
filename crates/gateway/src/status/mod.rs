//! The shape of `GET /status`: the gateway, its settings, its views, and the truth about each upstream.

use serde::Serialize;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The page. Times are in milliseconds; `…At` since 1970. `U` is what an upstream tells of itself.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusPage<U> {
    pub gateway: GatewayStatus,
    pub config: ConfigStatus,
    pub views: Vec<ViewStatus>,
    pub upstreams: Vec<U>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayStatus {
    pub name: String,
    pub version: String,
    pub started_at: u64,
    pub uptime_ms: u64,
}

/// Which settings are in force.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigStatus {
    /// Counts the settings that came into force; the first ones are 1.
    pub generation: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded_at: Option<u64>,
    /// Why the newest settings are not in force, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<ReloadError>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReloadError {
    pub text: String,
    pub at: u64,
}

/// One way to see what is offered.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewStatus {
    /// Empty for all that is offered.
    pub name: String,
    /// Where it is found, such as `/mcp/files`.
    pub path: String,
    pub tools: usize,
    pub prompts: usize,
    pub resources: usize,
}

/// When the gateway started, by both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Started {
    at: SystemTime,
    moment: Instant,
}

impl Started {
    pub fn now() -> Self {
        Self { at: SystemTime::now(), moment: Instant::now() }
    }

    pub fn status(&self, name: impl Into<String>, version: impl Into<String>) -> GatewayStatus {
        let uptime_ms = u64::try_from(self.moment.elapsed().as_millis()).unwrap_or(u64::MAX);
        GatewayStatus { name: name.into(), version: version.into(), started_at: epoch_ms(self.at), uptime_ms }
    }
}

impl ConfigStatus {
    /// After settings came into force.
    #[must_use]
    pub fn loaded(&self) -> Self {
        Self {
            generation: self.generation + 1,
            loaded_at: Some(epoch_ms(SystemTime::now())),
            last_error: None,
        }
    }

    /// After settings were refused.
    #[must_use]
    pub fn refused(&self, why: impl Into<String>) -> Self {
        let error = ReloadError { text: why.into(), at: epoch_ms(SystemTime::now()) };
        Self { last_error: Some(error), ..self.clone() }
    }
}

fn epoch_ms(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_until_settings_come_into_force_again() {
        let first = ConfigStatus::default().loaded();
        let refused = first.refused("trunkline.json:3:7: no such key");
        assert_eq!((refused.generation, refused.loaded_at), (1, first.loaded_at));
        assert!(refused.last_error.as_ref().is_some_and(|error| error.text.contains(":3:7")));
        let mended = refused.loaded();
        assert!(mended.generation == 2 && mended.last_error.is_none());
        let page = StatusPage {
            gateway: Started::now().status("trunkline", "1"),
            config: mended,
            views: Vec::new(),
            upstreams: vec![serde_json::json!({"name": "files"})],
        };
        let page = serde_json::to_value(&page).unwrap();
        assert_eq!(page["upstreams"][0]["name"], "files");
        assert!(page["gateway"]["startedAt"].as_u64() > Some(1_700_000_000_000));
    }
}
