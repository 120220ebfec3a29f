//! An ordinary client's connection, bounded in time, with the last frames kept.

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
use std::{
    collections::VecDeque,
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use trunkline_client::{
    Client, ConnectOptions, Direction, Speak, Tap, Target,
    resilience::{TimeoutOptions, Timeouts},
};
use trunkline_process::Patience;
use trunkline_protocol::Era;
use trunkline_transport::child::ChildLimits;

/// Frames that are kept as evidence.
const LAST_FRAMES: usize = 6;
/// Bytes of a frame that are kept.
const FRAME_SHOWN: usize = 1500;
/// How long a server's process may take to leave.
const GOODBYE: Duration = Duration::from_millis(500);

/// A connection, and what passed over it last.
pub(super) struct Session {
    pub(super) client: Client,
    frames: Frames,
}

#[derive(Debug, Clone, Default)]
struct Frames(Arc<Mutex<VecDeque<Evidence>>>);

/// What differs from the way that was asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) environment: Option<Vec<(OsString, OsString)>>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) speak: Option<Speak>,
}

impl Session {
    /// Connects in the era that was found.
    pub(super) async fn open(target: &Target, era: Era, options: &DoctorOptions) -> Checked<Self> {
        let speak = match options.speak {
            Speak::Newest => Speak::Era(era),
            given => given,
        };
        let surroundings = Surroundings { speak: Some(speak), ..Surroundings::default() };
        let frames = Frames::default();
        match connect(target, options, &surroundings, Some(frames.tap())).await {
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

/// Whether an ordinary client can connect, and who answers or why not.
pub(crate) async fn attempt(
    target: &Target,
    options: &DoctorOptions,
    surroundings: &Surroundings,
) -> (Works, String) {
    match connect(target, options, surroundings, None).await {
        Ok(client) => {
            let detail = work_of(&client);
            client.close().await;
            (Works::Yes, detail)
        }
        Err(fault) => (Works::No, fault.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

/// Who answers.
fn work_of(client: &Client) -> String {
    let server = client.server();
    let name = server.name.clone().unwrap_or_else(|| "a server without a name".to_owned());
    format!("{name} answers: {} over {}", server.revision, server.transport)
}

async fn connect(
    target: &Target,
    options: &DoctorOptions,
    surroundings: &Surroundings,
    tap: Option<Tap>,
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
        speak: surroundings.speak.unwrap_or(options.speak),
        timeouts: Timeouts::new(timeouts).unwrap_or_default(),
        http,
        exposure: options.exposure,
        environment: surroundings.environment.clone().unwrap_or_else(|| options.environment.clone()),
        process_limits: ChildLimits { line: options.limits.bytes, ..ChildLimits::default() },
        patience: Patience { eof: GOODBYE, term: GOODBYE },
        tap,
        ..ConnectOptions::default()
    };
    // The future of a connection is large, and stands in many others.
    Box::pin(Client::connect(&placed(target, options, surroundings), connect)).await
}

/// The target with its working directory written out.
fn placed(target: &Target, options: &DoctorOptions, surroundings: &Surroundings) -> Target {
    let mut target = target.clone();
    if let Target::Command(line) = &mut target {
        let given = line.directory.take();
        let base = surroundings.directory.clone().unwrap_or_else(|| options.directory.clone());
        line.directory = Some(given.map_or(base.clone(), |given| base.join(given)));
    }
    target
}

impl Frames {
    fn tap(&self) -> Tap {
        let frames = self.clone();
        Tap::new(move |direction, frame| frames.add(direction, frame))
    }

    fn add(&self, direction: Direction, frame: &[u8]) {
        let kind = match direction {
            Direction::Sent => Kind::Sent,
            Direction::Received => Kind::Received,
            Direction::Noise => Kind::Output,
        };
        let shown = &frame[..frame.len().min(FRAME_SHOWN)];
        let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() == LAST_FRAMES {
            frames.pop_front();
        }
        frames.push_back(Evidence::new(kind, String::from_utf8_lossy(shown)));
    }

    fn last(&self) -> Vec<Evidence> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
