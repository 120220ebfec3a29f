//! TLS at the listener, through the real binary.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};
use support::{Run, trunkline};

/// A directory with an authority, a certificate of it for `localhost`, and a file to serve.
struct Site {
    folder: tempfile::TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
}

struct Gateway {
    process: Child,
    endpoint: String,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::write(folder.path().join("root/hello.txt"), "hello\n").unwrap();
        let site = Self { folder, authority: authority() };
        fs::write(site.path("ca.pem"), site.authority.pem()).unwrap();
        site.renew();
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes a new certificate for the listener.
    fn renew(&self) {
        let params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        self.issue("cert.pem", "key.pem", &params);
    }

    fn issue(&self, certificate: &str, key: &str, params: &CertificateParams) {
        let pair = KeyPair::generate().unwrap();
        let signed = params.signed_by(&pair, &self.authority).unwrap();
        fs::write(self.path(key), pair.serialize_pem()).unwrap();
        fs::write(self.path(certificate), signed.pem()).unwrap();
    }

    /// Issues a client certificate with this common name: `<name>.pem` and `<name>.key`.
    fn client(&self, name: &str) {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        self.issue(&format!("{name}.pem"), &format!("{name}.key"), &params);
    }

    /// Adds an API key to `keys.json`, and returns its token.
    fn new_key(&self, id: &str) -> String {
        let mut command = trunkline(&[("HOME", &self.text(""))]);
        let made = Run::of(command.args(["key", "new", id, "--keys"]).arg(self.path("keys.json")), "");
        assert_eq!(made.code, 0, "{made}");
        made.stdout.trim().to_owned()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = trunkline(&[("HOME", &self.text(""))]);
        command.args(["serve", "--json", "--no-audit", "--listen", "127.0.0.1:0"]);
        command.arg("--tls-cert").arg(self.path("cert.pem")).arg("--tls-key").arg(self.path("key.pem"));
        command.args(words).current_dir(self.path("root"));
        command
    }

    fn serve(&self, words: &[&str]) -> Gateway {
        let mut command = self.command(words);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        Gateway { process, endpoint: told["endpoint"].as_str().unwrap().to_owned() }
    }

    fn call(&self, endpoint: &str, more: &[&str]) -> Run {
        let mut command = trunkline(&[("HOME", &self.text(""))]);
        command.args(["call", endpoint, "read_file", "path=hello.txt"]);
        Run::of(command.args(more), "")
    }

    /// Calls as a client that trusts the authority.
    fn trusted(&self, endpoint: &str, more: &[&str]) -> Run {
        self.call(endpoint, &[&["--cacert", &self.text("ca.pem")], more].concat())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.process.kill().unwrap_or_default();
        self.process.wait().unwrap();
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Test authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

#[test]
fn h18_calls_are_encrypted_and_plain_requests_get_nothing() {
    let site = Site::new();
    let gateway = site.serve(&[]);
    assert!(gateway.endpoint.starts_with("https://"), "{}", gateway.endpoint);
    let called = site.trusted(&gateway.endpoint, &[]);
    assert!(called.code == 0 && called.stdout.contains("  hello\n"), "{called}");
    let stranger = site.call(&gateway.endpoint, &[]);
    assert_eq!(stranger.code, 3, "the authority is unknown: {stranger}");
    let plain = site.trusted(&gateway.endpoint.replace("https:", "http:"), &[]);
    assert_eq!(plain.code, 3, "{plain}");
    assert!(plain.stderr.contains("error[E216]"), "{plain}");
    assert!(
        plain.stderr.contains("this port speaks TLS") && plain.stderr.contains("use https://"),
        "{plain}"
    );
}

/// A client that speaks plain HTTP gets a response that it can show.
#[test]
fn h18_a_plain_request_at_the_tls_port_is_answered_readably() {
    let site = Site::new();
    let gateway = site.serve(&[]);
    let address = gateway.endpoint.trim_start_matches("https://").trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(address).unwrap();
    let body = "x".repeat(20_000);
    write!(stream, "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-length: 20000\r\n\r\n{body}").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(body.contains("use https://"), "{answer}");
    assert!(head.contains(&format!("content-length: {}", body.len())), "{answer}");
}

/// Other TLS servers answer a plain request with an alert.
#[test]
fn h18_an_alert_of_a_tls_port_is_told_as_such() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        stream.write_all(&[0x15, 3, 3, 0, 2, 2, 50]).unwrap();
    });
    let run = Run::of(trunkline(&[]).args(["list", &address]), "");
    server.join().unwrap();
    assert!(run.code == 3 && run.stderr.contains("error[E216]"), "{run}");
    assert!(run.stderr.contains("this port speaks TLS") && run.stderr.contains("use https://"), "{run}");
}

