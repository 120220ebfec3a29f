//! A production-like gateway: API keys and a role, limits, argument checks, and an audit trail.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

/// The callers' API key; it is valid only for this benchmark.
pub(super) const HEADER: &str = "Authorization: Bearer bench-key-0123456789abcdefghijklmnopqrstuv";
const KEY_SHA256: &str = "ab56c733e3f3935723d5bea60499d6243daa03ba71b18fdbb340922cffd260ea";

/// Writes a configuration for one upstream; `address` is `None` for a gateway over stdio.
pub(super) fn write(folder: &Path, address: Option<SocketAddr>, server: Value) -> Result<PathBuf> {
    save(folder, &content(folder, address, server)?)
}

pub(super) fn save(folder: &Path, configuration: &Value) -> Result<PathBuf> {
    let file = folder.join("trunkline.json");
    fs::write(&file, configuration.to_string())?;
    Ok(file)
}

/// The configuration, whose key file is written.
pub(super) fn content(folder: &Path, address: Option<SocketAddr>, mut server: Value) -> Result<Value> {
    let keys = folder.join("keys.json");
    fs::write(
        &keys,
        json!({"keys": [{"id": "bench", "sha256": KEY_SHA256, "roles": ["user"]}]}).to_string(),
    )?;
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600))?;
    server["concurrency"] = json!(512);
    server["queue"] = json!(1024);
    let often = json!({"calls": 1_000_000, "per": "1s"});
    let mut configuration = json!({
        "mcp": {"servers": {"bench": server}},
        "limits": {"perCaller": often, "perTool": often, "connections": 20_000, "sessions": 20_000, "calls": 1024},
        "audit": {"directory": folder.join("audit")},
    });
    if let Some(address) = address {
        configuration["listen"] = json!(address.to_string());
        configuration["roles"] = json!({"user": {"allow": ["*"]}});
        configuration["auth"] = json!({"keys": keys});
    }
    Ok(configuration)
}
