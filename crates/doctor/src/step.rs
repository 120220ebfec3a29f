//! The steps of an examination, in their order.

use serde::{Serialize, Serializer};

/// One step and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    pub id: StepId,
    pub title: &'static str,
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Duration in milliseconds; `None` if the step was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub millis: Option<f64>,
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    /// Passes here, but may fail in other surroundings.
    Doubtful,
    /// Not tried: an earlier step failed, or the step does not apply. Never counts as passed.
    NotVerified,
}

macro_rules! steps {
    ($($step:ident = $id:literal $title:literal;)*) => {
        /// The steps of all examinations.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum StepId { $($step,)* }

        impl StepId {
            pub fn id(self) -> &'static str {
                match self { $(Self::$step => $id,)* }
            }

            pub fn title(self) -> &'static str {
                match self { $(Self::$step => $title,)* }
            }
        }
    };
}

steps! {
    ProgramFound = "program-found" "the program is there";
    Executable = "executable" "it may be executed";
    Interpreter = "interpreter" "its interpreter and loader are there";
    WorkingDirectory = "working-directory" "its working directory is there";
    Variables = "variables" "its arguments and variables are sound";
    Starts = "starts" "the process starts";
    StaysAlive = "stays-alive" "the process stays alive";
    OutputClean = "output-clean" "its output holds messages only";
    Address = "address" "the address can be used";
    NameResolves = "name-resolves" "the host's name resolves";
    PortOpen = "port-open" "the port accepts connections";
    Secure = "secure" "the connection is secure";
    HttpAnswers = "http-answers" "the server answers by HTTP";
    PathRight = "path-right" "the path is that of a server";
    AuthorizationFound = "authorization-found" "its authorization server is found";
    ClientKnown = "client-known" "we have a client id there";
    TokenObtained = "token-obtained" "a token is issued";
    TokenRenewed = "token-renewed" "the token can be renewed";
    LetIn = "let-in" "the server grants access";
    TransportFound = "transport-found" "the transport is found";
    SpeaksJsonRpc = "speaks-json-rpc" "it speaks JSON-RPC";
    EraFound = "era-found" "its era is found";
    Introduced = "introduced" "it introduces itself";
    RevisionShared = "revision-shared" "a revision is shared";
    SessionKept = "session-kept" "the session is kept";
    Connects = "connects" "an ordinary client connects";
    Lists = "lists" "its lists can be read";
    FirstCall = "first-call" "the first call is answered";
    OtherSurroundings = "other-surroundings" "it works as a desktop application starts it";
}

/// The steps for a command.
pub(super) const COMMAND: &[StepId] = &[
    StepId::ProgramFound,
    StepId::Executable,
    StepId::Interpreter,
    StepId::WorkingDirectory,
    StepId::Variables,
    StepId::Starts,
    StepId::StaysAlive,
    StepId::OutputClean,
    StepId::SpeaksJsonRpc,
    StepId::EraFound,
    StepId::Introduced,
    StepId::RevisionShared,
    StepId::Connects,
    StepId::Lists,
    StepId::FirstCall,
    StepId::OtherSurroundings,
];

/// The steps for an address.
pub(super) const ADDRESS: &[StepId] = &[
    StepId::Address,
    StepId::NameResolves,
    StepId::PortOpen,
    StepId::Secure,
    StepId::HttpAnswers,
    StepId::PathRight,
    StepId::AuthorizationFound,
    StepId::ClientKnown,
    StepId::TokenObtained,
    StepId::TokenRenewed,
    StepId::LetIn,
    StepId::TransportFound,
    StepId::SpeaksJsonRpc,
    StepId::EraFound,
    StepId::Introduced,
    StepId::RevisionShared,
    StepId::SessionKept,
    StepId::Connects,
    StepId::Lists,
    StepId::FirstCall,
];

/// The steps of a sign-in, which a server that asks for no token does not need.
pub(super) const SIGN_IN: [StepId; 4] =
    [StepId::AuthorizationFound, StepId::ClientKnown, StepId::TokenObtained, StepId::TokenRenewed];

impl Serialize for StepId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
