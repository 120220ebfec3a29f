//! Goes from a 401 to a token: discovery, registration, token, refresh. Then the server has to
//! accept the token.

use super::{
    Site, broken,
    contact::{self, Contact, Failed},
    login_error,
    metadata::{self, AuthorizationServer},
    request::Reply,
    secure, sign_in,
};
use crate::{
    cause::Cause,
    diagnosis::Problem,
    examination::{Checked, Examination, Stop, passed, quietly},
    step::StepId,
    token_slot::SignIn,
};
use http::{StatusCode, header};
use trunkline_oauth::{Account, LoginOptions, StoredLogin};
use trunkline_transport::http::Challenge;

/// Logins that are tried until the scopes suffice.
const MAX_LOGINS: usize = 2;

/// The refusal that asks for a token, if there is a way to one and none was given.
pub(super) fn needed<'a>(site: &'a Site<'_>, failed: &Failed) -> Option<(&'a SignIn, Reply)> {
    let sign_in = site.options.sign_in.as_ref().filter(|_| sign_in::given_token(site).is_none())?;
    Some((sign_in, refusal(failed, StatusCode::UNAUTHORIZED)?))
}

/// Obtains a token and repeats the first requests with it.
pub(super) async fn pass(
    exam: &mut Examination<'_>,
    site: &Site<'_>,
    sign_in: &SignIn,
    reply: Reply,
) -> Result<Contact, Stop> {
    secure(exam, site).await;
    exam.pass(StepId::HttpAnswers, &format!("status {}", reply.status), reply.after);
    exam.check(StepId::PathRight, || quietly(()))?;
    let before = stored(&sign_in.account);
    let known = before.as_ref().map(|login| login.issuer.issuer.as_str());
    let found = exam.wait(StepId::AuthorizationFound, discover(site, &reply, known)).await?;
    if reply.header(header::WWW_AUTHENTICATE.as_str()).is_none() {
        exam.warn(challenge_missing());
    }
    let mut scopes = Vec::new();
    for _ in 0..MAX_LOGINS {
        token(exam, site, sign_in, (&reply, &found), &scopes).await?;
        let failed = match contact::make(site).await {
            Ok(contact) => return Ok(contact),
            Err(failed) => failed,
        };
        let Some(wanted) = wanted_scopes(&failed).filter(|_| sign_in.page.is_some()) else {
            return Err(not_let_in(exam, site, sign_in, *failed).await);
        };
        scopes = wanted;
    }
    let summary = format!("it still asks for the scopes `{}`, which the token has", scopes.join(" "));
    let fix = "let the server accept a token with these scopes";
    exam.check(StepId::LetIn, || Err(Box::new(Problem::new(Cause::ScopeLoop, summary).fix(fix))))
}

async fn discover(site: &Site<'_>, reply: &Reply, known: Option<&str>) -> Checked<AuthorizationServer> {
    match metadata::follow(site, reply, known).await {
        Ok(found) => {
            let issuer = found.issuer.clone();
            passed(found, issuer)
        }
        Err(problem) => Err(Box::new(problem.proofs(reply.evidence()))),
    }
}

fn challenge_missing() -> Problem {
    Problem::new(Cause::ChallengeMissing, "the metadata was found only at its well-known address").fix(
        "WWW-Authenticate: Bearer resource_metadata=\"https://…/.well-known/oauth-protected-resource\"    # what the server should send",
    )
}

