//! The gateway as one would run it for others: callers with keys and a role, limits, arguments checked, every call recorded.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

/// What callers show: a key that opens nothing but this.
pub(super) const HEADER: &str = "Authorization: Bearer bench-key-0123456789abcdefghijklmnopqrstuv";
const KEY_SHA256: &str = "ab56c733e3f3935723d5bea60499d6243daa03ba71b18fdbb340922cffd260ea";

/// Writes a configuration for one upstream, and gives the command that serves it.
pub(super) fn serve(trunkline: &Path, name: &str, address: SocketAddr, mut server: Value) -> Result<Command> {
    let folder = env::temp_dir().join(format!("trunkline-bench-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let keys = folder.join("keys.json");
    fs::write(
        &keys,
        json!({"keys": [{"id": "bench", "sha256": KEY_SHA256, "roles": ["user"]}]}).to_string(),
    )?;
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600))?;
    server["concurrency"] = json!(512);
    server["queue"] = json!(1024);
    let often = json!({"calls": 1_000_000, "per": "1s"});
    let configuration = json!({
        "listen": address.to_string(),
        "mcp": {"servers": {"bench": server}},
        "roles": {"user": {"allow": ["*"]}},
        "auth": {"keys": keys},
        "limits": {"perCaller": often, "perTool": often, "connections": 20_000, "sessions": 20_000},
        "audit": {"directory": folder.join("audit")},
    });
    let file = folder.join("trunkline.json");
    fs::write(&file, configuration.to_string())?;
    let mut command = Command::new(trunkline);
    command.arg("serve").arg("--config").arg(file);
    Ok(command)
}
