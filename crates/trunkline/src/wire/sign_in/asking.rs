//! Asks a caller to sign in: by URL elicitation if its client has that, else by an error with the
//! link.

use super::desk::{Applicant, Confirmed, LoginDesk, Proof};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use trunkline_protocol::{
    Call, Fault, FaultKind, Outcome, Part, Question, Raw, Reply,
    message::{ClientCapabilities, meta},
    method,
};
use trunkline_resilience::timeout;
use trunkline_secrets::visible;

/// The tool that signs in.
pub(super) const TOOL: &str = "sign_in";
/// The tool that signs out.
pub(super) const SIGN_OUT: &str = "sign_out";
/// Its argument: the code that the browser shows.
const CODE: &str = "code";
/// How often the client is asked for a code in one call.
const MAX_QUESTIONS: usize = 3;
/// Parts that may wait for the client to take them.
const PARTS: usize = 4;

/// The reply of a call that signs in. Its result is a text for the caller.
pub(super) fn sign_in(desk: LoginDesk, applicant: Applicant, call: Call) -> Reply {
    let (tell, parts) = mpsc::channel(PARTS);
    let work = async move { Part::Final(Asking { desk, applicant, call, tell }.run().await) };
    let parts = stream::unfold(parts, |mut parts| async move { Some((parts.recv().await?, parts)) });
    Reply::new(stream::select(parts, stream::once(work)))
}

/// The tool's definition.
pub(super) fn tool(server: &str) -> Value {
    json!({
        "name": TOOL,
        "title": format!("Sign in to {server}"),
        "description": format!(
            "Signs you in to `{server}` with your own account; its other tools are listed after that. \
             Without arguments it returns a link to open in a browser. If the browser then shows a \
             code, call it again with that code."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {CODE: {"type": "string", "description": "The code that the browser shows"}},
        },
        "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true},
    })
}

/// The tools that a session with a login has beside those of the server.
pub(super) fn tools_beside(server: &str) -> [Value; 2] {
    let mut sign_in = tool(server);
    sign_in["description"] = format!(
        "Signs you in to `{server}` once more, if it refused a call because your login lacks rights. \
         Takes the code that the browser shows."
    )
    .into();
    let sign_out = json!({
        "name": SIGN_OUT,
        "title": format!("Sign out of {server}"),
        "description": format!("Signs you out of `{server}`: revokes and forgets your login there."),
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true},
    });
    [sign_in, sign_out]
}

struct Asking {
    desk: LoginDesk,
    applicant: Applicant,
    call: Call,
    tell: mpsc::Sender<Part>,
}

impl Asking {
    async fn run(self) -> Outcome {
        let arguments = self.call.params.as_ref().and_then(|params| params.member("arguments"));
        let is_own =
            self.call.params.as_ref().and_then(|params| params.text_of("name")).as_deref() == Some(TOOL);
        let code = arguments.as_ref().filter(|_| is_own).and_then(|arguments| arguments.text_of(CODE));
        if let Some(code) = code {
            return match self.desk.confirm(&self.applicant, &code).await {
                Confirmed::Yes => Ok(self.done()),
                why => Err(refused(why)),
            };
        }
        if self.applicant.is_settled() {
            return Ok(self.done());
        }
        let link = self.desk.offer(&self.applicant).ok_or_else(|| self.no_door())?;
        let (has_url, has_form) = elicitation(&self.call);
        if !has_url {
            return Err(self.link_fault(&link));
        }
        let question = json!({"mode": "url", "message": self.invitation(), "url": link});
        if self.ask("sign-in", question).await.is_none() {
            return Err(Fault::new(FaultKind::Declined, "the login was declined"));
        }
        match self.applicant.proof {
            Proof::OnlyCaller => self.wait().await,
            Proof::Code if has_form => self.ask_code().await,
            Proof::Code => Err(self.link_fault(&link)),
        }
    }

    /// Asks for the code, which proves that caller and browser belong to the same person.
    async fn ask_code(&self) -> Outcome {
        let server = &self.applicant.server;
        let mut message = format!("Enter the code that the browser shows after the login at `{server}`.");
        for _ in 0..MAX_QUESTIONS {
            let field = json!({"type": "string", "title": "Code", "minLength": 8, "maxLength": 16});
            let schema = json!({"type": "object", "properties": {CODE: field}, "required": [CODE]});
            let answer = self.ask("code", json!({"message": message, "requestedSchema": schema})).await;
            let code = answer.as_ref().and_then(|answer| answer.member("content"));
            let code = code.as_ref().and_then(|content| content.text_of(CODE));
            let Some(code) = code else {
                return Err(Fault::new(FaultKind::Declined, "the code of the login was not given"));
            };
            message = match self.desk.confirm(&self.applicant, &code).await {
                Confirmed::Yes => return Ok(self.done()),
                Confirmed::NotKept => return Err(refused(Confirmed::NotKept)),
                Confirmed::Wrong => "This is not the code that the browser shows. Enter that.".to_owned(),
                Confirmed::NothingToConfirm => {
                    "The login in the browser is not finished. Finish it, then enter its code.".to_owned()
                }
            };
        }
        Err(refused(Confirmed::Wrong))
    }

