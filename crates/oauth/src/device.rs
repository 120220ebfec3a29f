//! Login without a browser on this machine (RFC 8628).

use crate::{
    ClientIdentity, Discovered, OAuthError, Secret,
    error::said,
    token_request::{Granted, TokenRequest},
    web::Web,
};
use serde::Deserialize;
use std::time::Duration;
use trunkline_resilience::timeout;

pub(crate) const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Bounds of the polling interval, in seconds.
const MIN_INTERVAL: u64 = 1;
const MAX_INTERVAL: u64 = 60;
/// Longest wait for the user, in seconds.
const MAX_WAIT: u64 = 1800;

/// Tells the user where to enter the code.
pub type DevicePrompt<'a> = &'a (dyn Fn(&DeviceCode) + Send + Sync);

/// The code that a user enters on another device.
#[derive(Debug, Clone, Deserialize)]
pub struct DeviceCode {
    #[serde(rename = "device_code")]
    code: Secret,
    pub user_code: String,
    pub verification_uri: String,
    pub verification_uri_complete: Option<String>,
    expires_in: Option<u64>,
    interval: Option<u64>,
}

impl DeviceCode {
    pub(crate) async fn request(
        web: &Web,
        discovered: &Discovered,
        client: &ClientIdentity,
        scopes: &[String],
    ) -> Result<Self, OAuthError> {
        let endpoint = discovered.issuer.device_endpoint()?;
        let mut form = vec![("resource", discovered.resource.clone())];
        if !scopes.is_empty() {
            form.push(("scope", scopes.join(" ")));
        }
        let authorization = client.prove(&mut form, &discovered.issuer.issuer)?;
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = web.post_form(&endpoint, &form, authorization).await?;
        if !reply.status.is_success() {
            return Err(OAuthError::Status { url: reply.url, status: reply.status.as_u16() });
        }
        let code: Self = reply.json()?;
        for address in std::iter::once(&code.verification_uri).chain(&code.verification_uri_complete) {
            crate::web::endpoint(address, &reply.url)?;
        }
        Ok(Self { user_code: said(&code.user_code), ..code })
    }

    /// Asks until the user has finished.
    pub(crate) async fn wait(
        &self,
        web: &Web,
        discovered: &Discovered,
        client: &ClientIdentity,
        scopes: &[String],
    ) -> Result<Granted, OAuthError> {
        let seconds = self.expires_in.unwrap_or(MAX_WAIT).min(MAX_WAIT);
        let polling = self.poll(web, discovered, client, scopes);
        timeout(Duration::from_secs(seconds), polling)
            .await
            .unwrap_or(Err(OAuthError::Unfinished { seconds }))
    }

    async fn poll(
        &self,
        web: &Web,
        discovered: &Discovered,
        client: &ClientIdentity,
        scopes: &[String],
    ) -> Result<Granted, OAuthError> {
        let mut interval = self.interval.unwrap_or(5).clamp(MIN_INTERVAL, MAX_INTERVAL);
        loop {
            tokio::time::sleep(Duration::from_secs(interval)).await;
            let asked = TokenRequest::new(GRANT, client)
                .with("device_code", self.code.expose())
                .with("resource", &discovered.resource)
                .asked(scopes)
                .send(web, &discovered.issuer)
                .await;
            match asked {
                Err(OAuthError::Token { code, .. }) if code == "authorization_pending" => {}
                Err(OAuthError::Token { code, .. }) if code == "slow_down" => {
                    interval = (interval + 5).min(MAX_INTERVAL);
                }
                Err(error) if error.is_transient() => interval = (interval * 2).min(MAX_INTERVAL),
                other => return other,
            }
        }
    }
}
