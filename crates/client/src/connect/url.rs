//! Connects to a URL: Streamable HTTP of either era, else HTTP+SSE.

use super::{Attempt, PROBE_TIMEOUT, Plan, Verdict, exposure, not_modern, probe};
use crate::{
    connection::Detected,
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
) -> Result<Detected, Fault> {
    exposure::check(address, options)?;
    let connector = UrlConnector { address, options, life };
    match plan {
        Plan::Modern => connector.modern().await,
        Plan::Legacy => connector.legacy().await,
        Plan::LegacySse => connector.sse().await,
        Plan::Probe => connector.probe().await,
    }
}

struct UrlConnector<'a> {
    address: &'a Url,
    options: &'a ConnectOptions,
    life: &'a Arc<Life>,
}

impl<'a> UrlConnector<'a> {
    async fn probe(&self) -> Result<Detected, Fault> {
        let attempt = self.attempt()?;
        let mut exchange = attempt.begin_probe();
        match timeout(PROBE_TIMEOUT, probe(&attempt, &mut exchange)).await {
            Some(Ok(Verdict::Modern(introduction))) => Ok(attempt.modern(introduction)),
            Some(Err(loss)) if !may_be_older(&loss) => Err(loss.fault),
            Some(Ok(_) | Err(_)) => self.legacy().await,
            None => self.ask_both(attempt, exchange).await,
        }
    }

    /// The probe has no answer yet: the server may be a legacy one, or a slow modern one that will
    /// refuse `initialize`. After such a refusal we still wait a while for the probe's answer.
    async fn ask_both(&self, attempt: Attempt<'a>, mut exchange: Exchange) -> Result<Detected, Fault> {
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
                    Err(fault) => match timeout(PROBE_TIMEOUT, probed).await {
                        Some(Ok(Verdict::Modern(introduction))) => introduction,
                        _ => return Err(fault),
                    },
                },
            }
        };
        Ok(attempt.modern(introduction))
    }

    /// The options or the memory say that the server is modern.
    async fn modern(&self) -> Result<Detected, Fault> {
        let attempt = self.attempt()?;
        let mut exchange = attempt.begin_probe();
        match probe(&attempt, &mut exchange).await.map_err(|loss| loss.fault)? {
            Verdict::Modern(introduction) => Ok(attempt.modern(introduction)),
            Verdict::Legacy | Verdict::Again => Err(not_modern()),
        }
    }

    /// Legacy Streamable HTTP. A server that refuses it may speak only HTTP+SSE.
    async fn legacy(&self) -> Result<Detected, Fault> {
        let refused = match self.attempt()?.initialize().await {
            Ok(found) => return Ok(found),
            Err(loss) => loss,
        };
        if !may_be_older(&refused) {
            return Err(refused.fault);
        }
        self.sse().await.map_err(|guess| {
            // Report the refusal of `initialize`, unless HTTP+SSE reached the server and was
            // refused.
            let met = [FaultKind::UrlRefused, FaultKind::Unauthorized, FaultKind::Forbidden];
            if met.contains(&guess.kind()) { guess } else { refused.fault }
        })
    }

    async fn sse(&self) -> Result<Detected, Fault> {
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

/// True if an older server would refuse like this. An authentication or rate-limit error would
/// be the same over the older transport.
fn may_be_older(loss: &Loss) -> bool {
    match loss.how {
        LossKind::Status(401 | 403 | 407 | 429) => false,
        LossKind::Status(_) | LossKind::Session => true,
        LossKind::Line => matches!(loss.fault.kind(), FaultKind::BadAnswer | FaultKind::ConnectionLost),
    }
}
