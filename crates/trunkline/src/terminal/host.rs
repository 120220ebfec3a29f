//! The client's [`Host`]: answers the server's questions from the terminal or `--answer`.

use super::{
    Screen,
    answers::Answers,
    ask::Asker,
    form, log,
    sample::sample,
    screen::Prompt,
    visit::{open, visit},
};
use futures_util::future::{BoxFuture, FutureExt};
use std::{future, io, sync::Arc};
use tokio::{sync::Mutex, task};
use trunkline_client::{Abilities, Ability, Asked, Host};
use trunkline_protocol::{
    Fault, FaultKind, Notification, Outcome, Raw,
    message::{
        CreateMessageParams, ElicitResult, Elicitation, FormParams, Level, ListRootsResult, Root, read_form,
    },
    method,
};

/// The command-line options about the server's questions.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) answers: Answers,
    pub(crate) roots: Vec<Root>,
    pub(crate) sampling: Ability,
    pub(crate) log_from: Option<Level>,
}

/// Answers a server's questions.
#[derive(Debug)]
pub(crate) struct TerminalHost {
    screen: Arc<Screen>,
    wishes: Arc<Wishes>,
    person: Ability,
    /// Held while a question is shown, so that there is only one at a time.
    turn: Arc<Mutex<()>>,
}

impl TerminalHost {
    pub(crate) fn new(screen: Arc<Screen>, wishes: Wishes) -> Self {
        let person = if Screen::can_ask() { Ability::Yes } else { Ability::No };
        Self { screen, wishes: Arc::new(wishes), person, turn: Arc::default() }
    }
}

impl Host for TerminalHost {
    /// Declares only the capabilities that can be answered, so that the server asks nothing else.
    fn abilities(&self) -> Abilities {
        let person = self.person;
        let form = if self.wishes.answers.is_empty() { person } else { Ability::Yes };
        let roots = if self.wishes.roots.is_empty() { Ability::No } else { Ability::Yes };
        let sampling = if person == Ability::Yes { self.wishes.sampling } else { Ability::No };
        Abilities {
            roots,
            sampling,
            sampling_tools: Ability::No,
            elicitation_form: form,
            elicitation_url: person,
        }
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'static, Outcome> {
        let abilities = self.abilities();
        let person = self.person;
        let (screen, wishes, turn) = (self.screen.clone(), self.wishes.clone(), self.turn.clone());
        let params = asked.params.unwrap_or_else(Raw::empty_object);
        let answer: Box<dyn FnOnce() -> Outcome + Send> = match asked.method.as_ref() {
            method::ROOTS_LIST if abilities.roots == Ability::Yes => {
                return future::ready(roots(&wishes.roots)).boxed();
            }
            method::ELICIT => Box::new(move || elicit(&screen, &wishes, person, &params)),
            method::CREATE_MESSAGE if abilities.sampling == Ability::Yes => Box::new(move || {
                let params: CreateMessageParams = params.decode().map_err(|error| unreadable(&error))?;
                screen.asking(|| sample(&mut keyboard(&screen), &params))
            }),
            other => {
                let fault =
                    Fault::new(FaultKind::NotAvailable, format!("this client does not answer `{other}`"));
                return future::ready(Err(fault)).boxed();
            }
        };
        async move {
            let _turn = turn.lock_owned().await;
            let answered = task::spawn_blocking(answer).await;
            answered.unwrap_or_else(|_| Err(Fault::new(FaultKind::Declined, "the question was not answered")))
        }
        .boxed()
    }

    fn notice(&self, notification: &Notification) {
        if let Some(line) = self.wishes.log_from.and_then(|from| log::line(notification, from)) {
            self.screen.tell(&line);
        }
    }
}

fn roots(roots: &[Root]) -> Outcome {
    let roots: Result<Vec<Raw>, _> = roots.iter().map(Raw::encode).collect();
    let listed = roots.and_then(|roots| Raw::encode(&ListRootsResult::new(roots)));
    listed.map_err(|error| Fault::new(FaultKind::Unavailable, error.to_string()))
}

fn elicit(screen: &Screen, wishes: &Wishes, person: Ability, params: &Raw) -> Outcome {
    let result = match (Elicitation::read(params).map_err(|error| unreadable(&error))?, person) {
        (Elicitation::Form(form), _) => fill(screen, wishes, person, &form)?,
        (Elicitation::Url(url), Ability::Yes) => screen.asking(|| visit(&mut keyboard(screen), &url, open)),
        (Elicitation::Url(_), Ability::No) => {
            screen.note("the server asked to open a URL; declined, because there is no terminal to ask on");
            ElicitResult::decline()
        }
        (Elicitation::UnknownMode(mode), _) => {
            let text = format!("elicitation mode `{mode}` is not known here");
            return Err(Fault::new(FaultKind::InvalidRequest, text));
        }
    };
    Raw::encode(&result).map_err(|error| Fault::new(FaultKind::Unavailable, error.to_string()))
}

fn fill(screen: &Screen, wishes: &Wishes, person: Ability, form: &FormParams) -> Result<ElicitResult, Fault> {
    let fields = read_form(&form.requested_schema)
        .map_err(|bad| Fault::new(FaultKind::InvalidRequest, bad.to_string()))?;
    if person == Ability::Yes {
        return Ok(screen.asking(|| {
            let mut asker = keyboard(screen);
            asker.show(&format!("The server asks: {}", form.message));
            form::fill(&mut asker, &fields, &wishes.answers)
        }));
    }
    Ok(wishes.answers.fill(&fields).unwrap_or_else(|troubles| {
        screen.note(&format!("the server asks: {}", form.message));
        for trouble in &troubles {
            screen.warn(trouble);
        }
        screen.warn("the form was declined");
        ElicitResult::decline()
    }))
}

fn keyboard(screen: &Screen) -> Asker<io::StdinLock<'static>, Prompt<'_>> {
    Asker::new(io::stdin().lock(), Prompt(screen))
}

fn unreadable(error: &serde_json::Error) -> Fault {
    Fault::new(FaultKind::InvalidRequest, format!("the question cannot be read: {error}"))
}
