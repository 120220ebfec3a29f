//! A real Redis server of its own per test.

use crate::installed;
use std::{
    io::{self, BufRead as _, BufReader, Read as _},
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// Ends with the test.
pub(crate) struct RedisProcess {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl RedisProcess {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let program = installed::installed("debian/usr/bin/redis-server");
        let libraries = Path::new(&program).ancestors().nth(3).unwrap().join("usr/lib");
        let libraries: Vec<String> = std::fs::read_dir(&libraries)
            .map(|folders| folders.map(|folder| folder.unwrap().path().display().to_string()).collect())
            .unwrap_or_default();
        let child = Command::new(program)
            .env("LD_LIBRARY_PATH", libraries.join(":"))
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--daemonize", "no"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut server = Self { child, port, _folder: folder };
        ready(&mut server.child).await;
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }
}

impl Drop for RedisProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Waits until the server says that it is ready. Its further output is read and dropped, so that
/// its pipe never fills.
async fn ready(child: &mut Child) {
    let mut log = BufReader::new(child.stdout.take().unwrap());
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        if log.by_ref().lines().any(|line| line.unwrap().contains("Ready to accept connections")) {
            tell.send(()).ok();
        }
        io::copy(&mut log, &mut io::sink())
    });
    told.await.expect("redis-server ended at its start");
}
