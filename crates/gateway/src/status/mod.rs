//! The content of `GET /status`: the gateway, its configuration, each upstream, and the catalog.

mod part;

use crate::{catalog::CatalogReport, upstream::Status};
use serde::Serialize;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The page, as operators see it. Times are in milliseconds; `…At` since 1970.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusPage {
    pub gateway: GatewayStatus,
    pub config: ConfigStatus,
    pub upstreams: Vec<Status>,
    pub catalog: CatalogReport,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayStatus {
    pub name: String,
    pub version: String,
    pub started_at: u64,
    pub uptime_ms: u64,
    /// The means that keep the processes of servers and jobs together, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<&'static str>,
    /// If the kernel can restrict the files that our own tools and git access, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landlock: Option<&'static str>,
}

/// The configuration in force.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigStatus {
    /// Number of configurations loaded so far, from 1.
    pub generation: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded_at: Option<u64>,
    /// The error of the last reload, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<ReloadError>,
    /// A configuration file that is not used, because its current content is not approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for_approval: Option<String>,
    /// The names of the servers in that file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting_servers: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReloadError {
    pub text: String,
    pub at: u64,
}

/// When the gateway started, by system and monotonic clock.
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
        let (name, version) = (name.into(), version.into());
        GatewayStatus {
            name,
            version,
            started_at: epoch_ms(self.at),
            uptime_ms,
            processes: None,
            landlock: None,
        }
    }
}

impl ConfigStatus {
    /// The status after a configuration was loaded.
    #[must_use]
    pub fn loaded(&self) -> Self {
        Self {
            generation: self.generation + 1,
            loaded_at: Some(epoch_ms(SystemTime::now())),
            last_error: None,
            waiting_for_approval: None,
            waiting_servers: Vec::new(),
        }
    }

    /// The status with a file that waits for approval, if there is one.
    #[must_use]
    pub fn waiting(self, file: Option<(String, Vec<String>)>) -> Self {
        let (file, servers) = file.unzip();
        Self { waiting_for_approval: file, waiting_servers: servers.unwrap_or_default(), ..self }
    }

    /// The status after a configuration was refused.
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
        let catalog = CatalogReport {
            generation: 1,
            servers: Vec::new(),
            views: vec!["files".into()],
            costs: Vec::new(),
        };
        let gateway = Started::now().status("trunkline", "1");
        let page =
            serde_json::to_value(StatusPage { gateway, config: mended, upstreams: Vec::new(), catalog });
        let page = page.unwrap();
        assert!(page["gateway"]["startedAt"].as_u64() > Some(1_700_000_000_000));
        assert_eq!(
            (&page["config"]["generation"], &page["catalog"]["views"][0]),
            (&2.into(), &"files".into())
        );
    }
}
