//! A real Redis server of its own per test.

use std::{
    io::{self, BufRead as _, BufReader, Read as _},
    net::{Ipv4Addr, SocketAddrV4, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;
use trunkline_store::{Redis, RedisOptions};
use trunkline_testkit::peers::installed;

/// Ends with the test.
pub(crate) struct RedisServer {
    child: Child,
    pub(crate) port: u16,
    folder: TempDir,
}

impl RedisServer {
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), free_port(), arguments).await
    }

    async fn start_in(folder: TempDir, port: u16, arguments: &[&str]) -> Self {
        let program = installed("debian/usr/bin/redis-server");
        let libraries = Path::new(&program).ancestors().nth(3).unwrap().join("usr/lib");
        let libraries: Vec<String> = std::fs::read_dir(&libraries)
            .map(|folders| folders.map(|folder| folder.unwrap().path().display().to_string()).collect())
            .unwrap_or_default();
        let child = Command::new(program)
            .env("LD_LIBRARY_PATH", libraries.join(":"))
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--appendonly", "yes"])
            .args(["--appendfsync", "no", "--enable-debug-command", "yes", "--daemonize", "no"])
            .args(arguments)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut server = Self { child, port, folder };
        ready(&mut server.child).await;
        server
    }

    pub(crate) fn store(&self) -> Redis {
        self.store_with(RedisOptions::default())
    }

    pub(crate) fn store_with(&self, options: RedisOptions) -> Redis {
        Redis::new(&format!("redis://127.0.0.1:{}", self.port), options).unwrap()
    }

    pub(crate) async fn command(&self, words: &[&str]) {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query_async::<()>(&mut connection).await.unwrap();
    }

    /// Kills the server; its data stays in its folder.
    pub(crate) fn kill(mut self) -> Killed {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        Killed { port: self.port, folder }
    }

    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) struct Killed {
    port: u16,
    folder: TempDir,
}

impl Killed {
    pub(crate) async fn restart(self) -> RedisServer {
        RedisServer::start_in(self.folder, self.port, &[]).await
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

fn free_port() -> u16 {
    let listener = TcpListener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}
