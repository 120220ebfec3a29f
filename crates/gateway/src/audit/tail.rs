//! Reads the last records of a trail and follows it, like `tail -f`.

use super::disk::Disk;
use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    time::Duration,
};

/// Poll interval for new lines.
const POLL: Duration = Duration::from_millis(200);

/// Longest accepted line; real ones are far shorter.
const MAX_LINE: usize = 1024 * 1024;

/// The last `count` lines, oldest first.
pub fn tail(dir: impl AsRef<Path>, count: usize) -> io::Result<Vec<String>> {
    Tail::open(dir, count).map(|tail| tail.ready.into())
}

/// A reader that follows a trail from segment to segment.
#[derive(Debug)]
pub struct Tail {
    disk: Disk,
    ready: VecDeque<String>,
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    number: u64,
    reader: BufReader<File>,
    partial: Vec<u8>,
}

impl Tail {
    /// Begins `count` lines before the end.
    pub fn open(dir: impl AsRef<Path>, count: usize) -> io::Result<Self> {
        let disk = Disk::read_only(dir.as_ref())?;
        let mut tail = Self { disk, ready: VecDeque::new(), current: None };
        let numbers = tail.disk.segments()?;
        for (at, number) in numbers.iter().enumerate().rev() {
            let mut current = Current::open(&tail.disk, *number)?;
            let mut lines = VecDeque::new();
            while let Some(line) = current.line()? {
                lines.push_back(line);
                if lines.len() + tail.ready.len() > count {
                    lines.pop_front();
                }
            }
            lines.append(&mut tail.ready);
            tail.ready = lines;
            if at + 1 == numbers.len() {
                tail.current = Some(current);
            }
            if tail.ready.len() >= count {
                break;
            }
        }
        Ok(tail)
    }

    /// Waits for the next line.
    pub async fn next(&mut self) -> io::Result<String> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(line);
            }
            if let Some(line) = self.read()? {
                return Ok(line);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn read(&mut self) -> io::Result<Option<String>> {
        loop {
            // Checked before reading: a segment that has a successor is complete.
            let after = self.current.as_ref().map_or(0, |current| current.number);
            let next = self.disk.segments()?.into_iter().find(|number| *number > after);
            if let Some(current) = &mut self.current
                && let Some(line) = current.line()?
            {
                return Ok(Some(line));
            }
            match next {
                Some(number) => self.current = Some(Current::open(&self.disk, number)?),
                None => return Ok(None),
            }
        }
    }
}

impl Current {
    fn open(disk: &Disk, number: u64) -> io::Result<Self> {
        Ok(Self { number, reader: BufReader::new(disk.read(number)?), partial: Vec::new() })
    }

    /// The next complete line, if there is one.
    fn line(&mut self) -> io::Result<Option<String>> {
        let room = MAX_LINE.saturating_sub(self.partial.len()) as u64;
        self.reader.by_ref().take(room).read_until(b'\n', &mut self.partial)?;
        if self.partial.last() != Some(&b'\n') && self.partial.len() < MAX_LINE {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&self.partial).trim_end_matches('\n').to_owned();
        self.partial.clear();
        Ok(Some(line))
    }
}
