//! A minimal HTTP client with one keep-alive connection.

use serde_json::Value;
use std::io;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

use crate::site::HANG;

/// Maximum length of a body.
const MOST: usize = 64 * 1024 * 1024;

pub(crate) struct Wire {
    stream: BufReader<TcpStream>,
    address: String,
    /// Received but unread data of an event stream.
    pending: String,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Wire {
    pub(crate) async fn open(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), address: address.to_owned(), pending: String::new() })
    }

    /// Sends a request and reads the whole response. Each header ends with a line break.
    pub(crate) async fn send(&mut self, what: &str, headers: &str, body: &str) -> io::Result<Answer> {
        timeout(HANG, async {
            let mut answer = self.begin(what, headers, body).await?;
            if answer.header("transfer-encoding") == Some("chunked") {
                while let Some(chunk) = self.chunk().await? {
                    answer.body.extend(chunk);
                }
            } else if let Some(length) = answer.header("content-length") {
                let length: usize = length.parse().unwrap();
                assert!(length < MOST);
                answer.body = vec![0; length];
                self.stream.read_exact(&mut answer.body).await?;
            }
            Ok(answer)
        })
        .await
        .unwrap_or_else(|_| panic!("no answer to {what} {body}"))
    }

    /// Sends a request and reads the head of the response.
    pub(crate) async fn begin(&mut self, what: &str, headers: &str, body: &str) -> io::Result<Answer> {
        let head = format!(
            "{what} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        self.stream.get_mut().write_all(format!("{head}{body}").as_bytes()).await?;
        let status = self.line().await?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("no status"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_lowercase(), value.to_owned()));
        }
        Ok(Answer { status, headers, body: Vec::new() })
    }

    /// The data of the next event of a stream.
    pub(crate) async fn event(&mut self) -> String {
        loop {
            let event = self.whole_event().await;
            let data: Vec<&str> =
                event.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).collect();
            let data = data.join("\n");
            if !data.is_empty() {
                return data;
            }
        }
    }

    /// The lines of the next event or comment of a stream.
    pub(crate) async fn whole_event(&mut self) -> String {
        loop {
            if let Some((event, rest)) = self.pending.split_once("\n\n") {
                let event = event.to_owned();
                self.pending = rest.into();
                return event;
            }
            let chunk = timeout(HANG, self.chunk()).await.expect("an event comes").unwrap();
            let chunk = chunk.expect("the stream goes on");
            self.pending.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let line = self.line().await?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        assert!(length < MOST);
        let mut chunk = vec![0; length];
        self.stream.read_exact(&mut chunk).await?;
        self.line().await?;
        Ok((length > 0).then_some(chunk))
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        Ok(line)
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The messages in the response: one, or the events of a stream.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let text = self.text();
        if self.header("content-type").is_none_or(|kind| !kind.starts_with("text/event-stream")) {
            return serde_json::from_str(&text).into_iter().collect();
        }
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }
}
