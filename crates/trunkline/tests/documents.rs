//! The documents pack in the real binary: conversions, exports, resources and hostile files.
#![cfg(feature = "documents")]
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test may panic, and only a part of the shared support is used here"
)]

#[path = "support/hostile_documents.rs"]
mod hostile_documents;
#[path = "support/installed.rs"]
mod installed;
mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
};
use support::{Run, trunkline};

/// Time limit of a conversion in these tests.
const TIMEOUT: &str = "5s";

/// The documents, written once.
fn documents() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let write = || {
        let folder = tempfile::tempdir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documents.py");
        assert!(Command::new("python3").arg(script).arg(folder.path()).status().unwrap().success());
        folder
    };
    FOLDER.get_or_init(write).path()
}

/// A server of the documents, killed at the end of the test.
struct Served {
    process: Child,
    endpoint: String,
    _folder: tempfile::TempDir,
}

impl Served {
    fn start(settings: &str, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("trunkline.json");
        fs::write(&config, settings).unwrap();
        let mut command = trunkline(variables);
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]);
        if !settings.contains("servers") {
            command.arg("--root").arg(documents());
        }
        command.arg("--config").arg(config).arg("--audit").arg(folder.path().join("audit"));
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        Self { process, endpoint: told["endpoint"].as_str().unwrap().to_owned(), _folder: folder }
    }

    fn with_limits() -> Self {
        Self::start(&format!(r#"{{"documents": {{"timeout": "{TIMEOUT}"}}}}"#), &[])
    }

    fn client(&self, words: &[&str]) -> Run {
        let mut command = trunkline(&[]);
        Run::of(command.args(["--json", words[0], &self.endpoint]).args(&words[1..]), "")
    }

    /// Calls a tool and returns its result.
    fn call(&self, tool: &str, arguments: &[&str]) -> Value {
        let run = self.client(&[&["call", tool, "--timeout", "60s"], arguments].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{tool}: {run}"))
    }

    fn convert(&self, path: &str) -> Value {
        self.call("convert_document", &[&format!("path={path}")])
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// The code of the catalogue in a failed result.
fn code(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["_meta"].as_object().unwrap().values().find_map(Value::as_str).unwrap_or_default()
}

#[test]
fn the_eight_tools_convert_and_export() {
    let served = Served::with_limits();
    let listed = served.client(&["list", "tools"]);
    for tool in ["pdf", "docx", "xlsx", "pptx", "url", "document"] {
        assert!(listed.stdout.contains(&format!("\"convert_{tool}\"")), "{listed}");
    }
    for (tool, path, expected) in [
        ("convert_docx", "good/report.docx", "Revenue rose."),
        ("convert_xlsx", "good/book.xlsx", "cell"),
        ("convert_pptx", "good/talk.pptx", "Opening"),
        ("convert_pdf", "good/letter.pdf", "Dear reader"),
        ("convert_document", "good/page.html", "Second"),
    ] {
        let converted = served.call(tool, &[&format!("path={path}")]);
        let facts = &converted["structuredContent"];
        let id = facts["document_id"].as_str().unwrap_or_else(|| panic!("{path}: {converted}"));
        assert_eq!(facts["document"]["schema_name"], "DoclingDocument", "{path}");
        assert_eq!(converted["content"][1]["type"], "resource_link", "{path}");
        let given = format!("document_id={id}");
        for export in ["export_markdown", "export_html", "export_json"] {
            let exported = served.call(export, &[&given]);
            assert!(text(&exported).contains(expected), "{export} {path}: {exported}");
        }
        let inline = format!("document:={}", facts["document"]);
        assert!(text(&served.call("export_markdown", &[&inline])).contains(expected), "{path}");
    }
}

/// docling-core leaves the names of sheets out, and a document of a client is written as it does.
#[test]
fn the_markdown_of_a_converted_workbook_names_its_sheets() {
    let served = Served::with_limits();
    let converted = served.convert("good/book.xlsx");
    let facts = &converted["structuredContent"];
    let id = format!("document_id={}", facts["document_id"].as_str().unwrap());
    let names_sheet =
        |exported: &str| exported.lines().any(|line| line.trim_start_matches(['#', ' ']) == "One");
    assert!(names_sheet(text(&served.call("export_markdown", &[&id]))), "{converted}");
    let inline = format!("document:={}", facts["document"]);
    assert!(!names_sheet(text(&served.call("export_markdown", &[&inline]))), "{converted}");
}

#[test]
fn parts_of_a_document_are_resources() {
    let served = Served::with_limits();
    let uri = served.convert("good/page.html")["structuredContent"]["uri"].as_str().unwrap().to_owned();
    let read = |part: &str| served.client(&["read", &format!("{uri}{part}")]).stdout;
    assert!(read("").contains("DoclingDocument"));
    let section = read("/sections/1");
    assert!(section.contains("Second") && !section.contains("First"), "{section}");
    assert!(read("/markdown").contains("First"));
    assert!(read("/outline").contains("Part"));
    let missing = served.client(&["read", &format!("{uri}/sections/9")]);
    assert_ne!(missing.code, 0);
    assert!(missing.stderr.contains("no such resource"), "{missing}");
    let unknown = served.client(&["read", "document://doc_00000000000000000000000000000000"]);
    assert!(unknown.stderr.contains("no such resource"), "{unknown}");
}

#[test]
fn base64_content_is_converted_and_wrong_formats_are_named() {
    let served = Served::with_limits();
    let converted = served.call("convert_document", &["content=PGgxPkhpPC9oMT4=", "name=a.html"]);
    assert_eq!(converted["structuredContent"]["headings"], 1, "{converted}");
    let wrong = served.call("convert_pdf", &["path=good/report.docx"]);
    assert_eq!(code(&wrong), "E004");
    assert!(text(&wrong).contains("use convert_docx"), "{wrong}");
    for (arguments, expected) in [
        (&["path=good/none.docx"][..], "E001"),
        (&["path=../../etc/passwd"], "E002"),
        (&["content=%%%"], "E002"),
    ] {
        assert_eq!(code(&served.call("convert_document", arguments)), expected, "{arguments:?}");
    }
    let neither = served.call("convert_document", &["name=x"]);
    assert!(text(&neither).contains("either `path` or `content`"), "{neither}");
    let broken = served.call(
        "export_markdown",
        &[r##"document:={"name":"x","body":{"self_ref":"#/body","children":[{"$ref":"#/texts/7"}]}}"##],
    );
    assert_eq!(code(&broken), "E303");
}

#[test]
fn r01_convert_url_refuses_addresses_of_our_network() {
    let served = Served::with_limits();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "[::ffff:127.0.0.1]", "169.254.169.254"] {
        let refused = served.call("convert_url", &[&format!("url=http://{host}:{port}/")]);
        assert_eq!(code(&refused), "E102", "{host}");
        assert!(!text(&refused).contains("127.0.0.1"), "{refused}");
    }
    assert_eq!(code(&served.call("convert_url", &["url=file:///etc/passwd"])), "E101");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn r05_an_allowed_host_is_fetched_without_a_proxy() {
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let by_proxy = format!("http://{}", proxy.local_addr().unwrap());
    let variables = [("http_proxy", &*by_proxy), ("HTTP_PROXY", &by_proxy), ("ALL_PROXY", &by_proxy)];
    let served = Served::start(r#"{"documents": {"fetch": {"allow": ["127.0.0.0/8"]}}}"#, &variables);
    let url = format!("url=http://{}/page", site.local_addr().unwrap());
    let answering = thread::spawn(move || {
        let (mut stream, _) = site.accept().unwrap();
        let mut request = [0; 1024];
        assert!(stream.read(&mut request).unwrap() > 0);
        let body = "<h1>Fetched</h1><p>page</p>";
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
    });
    let converted = served.call("convert_url", &[&url]);
    answering.join().unwrap();
    assert_eq!(converted["structuredContent"]["outline"][0]["title"], "Fetched", "{converted}");
    assert_eq!(proxy.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

fn convert(words: &[&str], input: &str) -> Run {
    Run::of(trunkline(&[]).arg("convert").args(words).current_dir(documents()), input)
}

#[test]
fn convert_writes_a_folder_and_skips_what_is_done() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().to_str().unwrap();
    let first = convert(&["good", "z05/empty.pdf", "--out", out, "--json"], "");
    assert_eq!(first.code, 1, "{first}");
    let report: Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!((&report["converted"], &report["failed"]), (&5.into(), &1.into()), "{report}");
    let failed = report["documents"].as_array().unwrap().last().unwrap();
    assert_eq!(failed["code"], "E004", "{failed}");
    let text = fs::read_to_string(Path::new(out).join("report.md")).unwrap();
    assert!(text.contains("Revenue rose."), "{text}");

    fs::remove_file(Path::new(out).join("page.md")).unwrap();
    let again = convert(&["good", "--out", out], "");
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stdout.contains("1 document converted, 4 skipped, 0 failed"), "{again}");
    let forced = convert(&["good", "--out", out, "--force", "--to", "html"], "");
    assert!(forced.stdout.contains("5 documents converted, 0 skipped"), "{forced}");
    assert!(Path::new(out).join("talk.html").exists());
}

#[test]
fn convert_writes_one_document_to_standard_output() {
    let page = convert(&["good/page.html"], "");
    assert_eq!(page.code, 0, "{page}");
    assert!(page.stdout.starts_with("# Title"), "{page}");
    let json = convert(&["-", "--to", "json"], "<h1>From a pipe</h1><p>text</p>");
    assert!(json.stdout.contains("DoclingDocument") && json.stdout.contains("From a pipe"), "{json}");
    let several = convert(&["good"], "");
    assert_eq!(several.code, 2, "{several}");
    assert!(several.stderr.contains("--out DIR"), "{several}");
    let missing = convert(&["none.docx"], "");
    assert_eq!(missing.code, 2, "{missing}");
    let refused = convert(&["http://127.0.0.1:9/x.pdf"], "");
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains("E102"), "{refused}");
}

#[test]
fn convert_uses_the_tools_of_a_server() {
    let served = Served::with_limits();
    let converted = convert(&["good/report.docx", "--server", &served.endpoint], "");
    assert_eq!(converted.code, 0, "{converted}");
    assert!(converted.stdout.contains("Revenue rose."), "{converted}");
    let failed = convert(&["z05/span.docx", "--server", &served.endpoint], "");
    assert_eq!(failed.code, 1, "{failed}");
    assert!(failed.stderr.contains("(E3") || failed.stderr.contains("(E0"), "{failed}");
}

/// Settings with the real docling-mcp as the server `docling`, which runs without models.
fn docling() -> Value {
    let program = installed::installed("docling/bin/docling-mcp-server");
    json!({
        "command": [program, "--transport", "stdio"],
        "environment": { "DOCLING_MCP_CONVERSION_MODE": "local" },
        "adapter": "docling-mcp",
        "root": documents().join("good"),
        "breaker": { "failures": 2 },
    })
}

/// A server that ends when a tool is called.
const DIES_IN_CALLS: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        revision = message["params"]["protocolVersion"]
        about = {"name": "dying", "version": "1"}
        answer["result"] = {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": about}
    elif message["method"] == "tools/call":
        sys.exit(3)
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn docling_mcp_answers_to_our_names() {
    let settings = json!({ "mcp": { "servers": { "docling": docling() } } });
    let served = Served::start(&settings.to_string(), &[]);
    let listed = served.client(&["list", "tools", "--wait=60s"]);
    for tool in ["convert_pdf", "convert_docx", "convert_xlsx", "convert_pptx", "convert_url"]
        .into_iter()
        .chain(["export_markdown", "export_html", "export_json"])
    {
        assert!(listed.stdout.contains(&format!("\"docling_{tool}\"")), "{listed}");
    }
    assert!(!listed.stdout.contains("convert_document_into"), "{listed}");

    let converted = served.call("docling_convert_docx", &["path=report.docx"]);
    let facts = &converted["structuredContent"];
    let id = facts["document_id"].as_str().unwrap_or_else(|| panic!("{converted}"));
    assert_eq!(facts["document"]["schema_name"], "DoclingDocument");
    assert_eq!(facts["document"]["origin"]["filename"], "report.docx", "{converted}");
    // docling-mcp adds the path that it was given.
    assert!(!facts["document"].to_string().contains("source: "), "{converted}");
    for export in ["docling_export_markdown", "docling_export_html", "docling_export_json"] {
        let exported = served.call(export, &[&format!("document_id={id}")]);
        assert!(text(&exported).contains("Revenue rose."), "{export}: {exported}");
    }
    let wrong = served.call("docling_convert_pdf", &["path=report.docx"]);
    assert_eq!(code(&wrong), "E004");
    assert_eq!(code(&served.call("docling_convert_docx", &["path=../z05/span.docx"])), "E002");
    let refused = served.call("docling_convert_url", &["url=http://127.0.0.1:9/a.docx"]);
    assert_eq!(code(&refused), "E102");
    // Without models it cannot read a PDF.
    let failed = served.call("docling_convert_pdf", &["path=letter.pdf"]);
    assert_eq!(code(&failed), "E302", "{failed}");
}

#[test]
fn convert_uses_docling_mcp_and_its_breaker() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("trunkline.json");
    let mut plain = docling();
    plain.as_object_mut().unwrap().retain(|key, _| key != "adapter" && key != "root");
    let dying = json!({
        "command": ["python3", "-c", DIES_IN_CALLS], "adapter": "docling-mcp",
        "breaker": { "failures": 2 }, "restart": { "first": "1ms", "most": "1ms" },
    });
    let settings = json!({ "mcp": { "servers": { "docling": docling(), "plain": plain, "dying": dying } } });
    fs::write(&config, settings.to_string()).unwrap();
    let config = config.to_str().unwrap();
    let run = |words: &[&str]| convert(&[words, &["--config", config]].concat(), "");
    let converted = run(&["good/report.docx", "--server", "docling"]);
    assert_eq!(converted.code, 0, "{converted}");
    assert!(converted.stdout.contains("Revenue rose."), "{converted}");
    let unadapted = run(&["good/report.docx", "--server", "plain"]);
    assert!(unadapted.stderr.contains("(E204)") && unadapted.stderr.contains("adapter"), "{unadapted}");

    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let several = run(&["good", "--server", "dying", "--out", out, "--json"]);
    let report: Value = serde_json::from_str(&several.stdout).unwrap_or_else(|_| panic!("{several}"));
    assert_eq!(report["failed"], 5, "{report}");
    let codes: Vec<&str> =
        report["documents"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    assert_eq!(codes[codes.len() - 1], "E201", "the breaker is open: {report}");
    assert_ne!(codes[0], "E201", "{report}");
    let flag = run(&["good/report.docx", "--server", "docling", "--header", "a: b"]);
    assert!(flag.stderr.contains("--header cannot be used"), "{flag}");
}

#[test]
fn convert_uses_a_configured_pack() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("trunkline.json");
    fs::write(&config, r#"{"mcp": {"servers": {"papers": {"pack": "documents"}}}}"#).unwrap();
    let words = ["good/report.docx", "--server", "papers", "--config", config.to_str().unwrap()];
    let converted = convert(&words, "");
    assert!(converted.stdout.contains("Revenue rose."), "{converted}");
}

/// The variables with which the installed tesseract and pdftoppm are found.
fn with_ocr() -> Vec<(&'static str, String)> {
    let tesseract = installed::installed("ocr/usr/bin/tesseract");
    let usr = tesseract.ancestors().nth(2).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", usr.join("bin").display());
    let below = |folder: &str| {
        let folders = fs::read_dir(usr.join(folder)).into_iter().flatten();
        folders.map(|folder| folder.unwrap().path()).collect::<Vec<_>>()
    };
    let libraries: Vec<String> = below("lib").iter().map(|folder| folder.display().to_string()).collect();
    let mut data = below("share/tesseract-ocr").into_iter().map(|folder| folder.join("tessdata"));
    let mut variables = vec![("PATH", path), ("LD_LIBRARY_PATH", libraries.join(":"))];
    variables.extend(data.next_back().map(|data| ("TESSDATA_PREFIX", data.display().to_string())));
    variables
}

#[test]
fn scanned_documents_are_recognised_where_tesseract_is_installed() {
    let variables = with_ocr();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
    let run = |variables: &[(&str, &str)], words: &[&str]| {
        Run::of(trunkline(variables).arg("convert").args(words).current_dir(documents()), "")
    };
    for scan in ["scan/scan.pdf", "scan/scan.png"] {
        let recognised = run(&variables, &[scan]);
        assert_eq!(recognised.code, 0, "{scan}: {recognised}");
        assert!(recognised.stdout.contains("HARBOUR 1847"), "{scan}: {recognised}");
    }
    let json = run(&variables, &["scan/scan.pdf", "--to", "json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["pages"].as_object().unwrap().len(), 2, "{json}");
    assert_eq!(json["texts"][0]["prov"][0]["page_no"], 1, "{json}");

    let nowhere = run(&[("PATH", "/nowhere")], &["scan/scan.pdf"]);
    assert_eq!(nowhere.code, 1, "{nowhere}");
    assert!(nowhere.stderr.contains("install tesseract") && nowhere.stderr.contains("E302"), "{nowhere}");
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("trunkline.json");
    for (settings, expected) in [
        (r#"{"documents": {"ocr": "off"}}"#, "set `documents.ocr`"),
        (r#"{"documents": {"ocrPages": 1}}"#, "(E003)"),
        (r#"{"documents": {"ocrLanguages": "xyz"}}"#, "lacks a language"),
    ] {
        fs::write(&config, settings).unwrap();
        let refused = run(&variables, &["scan/scan.pdf", "--config", config.to_str().unwrap()]);
        assert_eq!(refused.code, 1, "{settings}: {refused}");
        assert!(refused.stderr.contains(expected), "{settings}: {refused}");
    }
}