#[test]
fn h18_only_current_protocols_and_strong_ciphers_are_offered() {
    let site = Site::new();
    let gateway = site.serve(&[]);
    let address = gateway.endpoint.trim_start_matches("https://").trim_end_matches("/mcp");
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "tls_offer.py"].iter().collect();
    let mut command = Command::new("python3");
    let offered = Run::of(command.arg(script).arg(address).arg(site.path("ca.pem")), "");
    assert_eq!(offered.code, 0, "{offered}");
    let offered: Value = serde_json::from_str(&offered.stdout).unwrap();
    assert_eq!(offered["protocols"], json!(["TLSv1.2", "TLSv1.3"]), "{offered}");
    assert_eq!(offered["alpn"], json!("http/1.1"), "{offered}");
    let ciphers = offered["ciphers"].as_array().unwrap();
    let strong = |cipher: &Value| {
        let name = cipher.as_str().unwrap();
        name.starts_with("ECDHE-") && (name.contains("GCM") || name.contains("CHACHA20"))
    };
    assert!(!ciphers.is_empty() && ciphers.iter().all(strong), "{offered}");
}

#[test]
fn a_changed_certificate_is_used_without_losing_a_call() {
    let site = Site::new();
    let gateway = site.serve(&[]);
    let served = |site: &Site| {
        let address = gateway.endpoint.trim_start_matches("https://").trim_end_matches("/mcp");
        let mut command = Command::new("python3");
        let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "tls_offer.py"].iter().collect();
        Run::of(command.arg(script).arg(address).arg(site.path("ca.pem")).arg("--serial"), "").stdout
    };
    let before = served(&site);
    let (done, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let called = site.trusted(&gateway.endpoint, &[]);
                    assert_eq!(called.code, 0, "{called}");
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..3 {
            let old = served(&site);
            let count = calls.load(Ordering::Relaxed);
            site.renew();
            while served(&site) == old || calls.load(Ordering::Relaxed) < count + 4 {
                thread::yield_now();
            }
        }
        // A damaged file changes nothing.
        fs::write(site.path("cert.pem"), "not a certificate").unwrap();
        let count = calls.load(Ordering::Relaxed);
        while calls.load(Ordering::Relaxed) < count + 4 {
            thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_ne!(served(&site), before);
}

#[test]
fn a_client_certificate_is_required_and_names_the_caller() {
    let site = Site::new();
    site.client("ada");
    site.client("bob");
    let config = site.path(".config/trunkline/trunkline.json");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let settings = json!({
        "mcp": {"servers": {"files": {"pack": "filesystem", "root": site.path("root")}}},
        "roles": {"reader": {"allow": ["files_read_file"], "callers": ["cert:CN=ada"]}},
    });
    fs::write(config, settings.to_string()).unwrap();
    let gateway = site.serve(&["--client-ca", &site.text("ca.pem")]);
    let list = |more: &[&str]| {
        let mut command = trunkline(&[("HOME", &site.text(""))]);
        command.args(["list", "tools", &gateway.endpoint, "--json", "--cacert", &site.text("ca.pem")]);
        Run::of(command.args(more), "")
    };
    let tools = |name: &str| {
        let (cert, key) = (site.text(&format!("{name}.pem")), site.text(&format!("{name}.key")));
        let run = list(&["--cert", &cert, "--key", &key]);
        serde_json::from_str::<Value>(&run.stdout).unwrap_or_else(|_| panic!("{run}"))
    };
    let ada = tools("ada");
    let listed = ada["tools"].as_array().unwrap_or_else(|| panic!("{ada}"));
    let names: Vec<&Value> = listed.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["files_read_file"]);
    assert_eq!(tools("bob")["errors"]["tools"]["code"], "E205", "a certificate without a role gives nothing");
    assert_eq!(list(&[]).code, 3, "without a certificate no connection is made");
    let foreign = Site::new();
    foreign.client("ada");
    let (cert, key) = (foreign.text("ada.pem"), foreign.text("ada.key"));
    assert_eq!(list(&["--cert", &cert, "--key", &key]).code, 3, "the same name of another authority");
}

