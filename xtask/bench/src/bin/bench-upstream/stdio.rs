//! The server over standard input and output.

use std::io::{self, BufRead, BufReader, BufWriter, Write};

use anyhow::Result;
use bytes::Bytes;

use crate::answer::Server;

/// The default capacity of a Linux pipe.
const BUFFER: usize = 64 * 1024;

pub(crate) fn serve(server: Server) -> Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, io::stdin().lock());
    let mut output = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(answer) = server.answer(&Bytes::from(std::mem::take(&mut line))) {
            output.write_all(&answer)?;
            output.write_all(b"\n")?;
        }
        // Flush only when no complete request is buffered, so that a burst is answered with one
        // write.
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}