/// The steps from the authorization server to a token in the slot. A second login records nothing
/// but a failure.
async fn token(
    exam: &mut Examination<'_>,
    site: &Site<'_>,
    sign_in: &SignIn,
    (reply, found): (&Reply, &AuthorizationServer),
    scopes: &[String],
) -> Result<(), Stop> {
    let account = &sign_in.account;
    let challenges: Vec<String> = reply
        .headers
        .get_all(header::WWW_AUTHENTICATE)
        .iter()
        .filter_map(|value| value.to_str().ok().map(str::to_owned))
        .collect();
    let issued = match (&sign_in.page, stored(account).is_some_and(|login| login.tokens.is_some())) {
        (Some(page), _) => {
            let way = LoginOptions::Page(page.clone());
            account.login_with(way, &challenges, scopes).await.map(|_| ())
        }
        // An expired token is renewed in its own step.
        (None, true) => Ok(()),
        (None, false) => account.obtain_token(&challenges).await.map(|_| ()),
    };
    let login = stored(account);
    let is_first = !exam.has(StepId::TokenObtained);
    if let Err(error) = issued {
        let (step, problem) = login_error::explain(site, found, &error);
        if is_first && step != StepId::ClientKnown {
            exam.check(StepId::ClientKnown, || client(account, found))?;
        }
        return exam.check(step, || Err(Box::new(problem.proofs(reply.evidence()))));
    }
    if is_first {
        exam.check(StepId::ClientKnown, || client(account, found))?;
        exam.check(StepId::TokenObtained, || obtained(login.as_ref()))?;
        login.iter().filter_map(lifetime_problem).for_each(|problem| exam.warn(problem));
        renew(exam, site, sign_in, found).await?;
    }
    let header = account.obtain_token(&challenges).await;
    match header.map_err(|error| login_error::explain(site, found, &error).1) {
        Ok(Some(header)) => {
            let text = header.to_str().unwrap_or_default();
            exam.conceal(text.strip_prefix("Bearer ").unwrap_or(text));
            sign_in.slot.put(header);
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(problem) => Err(Box::new(problem)),
    }
}

/// The source of the client id.
fn client(account: &Account, found: &AuthorizationServer) -> Checked<()> {
    let options = account.options();
    if options.client_id.is_some() {
        return passed((), "configured");
    }
    if stored(account).is_some() {
        return passed((), "registered");
    }
    if found.takes_documents && options.client_document.is_some() {
        return passed((), "a metadata document");
    }
    if found.registration.is_some() {
        return passed((), "the authorization server registers clients");
    }
    Err(Box::new(login_error::no_client(&found.issuer)))
}

fn obtained(login: Option<&StoredLogin>) -> Checked<()> {
    let Some(tokens) = login.and_then(|login| login.tokens.as_ref()) else { return quietly(()) };
    let scopes = tokens.scopes.join(" ");
    let lifetime = tokens.lifetime.map_or_else(String::new, |seconds| format!(", valid for {seconds} s"));
    passed((), format!("scopes: {}{lifetime}", if scopes.is_empty() { "none named" } else { &scopes }))
}

fn lifetime_problem(login: &StoredLogin) -> Option<Problem> {
    let tokens = login.tokens.as_ref().filter(|tokens| tokens.lifetime.is_none())?;
    let summary = match &tokens.odd_lifetime {
        Some(given) => format!("`expires_in` is {given}"),
        None => "there is no `expires_in`".to_owned(),
    };
    let fix = "\"expires_in\": 3600    # in the answer of the token endpoint";
    Some(Problem::new(Cause::TokenLifetimeOdd, summary).fix(fix))
}

/// Renews a token that was issued for this examination, or a stored one that has expired.
async fn renew(
    exam: &mut Examination<'_>,
    site: &Site<'_>,
    sign_in: &SignIn,
    found: &AuthorizationServer,
) -> Result<(), Stop> {
    let refresh_token = || stored(&sign_in.account)?.tokens?.refresh;
    let Some(before) = refresh_token() else {
        let problem = Problem::new(Cause::NoRefreshToken, "the token cannot be renewed unattended")
            .fix("trunkline auth login … --scope offline_access    # if the server has that scope");
        exam.doubt(StepId::TokenRenewed, problem);
        return Ok(());
    };
    let outcome = match sign_in.page {
        Some(_) => sign_in.account.renew().await,
        None => sign_in.account.obtain_token(&[]).await,
    };
    exam.check(StepId::TokenRenewed, || match outcome {
        Err(error) => Err(Box::new(login_error::of_renewal(site, found, &error))),
        Ok(_) if refresh_token().as_ref() != Some(&before) => passed((), "with a new refresh token"),
        Ok(_) => passed((), "the refresh token stays the same"),
    })
}

/// Explains why the server refuses a token.
async fn not_let_in(exam: &mut Examination<'_>, site: &Site<'_>, sign_in: &SignIn, failed: Failed) -> Stop {
    let problem = match (refusal(&failed, StatusCode::UNAUTHORIZED), wanted_scopes(&failed)) {
        (Some(reply), _) if !sign_in.slot.is_empty() => {
            Problem::new(Cause::TokenRefused, "it refuses the token that its authorization server issued")
                .fix("see the server's log: does it know the issuer, the audience and the key of its tokens?")
                .proofs(reply.evidence())
        }
        (_, Some(scopes)) => {
            let more: Vec<String> = scopes.iter().map(|scope| format!(" --scope {scope}")).collect();
            let summary = format!("the token lacks some of the scopes `{}`", scopes.join(" "));
            Problem::new(Cause::ScopeMissing, summary).fix(format!(
                "trunkline auth login {}{}",
                site.address,
                more.concat()
            ))
        }
        _ => return broken(exam, site, failed).await,
    };
    exam.fail(StepId::LetIn, &problem);
    Box::new(problem)
}

/// The scopes that a 403 asks for.
fn wanted_scopes(failed: &Failed) -> Option<Vec<String>> {
    let reply = refusal(failed, StatusCode::FORBIDDEN)?;
    let challenges = Challenge::read(reply.header(header::WWW_AUTHENTICATE.as_str())?);
    let asked = challenges.iter().find(|asked| asked.get("error") == Some("insufficient_scope"))?;
    Some(asked.get("scope").unwrap_or_default().split(' ').map(str::to_owned).collect())
}

fn refusal(failed: &Failed, status: StatusCode) -> Option<Reply> {
    let last = failed.posts.iter().rev().find_map(|post| post.as_ref().ok())?;
    (last.status == status).then(|| last.clone())
}

/// The stored login; one that cannot be read shows as an error when a token is obtained.
fn stored(account: &Account) -> Option<StoredLogin> {
    account.stored().unwrap_or(None)
}
