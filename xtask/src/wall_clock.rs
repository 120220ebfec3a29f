//! V06: lists the files that read the wall clock, which may jump back by a day. Waits, expiries
//! and countdowns use a monotonic clock.

use std::collections::BTreeSet;
use std::fs;

use crate::file_length::sources;
use crate::workspace::Workspace;

/// Files that read the wall clock, and the purpose.
const READERS: [(&str, &str); 29] = [
    ("auth/src/introspection.rs", "the expiry that the issuer of a token names"),
    ("auth/src/keys/mod.rs", "the day on which a key expires"),
    ("config/src/write.rs", "the name of a file that is kept"),
    ("gateway/src/approval/grant.rs", "an expiry that holds after a restart"),
    ("gateway/src/approval/mod.rs", "told to operators"),
    ("gateway/src/approval/record.rs", "an expiry on which several processes must agree"),
    ("gateway/src/audit/clock.rs", "told in records"),
    ("gateway/src/audit/signing/head.rs", "told in signed heads"),
    ("gateway/src/policy/rule_table.rs", "times of day and dates in rules"),
    ("gateway/src/rewrite/state.rs", "an expiry on which several processes must agree"),
    ("gateway/src/status/mod.rs", "told in the status"),
    ("gateway/src/trace/open_span.rs", "told in spans"),
    ("gateway/src/upstream/session_pool.rs", "told in the status"),
    ("doctor/src/url/token.rs", "whether a token has expired, told as a hint"),
    ("oauth/src/token.rs", "the age of a token that several processes share"),
    ("serve/src/access/logged.rs", "told in the access log"),
    ("serve/src/access/note.rs", "told in the access log"),
    ("serve/src/access/record.rs", "told in the access log"),
    ("http1/src/server/date.rs", "told in answers"),
    ("serve/src/execution/record.rs", "told to clients; compared only to say how long a record is kept"),
    ("serve/src/rest/answer.rs", "told to clients"),
    ("packs/src/ci/job/launch.rs", "whether a report is newer than its job, by the clock of the file system"),
    ("packs/src/documents/handles.rs", "the order of documents, kept by processes that share a store"),
    ("packs/src/sandbox/leftovers.rs", "the age of files, which the file system keeps by the same clock"),
    ("store/src/embedded/expiry.rs", "an expiry that holds after a restart"),
    ("toolbox/src/toolbox/tasks/task.rs", "told to clients"),
    ("transport/src/http/status.rs", "a date in a header, of which the other side's clock is the measure"),
    ("trunkline/src/telemetry/access_log/line.rs", "told in the access log"),
    ("trunkline/src/telemetry/head_otlp.rs", "told in log records"),
];

#[test]
fn v06_only_what_tells_or_compares_dates_reads_the_wall_clock() {
    let crates = Workspace::find().unwrap().root().join("crates");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    let reads = |path: &&std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.contains("SystemTime::now") || text.contains("Utc::now")
    };
    let found: BTreeSet<String> = files
        .iter()
        .filter(reads)
        .map(|path| path.strip_prefix(&crates).unwrap().display().to_string())
        .collect();
    let known: BTreeSet<String> = READERS.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(
        found, known,
        "a wait or an expiry must not depend on it; say what it is for, or use `Instant`"
    );
}