#[test]
fn an_optional_client_certificate_or_a_key_is_needed() {
    let site = Site::new();
    site.client("ada");
    let token = site.new_key("k");
    let config = site.path(".config/trunkline/trunkline.json");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let tls = json!({
        "certificate": site.path("cert.pem"), "key": site.path("key.pem"),
        "clientAuthorities": site.path("ca.pem"), "clientCertificates": "optional",
    });
    fs::write(&config, json!({"tls": tls, "auth": {"keys": site.path("keys.json")}}).to_string()).unwrap();
    let mut command = trunkline(&[("HOME", &site.text(""))]);
    command.args(["serve", "--json", "--no-audit", "--listen", "127.0.0.1:0"]);
    command.current_dir(site.path("root")).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let gateway = Gateway { process, endpoint: told["endpoint"].as_str().unwrap().to_owned() };
    let bearer = format!("Authorization: Bearer {token}");
    assert_eq!(site.trusted(&gateway.endpoint, &["--header", &bearer]).code, 0);
    let (cert, key) = (site.text("ada.pem"), site.text("ada.key"));
    let certificate = ["--cert", &cert, "--key", &key];
    assert_eq!(site.trusted(&gateway.endpoint, &certificate).code, 0);
    assert_ne!(site.trusted(&gateway.endpoint, &[]).code, 0, "neither");
    let wrong = [&certificate[..], &["--header", "Authorization: Bearer wrong"]].concat();
    assert_ne!(
        site.trusted(&gateway.endpoint, &wrong).code,
        0,
        "a wrong key is refused, whatever else is shown"
    );
}

#[test]
fn h05_plain_http_for_other_machines_has_to_be_asked_for() {
    let site = Site::new();
    site.new_key("k");
    let serve = |words: &[&str]| {
        let mut command = trunkline(&[("HOME", &site.text(""))]);
        command.args(["serve", "--json", "--no-audit", "--listen", "0.0.0.0:0", "--keys"]);
        command.arg(site.path("keys.json")).args(words).current_dir(site.path("root"));
        command
    };
    let refused = Run::of(&mut serve(&[]), "");
    assert_eq!(refused.code, 2, "{refused}");
    for part in ["plain HTTP", "--tls-cert", "--insecure-http"] {
        assert!(refused.stderr.contains(part), "{part}: {refused}");
    }
    let (cert, key) = (site.text("cert.pem"), site.text("key.pem"));
    for words in [&["--insecure-http"][..], &["--tls-cert", &cert, "--tls-key", &key]] {
        let mut process = serve(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("endpoint"), "{words:?}: {line}");
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

#[test]
fn unusable_files_are_named_with_the_reason() {
    let site = Site::new();
    let start = |site: &Site| Run::of(&mut site.command(&[]), "");
    fs::write(site.path("key.pem"), KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let other = start(&site);
    assert!(other.code == 2 && other.stderr.contains("do not belong together"), "{other}");
    fs::write(site.path("key.pem"), "").unwrap();
    let empty = start(&site);
    assert!(empty.code == 2 && empty.stderr.contains("no PEM private key"), "{empty}");
    fs::remove_file(site.path("cert.pem")).unwrap();
    let missing = start(&site);
    assert!(missing.code == 2 && missing.stderr.contains("cert.pem"), "{missing}");
}

/// A handshake that is never finished ends with the time of a request head, and blocks no one.
#[test]
fn h08_an_unfinished_handshake_blocks_no_other() {
    let site = Site::new();
    let config = site.path(".config/trunkline/trunkline.json");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, json!({"limits": {"headerTimeout": "300ms"}}).to_string()).unwrap();
    let gateway = site.serve(&[]);
    let address = gateway.endpoint.trim_start_matches("https://").trim_end_matches("/mcp");
    let mut silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
    assert_eq!(site.trusted(&gateway.endpoint, &[]).code, 0);
    for stream in &mut silent {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap_or_default();
    }
}
