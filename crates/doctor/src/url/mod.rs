//! Examines a server behind a URL: DNS, TCP, TLS, HTTP, then JSON-RPC.

mod certificate;
mod contact;
mod judge;
mod login;
mod login_error;
mod metadata;
mod network;
mod page;
mod request;
mod session;
mod sign_in;
mod token;

use super::{
    conversation,
    examination::{Examination, Stop, passed, quietly},
    step::{ADDRESS, SIGN_IN, StepId},
};
use ::url::Url;
use contact::{Contact, Failed, HttpTransport};
use trunkline_client::Target;

pub(super) use certificate::speaks_tls;

/// The URL under examination, with the options for it.
pub(super) struct Site<'a> {
    pub(super) address: &'a Url,
    pub(super) options: &'a super::DoctorOptions,
}

pub(super) async fn examine(exam: &mut Examination<'_>, address: &Url) -> Result<(), Stop> {
    let outcome = steps(exam, address).await;
    if let Some(sign_in) = &exam.options.sign_in {
        sign_in.end().await;
    }
    outcome
}

async fn steps(exam: &mut Examination<'_>, address: &Url) -> Result<(), Stop> {
    let site = Site { address, options: exam.options };
    exam.check(StepId::Address, || judge::address(&site))?;
    let found = exam.wait(StepId::NameResolves, network::resolve(&site)).await?;
    exam.wait(StepId::PortOpen, network::connect(&site, &found)).await?;
    let contact = match contact::make(&site).await {
        Ok(contact) => contact,
        Err(failed) => match login::needed(&site, &failed) {
            Some((sign_in, reply)) => login::pass(exam, &site, sign_in, reply).await?,
            None => return Err(broken(exam, &site, *failed).await),
        },
    };
    if !exam.has(StepId::HttpAnswers) {
        secure(exam, &site).await;
        exam.pass(StepId::HttpAnswers, &contact.head, contact.took);
        exam.check(StepId::PathRight, || quietly(()))?;
        for step in SIGN_IN {
            exam.skip(step, "it asks for no token");
        }
    }
    exam.check(StepId::LetIn, || quietly(()))?;
    exam.check(StepId::TransportFound, || passed((), contact.transport.name()))?;
    exam.check(StepId::SpeaksJsonRpc, || quietly(()))?;
    let introduction = conversation::settle(exam, contact.answer.clone())?;
    session_kept(exam, &site, &contact).await?;
    conversation::try_out(exam, &Target::Url(address.clone()), introduction.era).await
}

/// Records the steps that passed before the failed one, and the failed one.
async fn broken(exam: &mut Examination<'_>, site: &Site<'_>, failed: Failed) -> Stop {
    let (head, took) = failed.head();
    let problem = judge::explain(site, failed).await;
    let step = judge::step_of(problem.cause);
    for before in ADDRESS.iter().skip(3).take_while(|before| **before != step) {
        match before {
            recorded if exam.has(*recorded) => {}
            step if SIGN_IN.contains(step) => exam.skip(*step, "it was not tried"),
            StepId::Secure => secure(exam, site).await,
            StepId::HttpAnswers => exam.pass(*before, &head, took),
            _ => {
                exam.check(*before, || quietly(())).ok();
            }
        }
    }
    exam.fail(step, &problem);
    Box::new(problem)
}

/// TLS worked, so the certificate is valid; it is fetched only to show its details.
async fn secure(exam: &mut Examination<'_>, site: &Site<'_>) {
    if site.address.scheme() != "https" {
        exam.skip(StepId::Secure, "plain http");
        return;
    }
    match certificate::look(site.address, site.options.limits.step).await {
        Some(certificate) => {
            exam.check(StepId::Secure, || passed((), certificate.to_string())).ok();
        }
        None => exam.skip(StepId::Secure, "the server showed no certificate"),
    }
}

async fn session_kept(exam: &mut Examination<'_>, site: &Site<'_>, contact: &Contact) -> Result<(), Stop> {
    if let (HttpTransport::Streamable, Some(id)) = (&contact.transport, &contact.session) {
        return exam.wait(StepId::SessionKept, session::check(site, id)).await;
    }
    exam.skip(StepId::SessionKept, "it gives out none");
    Ok(())
}
