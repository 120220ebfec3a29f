//! The relay: the process of a scripted server. The test decides everything that it does.
//!
//! Standard input is forwarded to a socket. From the socket it reads orders: one byte for the
//! kind, eight for a number (little endian), and the payload. It exits at EOF of its input, as a
//! server should, unless its arguments say otherwise.

use std::{
    io::{self, BufRead, Read, Write},
    net::{Shutdown, TcpStream},
    process, thread,
};

pub(super) const OUTPUT: u8 = b'o';
pub(super) const ERRORS: u8 = b'e';
/// Writes the one byte of the payload to standard output `number` times.
pub(super) const FILL_OUTPUT: u8 = b'O';
pub(super) const FILL_ERRORS: u8 = b'E';
pub(super) const EXIT: u8 = b'x';
pub(super) const KILL: u8 = b'k';

const CHUNK: usize = 64 * 1024;

/// The way in which the relay reads its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Until EOF; then it exits.
    ToTheEnd,
    /// Until EOF; it does not exit then.
    Stay,
    /// Only this many lines.
    Lines(usize),
}

impl Reading {
    /// Returns the argument of the process.
    pub fn to_argument(self) -> String {
        match self {
            Self::ToTheEnd => "all".to_owned(),
            Self::Stay => "stay".to_owned(),
            Self::Lines(count) => count.to_string(),
        }
    }

    fn from_argument(text: &str) -> Self {
        match text {
            "all" => Self::ToTheEnd,
            "stay" => Self::Stay,
            count => Self::Lines(count.parse().expect("a number of lines")),
        }
    }
}

/// Runs the relay; the arguments are the port of the test's socket and a [`Reading`].
pub fn run(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let port: u16 =
        arguments.next().and_then(|port| port.parse().ok()).expect("the first argument is a port");
    let reading = Reading::from_argument(&arguments.next().expect("the second argument says how to read"));
    let orders = TcpStream::connect(("127.0.0.1", port))?;
    orders.set_nodelay(true)?;
    let to_test = orders.try_clone()?;
    thread::spawn(move || {
        // Either end may close first; both mean that the test is over.
        forward_input(to_test, reading).ok();
    });
    run_orders(orders)
}

fn forward_input(mut to: TcpStream, reading: Reading) -> io::Result<()> {
    let mut input = io::stdin().lock();
    if let Reading::Lines(count) = reading {
        let mut line = Vec::new();
        for _ in 0..count {
            line.clear();
            input.read_until(b'\n', &mut line)?;
            to.write_all(&line)?;
        }
        return Ok(());
    }
    io::copy(&mut input, &mut to)?;
    if reading == Reading::ToTheEnd {
        process::exit(0);
    }
    to.shutdown(Shutdown::Write)
}

fn run_orders(mut orders: TcpStream) -> io::Result<()> {
    let mut head = [0; 9];
    while orders.read_exact(&mut head).is_ok() {
        let [what, number @ ..] = head;
        let number = u64::from_le_bytes(number);
        match what {
            OUTPUT => pass(&mut orders, number, io::stdout().lock())?,
            ERRORS => pass(&mut orders, number, io::stderr().lock())?,
            FILL_OUTPUT => fill(&mut orders, number, io::stdout().lock())?,
            FILL_ERRORS => fill(&mut orders, number, io::stderr().lock())?,
            EXIT => process::exit(i32::try_from(number).expect("an exit code is small")),
            KILL => {
                process::Command::new("/bin/kill").args(["-9", &process::id().to_string()]).status()?;
            }
            other => panic!("no such order: {other}"),
        }
    }
    Ok(())
}

fn pass(from: &mut TcpStream, length: u64, mut to: impl Write) -> io::Result<()> {
    let mut rest = from.take(length);
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = rest.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&chunk[..count])?;
        to.flush()?;
    }
}

fn fill(from: &mut TcpStream, mut count: u64, mut to: impl Write) -> io::Result<()> {
    let mut byte = [0];
    from.read_exact(&mut byte)?;
    let chunk = vec![byte[0]; CHUNK];
    while count > 0 {
        let now = usize::try_from(count).unwrap_or(CHUNK).min(CHUNK);
        to.write_all(&chunk[..now])?;
        count -= now as u64;
    }
    to.flush()
}
