//! A scripted stdio server.

use super::{
    Asked,
    relay::{self, Reading},
};
use serde_json::Value;
use std::{net::SocketAddr, path::PathBuf};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// Listens for scripted processes; every process started with its command becomes a
/// [`ProcessLine`].
#[derive(Debug)]
pub struct ProcessPeer {
    listener: TcpListener,
    address: SocketAddr,
    program: PathBuf,
}

/// One started process: its input and output.
#[derive(Debug)]
pub struct ProcessLine {
    input: BufReader<OwnedReadHalf>,
    orders: OwnedWriteHalf,
}

impl ProcessPeer {
    /// `program` is the relay; tests know it as `env!("CARGO_BIN_EXE_scripted-peer")`.
    pub async fn start(program: impl Into<PathBuf>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        Self { listener, address, program: program.into() }
    }

    /// Returns the command that starts the server.
    pub fn command(&self) -> [String; 3] {
        self.command_reading(Reading::ToTheEnd)
    }

    pub fn command_reading(&self, reading: Reading) -> [String; 3] {
        let program = self.program.to_str().expect("the path of the relay is text").to_owned();
        [program, self.address.port().to_string(), reading.to_argument()]
    }

    /// Waits for the next process to start.
    pub async fn accept(&self) -> ProcessLine {
        ProcessLine::new(self.listener.accept().await.expect("a process connects").0)
    }
}

impl ProcessLine {
    fn new(socket: TcpStream) -> Self {
        socket.set_nodelay(true).expect("a fresh socket takes options");
        let (input, orders) = socket.into_split();
        Self { input: BufReader::new(input), orders }
    }

    /// Waits for the next line of its input; `None` at EOF or if the process has exited.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.input.read_line(&mut line).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end_matches('\n').to_owned()),
        }
    }

    /// Waits for the next message.
    pub async fn message(&mut self) -> Asked {
        Asked::read(self.line().await.expect("the client sends something before it leaves"))
    }

    /// Waits for the next message; panics if it has another method.
    pub async fn expect(&mut self, method: &str) -> Asked {
        let asked = self.message().await;
        assert_eq!(asked.method, method, "{}", asked.text);
        asked
    }

    /// Writes raw bytes to standard output.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.order(relay::OUTPUT, bytes.len() as u64, bytes).await;
    }

    /// Writes a line to standard output.
    pub async fn say(&mut self, line: impl AsRef<[u8]>) {
        let mut bytes = line.as_ref().to_vec();
        bytes.push(b'\n');
        self.write(bytes).await;
    }

    pub async fn answer(&mut self, asked: &Asked, result: Value) {
        self.say(asked.result(&result)).await;
    }

    pub async fn refuse(&mut self, asked: &Asked, code: i64, message: &str) {
        self.say(asked.error(code, message)).await;
    }

    /// Writes bytes to standard error.
    pub async fn complain(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.order(relay::ERRORS, bytes.len() as u64, bytes).await;
    }

    /// Writes one byte to standard output, many times.
    pub async fn fill_output(&mut self, byte: u8, count: u64) {
        self.order(relay::FILL_OUTPUT, count, &[byte]).await;
    }

    pub async fn fill_errors(&mut self, byte: u8, count: u64) {
        self.order(relay::FILL_ERRORS, count, &[byte]).await;
    }

    pub async fn exit(&mut self, code: u8) {
        self.order(relay::EXIT, code.into(), &[]).await;
    }

    /// Kills the process with SIGKILL.
    pub async fn kill(&mut self) {
        self.order(relay::KILL, 0, &[]).await;
    }

    /// Waits until the process has exited; returns the rest of its input.
    pub async fn gone(mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset counts as an exit.
        self.input.read_to_end(&mut rest).await.ok();
        rest
    }

    async fn order(&mut self, what: u8, number: u64, payload: &[u8]) {
        let mut order = vec![what];
        order.extend(number.to_le_bytes());
        // Writing fails if the process has exited; the test notices that in the client's
        // behaviour.
        if self.orders.write_all(&order).await.is_ok() {
            self.orders.write_all(payload).await.ok();
        }
    }
}
