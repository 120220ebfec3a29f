//! A server that is an address: Streamable HTTP of either era, else HTTP+SSE.

use super::{Attempt, PROBE_PATIENCE, Plan, Verdict, exposure, not_modern, probe};
use crate::{
    connection::Found,
    ids::IdSource,
    inbox::{Loss, LossKind},
    link::{Exchange, Link, fault_of_http},
    options::ConnectOptions,
    server::Carrier,
    state::{Life, State},
    switchboard::Switchboard,
};
use ::http::HeaderMap;
use ::url::Url;
use std::{pin::pin, sync::Arc};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_resilience::timeout;
use trunkline_transport::{http::HttpClient, legacy_sse, streamable_http::Endpoint};

pub(super) async fn connect(
    address: &Url,
    options: &ConnectOptions,
    life: &Arc<Life>,
    plan: Plan,
) -> Result<Found, Fault> {
    exposure::check(address, options)?;
    let caller = Caller { address, options, life };
    match plan {
        Plan::Modern => caller.modern().await,
        Plan::Legacy => caller.legacy().await,
        Plan::LegacySse => caller.sse().await,
        Plan::Probe => caller.probe().await,
    }
}

struct Caller<'a> {
    address: &'a Url,
    options: &'a ConnectOptions,
    life: &'a Arc<Life>,
}

impl<'a> Caller<'a> {
    async fn probe(&self) -> Result<Found, Fault> {
        let attempt = self.attempt()?;
        let mut exchange = attempt.begin_probe();
        match timeout(PROBE_PATIENCE, probe(&attempt, &mut exchange)).await {
            Some(Ok(Verdict::Modern(introduction))) => Ok(attempt.modern(introduction)),
            Some(Err(loss)) if !may_be_older(&loss) => Err(loss.fault),
            Some(Ok(_) | Err(_)) => self.legacy().await,
            None => self.ask_both(attempt, exchange).await,
        }
    }

    /// The server is silent: it may be an old one, or a slow modern one that refuses the old way. Its answer to the probe is
    /// waited for a little longer than its refusal.
    async fn ask_both(&self, attempt: Attempt<'a>, mut exchange: Exchange) -> Result<Found, Fault> {
        let introduction = {
            let (mut probed, mut old) = (pin!(probe(&attempt, &mut exchange)), pin!(self.legacy()));
            tokio::select! {
                biased;
                verdict = &mut probed => match verdict {
                    Ok(Verdict::Modern(introduction)) => introduction,
                    Err(loss) if !may_be_older(&loss) => return Err(loss.fault),
                    Ok(_) | Err(_) => return old.await,
                },
                found = &mut old => match found {
                    Ok(found) => return Ok(found),
                    Err(fault) => match timeout(PROBE_PATIENCE, probed).await {
                        Some(Ok(Verdict::Modern(introduction))) => introduction,
                        _ => return Err(fault),
                    },
                },
            }
        };
        Ok(attempt.modern(introduction))
    }

    /// The caller insists on the modern era, or remembers it.
    async fn modern(&self) -> Result<Found, Fault> {
        let attempt = self.attempt()?;
        let mut exchange = attempt.begin_probe();
        match probe(&attempt, &mut exchange).await.map_err(|loss| loss.fault)? {
            Verdict::Modern(introduction) => Ok(attempt.modern(introduction)),
            Verdict::Legacy | Verdict::Again => Err(not_modern()),
        }
    }

    /// Streamable HTTP with a session; a server that refuses it may be one of the oldest kind.
    async fn legacy(&self) -> Result<Found, Fault> {
        let refused = match self.attempt()?.initialize().await {
            Ok(found) => return Ok(found),
            Err(loss) => loss,
        };
        if !may_be_older(&refused) {
            return Err(refused.fault);
        }
        self.sse().await.map_err(|guess| {
            // The first refusal says more about the server than the failure of a guess, unless it was the guess that met it.
            let met = [FaultKind::UrlRefused, FaultKind::Unauthorized, FaultKind::Forbidden];
            if met.contains(&guess.kind()) { guess } else { refused.fault }
        })
    }

    async fn sse(&self) -> Result<Found, Fault> {
        self.life.enter(State::Connecting);
        let client = self.client()?;
        let connection = legacy_sse::Connection::open(&client, self.address.as_str(), HeaderMap::new())
            .await
            .map_err(|e| fault_of_http(&e))?;
        let board = Switchboard::new(self.options);
        let link = Link::over_sse(connection, board, self.options.tap.clone());
        self.begin(link, Carrier::LegacySse).initialize().await.map_err(|loss| loss.fault)
    }

    fn attempt(&self) -> Result<Attempt<'a>, Fault> {
        self.life.enter(State::Connecting);
        let client = self.client()?;
        let endpoint = Endpoint::new(client, self.address.as_str()).map_err(|e| fault_of_http(&e.into()))?;
        let board = Switchboard::new(self.options);
        let link = Link::over_http(endpoint, board, self.options.tap.clone());
        Ok(self.begin(link, Carrier::StreamableHttp))
    }

    fn client(&self) -> Result<HttpClient, Fault> {
        HttpClient::new(self.options.http.clone()).map_err(|error| {
            Fault::new(FaultKind::InvalidRequest, "the headers cannot be used").with_detail(error.to_string())
        })
    }

    fn begin(&self, link: Link, carrier: Carrier) -> Attempt<'a> {
        self.life.enter(State::Initializing);
        let ids = IdSource::new(self.options.ids);
        Attempt { link, carrier, ids, life: self.life, options: self.options }
    }
}

/// Whether a refusal is one that an older server would give. Who is not let in is not let in the old way either.
fn may_be_older(loss: &Loss) -> bool {
    match loss.how {
        LossKind::Status(401 | 403 | 407 | 429) => false,
        LossKind::Status(_) | LossKind::Session => true,
        LossKind::Line => matches!(loss.fault.kind(), FaultKind::BadAnswer | FaultKind::ConnectionLost),
    }
}
