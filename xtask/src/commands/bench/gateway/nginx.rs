//! nginx as a reverse proxy with keep-alive, with or without TLS.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::hop::is_on_path;
use super::tls::Certificate;

pub(super) fn is_installed() -> bool {
    is_on_path("nginx")
}

/// Returns the command of an nginx that listens on `address` and forwards to `upstream`.
pub(super) fn before(folder: &Path, upstream: SocketAddr, address: SocketAddr) -> Result<Command> {
    let mut command = Command::new("nginx");
    command.arg("-c").arg(configure(folder, upstream, address, None)?);
    Ok(command)
}

/// Writes its configuration; with a certificate it accepts TLS only.
pub(super) fn configure(
    folder: &Path,
    upstream: SocketAddr,
    address: SocketAddr,
    certificate: Option<&Certificate>,
) -> Result<PathBuf> {
    let at = folder.display();
    let (ssl, files) = match certificate {
        Some(Certificate { chain, key }) => {
            let files =
                format!("ssl_certificate {}; ssl_certificate_key {};", chain.display(), key.display());
            (" ssl", files)
        }
        None => ("", String::new()),
    };
    let text = format!(
        "worker_processes auto;\ndaemon off;\npid {at}/pid;\nerror_log {at}/error.log warn;\n\
         events {{ worker_connections 8192; }}\nhttp {{\n  access_log off;\n  client_body_temp_path {at}/body;\n  \
         proxy_temp_path {at}/proxy;\n  fastcgi_temp_path {at}/fastcgi;\n  uwsgi_temp_path {at}/uwsgi;\n  \
         scgi_temp_path {at}/scgi;\n  keepalive_requests 100000000;\n  client_max_body_size 16m;\n  \
         upstream mcp {{ server {upstream}; keepalive 512; keepalive_requests 100000000; }}\n  \
         server {{\n    listen {address} backlog=4096{ssl};\n    {files}\n    location / {{\n      proxy_pass http://mcp;\n      \
         proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n      proxy_buffers 8 64k;\n      \
         proxy_buffer_size 16k;\n      proxy_busy_buffers_size 128k;\n      proxy_max_temp_file_size 0;\n    }}\n  }}\n}}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, text)?;
    Ok(file)
}
