//! A session with the login of a caller. It has two tools beside those of the server: one signs in
//! once more, with the scopes that the server asked for, and one signs out.

use super::{
    asking::{self, SIGN_OUT, TOOL},
    desk::{Applicant, LoginDesk},
};
use futures_util::{
    StreamExt, future,
    future::{BoxFuture, FutureExt},
    stream,
};
use serde_json::json;
use std::sync::Arc;
use trunkline_protocol::{
    Call, Fault, FaultKind, Handler, Notification, Notify, Part, Raw, Reply, Revision, Session, method,
};

const OWN_TOOLS: &[&str] = &[TOOL, SIGN_OUT];

/// A session with the caller's tokens. It ends when the caller has none any more.
pub(super) struct SignedInSession {
    desk: LoginDesk,
    applicant: Applicant,
    session: Arc<dyn Session>,
    /// False if the server has only prompts or resources.
    has_tools: bool,
}

impl SignedInSession {
    pub(super) fn new(desk: LoginDesk, applicant: Applicant, session: Arc<dyn Session>) -> Self {
        let capabilities = session.introduction().member("capabilities");
        let has_tools = capabilities.is_some_and(|capabilities| capabilities.member("tools").is_some());
        Self { desk, applicant, session, has_tools }
    }

    /// Revokes and forgets the caller's login; all sessions with it end.
    fn sign_out(&self) -> Reply {
        let (desk, applicant) = (self.desk.clone(), self.applicant.clone());
        let work = async move {
            let server = &applicant.server;
            let text = match desk.sign_out(&applicant).await {
                Ok(_) => format!("You are signed out of `{server}`."),
                Err(error) => {
                    tracing::warn!(%server, %error, "the tokens of a caller were not revoked");
                    format!(
                        "Your login at `{server}` is forgotten here, but could not be revoked there: its \
                         tokens may still be valid."
                    )
                }
            };
            Part::Final(Ok(asking::text(&text)))
        };
        Reply::new(stream::once(work))
    }

    /// The list of tools with ours at its end.
    fn list_tools(&self, call: Call) -> Reply {
        let server = self.applicant.server.to_string();
        if !self.has_tools {
            return Reply::ready(Ok(json!({"tools": asking::tools_beside(&server)}).into()));
        }
        let reply = self.session.call(call);
        Reply::new(reply.map(move |part| match part {
            Part::Final(Ok(page)) => Part::Final(Ok(with_own_tools(page, &server))),
            part => part,
        }))
    }
}

impl Handler for SignedInSession {
    fn call(&self, call: Call) -> Reply {
        match (call.method.as_ref(), own_tool(&call)) {
            (method::TOOLS_LIST, _) => self.list_tools(call),
            (method::TOOLS_CALL, Some(SIGN_OUT)) => self.sign_out(),
            (method::TOOLS_CALL, Some(_)) => asking::sign_in(self.desk.clone(), self.applicant.clone(), call),
            _ => guarded(self.desk.clone(), self.applicant.clone(), self.session.clone(), call),
        }
    }

    fn notify(&self, notice: Notify) {
        self.session.notify(notice);
    }
}

impl Session for SignedInSession {
    fn introduction(&self) -> Raw {
        let introduction = self.session.introduction();
        if self.has_tools {
            return introduction;
        }
        let mut members = introduction.object().unwrap_or_default();
        let capabilities = members.get("capabilities").and_then(Raw::object);
        let mut capabilities = capabilities.unwrap_or_default();
        capabilities.set("tools", Raw::empty_object());
        members.set("capabilities", capabilities.to_raw());
        members.to_raw()
    }

    fn revision(&self) -> Revision {
        self.session.revision()
    }

    fn on_event(&self, listener: Box<dyn Fn(Notification) + Send + Sync>) {
        self.session.on_event(listener);
    }

    fn own_tools(&self) -> &'static [&'static str] {
        OWN_TOOLS
    }

    fn lost(&self) -> BoxFuture<'static, Fault> {
        let (lost, mut changes) = (self.session.lost(), self.desk.watch());
        let account = self.applicant.account.clone();
        let signed_out = async move {
            while account.is_signed_in() {
                if changes.changed().await.is_err() {
                    future::pending::<()>().await;
                }
            }
        };
        async move {
            tokio::select! {
                fault = lost => fault,
                () = signed_out => Fault::new(FaultKind::NotReady, "the caller's login has ended"),
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        self.session.close()
    }
}

/// True if the request was refused for its token, before the server looked at it.
pub(super) fn is_refusal(fault: &Fault) -> bool {
    fault.peer().is_none() && fault.kind() == FaultKind::Unauthorized
}

/// Our tool that the call names.
fn own_tool(call: &Call) -> Option<&'static str> {
    let name = call.params.as_ref()?.text_of("name")?;
    OWN_TOOLS.iter().copied().find(|own| *own == name)
}

/// Adds our tools to the last page of a list. A tool of the server with such a name could not be
/// called, so it is left out.
fn with_own_tools(page: Raw, server: &str) -> Raw {
    let Some(mut members) = page.object() else { return page };
    let Some(mut tools) = members.get("tools").and_then(|tools| tools.decode::<Vec<Raw>>().ok()) else {
        return page;
    };
    tools.retain(|tool| {
        let is_hidden = tool.text_of("name").is_some_and(|name| OWN_TOOLS.contains(&name.as_ref()));
        if is_hidden {
            tracing::warn!(server, "a tool of the server has a name of ours, so it cannot be called");
        }
        !is_hidden
    });
    if members.get("nextCursor").is_none_or(Raw::is_null) {
        tools.extend(asking::tools_beside(server).map(Raw::from));
    }
    members.set("tools", Raw::array(&tools));
    members.to_raw()
}

/// A call with the caller's tokens. If they have become invalid or lack scopes, the caller is asked
/// to sign in, and the call is repeated once: the server has refused it unread.
fn guarded(desk: LoginDesk, applicant: Applicant, session: Arc<dyn Session>, call: Call) -> Reply {
    let reply = session.call(call.clone());
    let mut rest = Some((desk, applicant, session, call));
    Reply::new(reply.flat_map(move |part| match part {
        Part::Final(Err(fault)) if is_refusal(&fault) => match rest.take() {
            Some((desk, applicant, session, call)) if !applicant.is_settled() => {
                again(desk, applicant, session, call).left_stream()
            }
            _ => stream::once(future::ready(Part::Final(Err(fault)))).right_stream(),
        },
        part => stream::once(future::ready(part)).right_stream(),
    }))
}

/// Signs in, then sends the call again. The session ends if the caller has no login any more.
fn again(
    desk: LoginDesk,
    applicant: Applicant,
    session: Arc<dyn Session>,
    call: Call,
) -> impl futures_util::Stream<Item = Part> + Send {
    let mut rest = Some((session, call.clone()));
    let (told, account) = (desk.clone(), applicant.account.clone());
    asking::sign_in(desk, applicant, call).flat_map(move |part| match (part, rest.take()) {
        (Part::Final(Ok(_)), Some((session, call))) => session.call(call).left_stream(),
        (Part::Final(outcome), _) => {
            if !account.is_signed_in() {
                told.announce_change();
            }
            stream::once(future::ready(Part::Final(outcome))).right_stream()
        }
        (part, kept) => {
            rest = kept;
            stream::once(future::ready(part)).right_stream()
        }
    })
}