    /// Waits until the browser has finished.
    async fn wait(&self) -> Outcome {
        let mut kept = self.desk.watch();
        let signed_in = async {
            while !self.applicant.is_settled() {
                if kept.changed().await.is_err() {
                    break;
                }
            }
        };
        match timeout(self.desk.lifetime(), signed_in).await {
            Some(()) => Ok(self.done()),
            None => Err(Fault::new(FaultKind::Timeout, "the login was not finished in time")),
        }
    }

    /// The answer to a question; `None` if it was not accepted.
    async fn ask(&self, key: &str, params: Value) -> Option<Raw> {
        let (answer, answered) = oneshot::channel::<Outcome>();
        let question = Question::new(method::ELICIT, Some(params.into()), move |outcome| {
            // The call may have been cancelled.
            drop(answer.send(outcome));
        });
        self.tell.send(Part::Question(question.named(key))).await.ok()?;
        let answer = answered.await.ok()?.ok()?;
        (answer.text_of("action")? == "accept").then_some(answer)
    }

    fn done(&self) -> Raw {
        text(&format!("You are signed in to `{}`. List the tools again.", self.applicant.server))
    }

    /// The sentence that asks the caller to open the link.
    fn invitation(&self) -> String {
        let (server, missing) = (&self.applicant.server, self.applicant.account.missing_scopes());
        if missing.is_empty() {
            return format!("Sign in to `{server}` with your own account.");
        }
        let missing = visible::line(&missing.join(" "));
        format!("Sign in to `{server}` once more: it asks for rights that your login lacks ({missing}).")
    }

    /// The error for clients that cannot be asked. It has the form of the specification.
    fn link_fault(&self, link: &str) -> Fault {
        let server = &self.applicant.server;
        let then = match self.applicant.proof {
            Proof::Code => {
                format!("then call the tool `{TOOL}` of this server with the code that the page shows")
            }
            Proof::OnlyCaller => "then repeat the call".to_owned(),
        };
        let missing = visible::line(&self.applicant.account.missing_scopes().join(" "));
        let text = if missing.is_empty() {
            format!("sign in to `{server}` first: open {link} in a browser, {then}")
        } else {
            format!(
                "`{server}` asks for rights that your login lacks ({missing}): open {link} in a browser, {then}"
            )
        };
        let elicitation = json!({
            "mode": "url",
            "elicitationId": uuid::Uuid::new_v4().to_string(),
            "url": link,
            "message": self.invitation(),
        });
        Fault::new(FaultKind::UrlElicitationRequired, text)
            .with_data(json!({"elicitations": [elicitation], "loginUrl": link}).into())
    }

    /// Without a door there is only the user of this process.
    fn no_door(&self) -> Fault {
        let text = match self.applicant.proof {
            Proof::OnlyCaller => {
                format!("sign in with `{}` first", self.applicant.account.login_command())
            }
            Proof::Code => {
                "no browser can reach this gateway; set `publicUrl` in its configuration".to_owned()
            }
        };
        Fault::new(FaultKind::Unauthorized, text)
    }
}

/// The result of a tool: a text for the caller.
pub(super) fn text(text: &str) -> Raw {
    json!({"content": [{"type": "text", "text": text}]}).into()
}

/// The error for a code that is not accepted.
fn refused(why: Confirmed) -> Fault {
    let text = match why {
        Confirmed::NotKept => "the login could not be kept; the log of the gateway says why",
        Confirmed::NothingToConfirm => {
            "no login waits for a code; call the tool without one to get a link, and finish the login first"
        }
        Confirmed::Yes | Confirmed::Wrong => "this is not the code that the browser shows",
    };
    Fault::new(FaultKind::InvalidRequest, text)
}

/// True for each: the client can open a URL, and show a form.
fn elicitation(call: &Call) -> (bool, bool) {
    let declared = meta::get(call.params.as_ref(), meta::CLIENT_CAPABILITIES);
    let capabilities = declared.and_then(|raw| raw.decode::<ClientCapabilities>().ok());
    let Some(elicitation) = capabilities.and_then(|capabilities| capabilities.elicitation) else {
        return (false, false);
    };
    (elicitation.url.is_some(), elicitation.form.is_some() || elicitation.url.is_none())
}
