//! Connects an ordinary client, with a timeout and a record of the last frames.

use super::{
    super::{
        cause::Cause,
        diagnosis::Works,
        evidence::{Evidence, Kind},
        examination::{Checked, passed},
        options::DoctorOptions,
    },
    problem_of,
};
use parking_lot::Mutex;
use std::{collections::VecDeque, ffi::OsString, path::PathBuf, sync::Arc, time::Duration};
use trunkline_client::{
    Client, ConnectOptions, Direction, FrameTap, RevisionChoice, Target,
    resilience::{TimeoutOptions, Timeouts},
};
use trunkline_process::GracePeriods;
use trunkline_protocol::Era;
use trunkline_transport::child::ChildLimits;

/// Number of frames kept as evidence.
const LAST_FRAMES: usize = 6;
/// Bytes kept per frame.
const FRAME_SHOWN: usize = 1500;
/// Grace period for the server's process to exit.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// A connection and its last frames.
pub(super) struct Session {
    pub(super) client: Client,
    frames: Frames,
}

#[derive(Debug, Clone, Default)]
struct Frames(Arc<Mutex<VecDeque<Evidence>>>);

/// Settings of an attempt that differ from the options; `None` keeps the option.
#[derive(Debug, Clone, Default)]
pub(crate) struct AttemptOverrides {
    pub(crate) environment: Option<Vec<(OsString, OsString)>>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) speak: Option<RevisionChoice>,
}

impl Session {
    /// Connects in the detected era.
    pub(super) async fn open(target: &Target, era: Era, options: &DoctorOptions) -> Checked<Self> {
        let speak = match options.speak {
            RevisionChoice::Newest => RevisionChoice::Era(era),
            given => given,
        };
        let overrides = AttemptOverrides { speak: Some(speak), ..AttemptOverrides::default() };
        let frames = Frames::default();
        match connect(target, options, &overrides, Some(frames.tap())).await {
            Ok(client) => {
                let server = client.server();
                let detail = format!("{} over {}", server.revision, server.transport);
                passed(Self { client, frames }, detail)
            }
            Err(fault) => Err(Box::new(
                problem_of(&fault, "an ordinary client cannot connect", Cause::ConnectionBreaks)
                    .proofs(frames.last())
                    .fix("see the last frames"),
            )),
        }
    }

    pub(super) fn last_frames(&self) -> Vec<Evidence> {
        self.frames.last()
    }

    pub(super) async fn close(self) {
        self.client.close().await;
    }
}

/// Tries to connect with an ordinary client. Returns the outcome, and the server's name or the
/// error.
pub(crate) async fn attempt(
    target: &Target,
    options: &DoctorOptions,
    overrides: &AttemptOverrides,
) -> (Works, String) {
    match connect(target, options, overrides, None).await {
        Ok(client) => {
            let detail = work_of(&client);
            client.close().await;
            (Works::Yes, detail)
        }
        Err(fault) => (Works::No, fault.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

/// Name, revision and transport of the connected server.
fn work_of(client: &Client) -> String {
    let server = client.server();
    let name = server.name.clone().unwrap_or_else(|| "a server without a name".to_owned());
    format!("{name} answers: {} over {}", server.revision, server.transport)
}

async fn connect(
    target: &Target,
    options: &DoctorOptions,
    overrides: &AttemptOverrides,
    tap: Option<FrameTap>,
) -> Result<Client, trunkline_protocol::Fault> {
    let limit = options.limits.step;
    let timeouts = TimeoutOptions { connect: limit, call: limit, ceiling: limit };
    let mut http = options.http.clone();
    http.connect_timeout = http.connect_timeout.min(limit);
    http.endpoint_timeout = http.endpoint_timeout.min(limit);
    http.head_timeout = Some(limit);
    http.body_limit = options.limits.bytes;
    http.event_limit = options.limits.bytes;
    let connect = ConnectOptions {
        speak: overrides.speak.unwrap_or(options.speak),
        timeouts: Timeouts::new(timeouts).unwrap_or_default(),
        http,
        exposure: options.exposure,
        environment: overrides.environment.clone().unwrap_or_else(|| options.environment.clone()),
        process_limits: ChildLimits { line: options.limits.bytes, ..ChildLimits::default() },
        patience: GracePeriods { eof: EXIT_GRACE, term: EXIT_GRACE },
        tap,
        ..ConnectOptions::default()
    };
    // Boxed, because the future is large and part of many others.
    Box::pin(Client::connect(&placed(target, options, overrides), connect)).await
}

/// The target with an explicit working directory.
fn placed(target: &Target, options: &DoctorOptions, overrides: &AttemptOverrides) -> Target {
    let mut target = target.clone();
    if let Target::Command(line) = &mut target {
        let given = line.directory.take();
        let base = overrides.directory.clone().unwrap_or_else(|| options.directory.clone());
        line.directory = Some(given.map_or(base.clone(), |given| base.join(given)));
    }
    target
}

impl Frames {
    fn tap(&self) -> FrameTap {
        let frames = self.clone();
        FrameTap::new(move |direction, frame| frames.add(direction, frame))
    }

    fn add(&self, direction: Direction, frame: &[u8]) {
        let kind = match direction {
            Direction::Sent => Kind::Sent,
            Direction::Received => Kind::Received,
            Direction::Noise => Kind::Output,
        };
        let shown = &frame[..frame.len().min(FRAME_SHOWN)];
        let mut frames = self.0.lock();
        if frames.len() == LAST_FRAMES {
            frames.pop_front();
        }
        frames.push_back(Evidence::new(kind, String::from_utf8_lossy(shown)));
    }

    fn last(&self) -> Vec<Evidence> {
        self.0.lock().iter().cloned().collect()
    }
}
