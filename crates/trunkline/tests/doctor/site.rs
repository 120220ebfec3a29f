//! A small web server on a thread, with responses given by the test.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A response given by a test: the bytes, and whether the connection then stays open.
pub(crate) enum Said {
    Whole(String),
    /// Sends these bytes, and then keeps the connection open without data.
    Hang(String),
}

/// A listener on a free local port.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
}

type Answer = dyn Fn(&Asked) -> Said + Send + Sync;

impl Site {
    pub(crate) fn new(answer: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", answer)
    }

    pub(crate) fn at(place: &str, answer: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> Self {
        let answer: Arc<Answer> = Arc::new(answer);
        Self::raw(place, move |stream| {
            let mut reader = BufReader::new(stream.try_clone().expect("a socket can be cloned"));
            serve(&mut reader, &mut &*stream, &*answer);
        })
    }

    /// Handles each connection on a separate thread.
    pub(crate) fn raw(place: &str, serve: impl Fn(&TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(place).expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let serve = Arc::new(serve);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serve = serve.clone();
                thread::spawn(move || serve(&stream));
            }
        });
        Self { address }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Answers the requests of one connection.
pub(crate) fn serve(reader: &mut impl BufRead, writer: &mut impl Write, answer: &Answer) {
    while let Some(asked) = read(reader) {
        let said = answer(&asked);
        let (Said::Whole(text) | Said::Hang(text)) = &said;
        // The doctor may have closed the connection.
        if writer.write_all(text.as_bytes()).and_then(|()| writer.flush()).is_err() {
            return;
        }
        if matches!(said, Said::Hang(_)) {
            // Until the peer closes the connection.
            reader.read_to_end(&mut Vec::new()).ok();
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let length =
        lower.split("content-length:").nth(1).and_then(|rest| rest.lines().next()?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    Some(Asked { method, path, head: lower, body: String::from_utf8_lossy(&body).into_owned() })
}

/// A response with a status, headers (each ending with a line break) and a body.
pub(crate) fn reply(status: u16, headers: &str, body: &str) -> Said {
    let headers: String = headers.lines().flat_map(|line| [line, "\r\n"]).collect();
    Said::Whole(format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()))
}

pub(crate) fn json(body: &str) -> Said {
    reply(200, "content-type: application/json", body)
}

/// A correct server of the legacy era, without sessions.
pub(crate) fn mcp(asked: &Asked) -> Said {
    if asked.method != "POST" {
        return reply(405, "allow: POST", "");
    }
    let Ok(request) = serde_json::from_str::<serde_json::Value>(&asked.body) else {
        return reply(400, "", "");
    };
    let id = &request["id"];
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"site","version":"1"}}"#
        }
        "tools/list" => r#"{"tools":[]}"#,
        "ping" => "{}",
        "notifications/initialized" => return reply(202, "", ""),
        _ => {
            return json(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#
            ));
        }
    };
    json(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}
