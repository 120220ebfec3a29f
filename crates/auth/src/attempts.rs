//! A limit on wrong guesses, per address and per prefix of the guessed token.
//!
//! Credentials are checked before the limit, so the guesses of one client never lock out another
//! one behind the same address. Only wrong guesses are counted and slowed down.

use crate::AuthError;
use std::{
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    time::Duration,
};
use trunkline_resilience::{Quota, RateLimiter, TooSoon};

/// Bytes of a token that make up its prefix: enough for the prefix of our own tokens and the part
/// of them that is usually shown in logs.
const PREFIX_BYTES: usize = 11;

/// The beginning of every JWT: `{"` in base64.
const SIGNED: &[u8] = b"eyJ";

/// The number of wrong guesses from one address, or with one prefix, that are answered at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptLimit {
    /// Wrong guesses allowed in a burst.
    pub burst: u32,
    /// Time until one more guess is allowed.
    pub interval: Duration,
    /// Addresses, and prefixes, kept at once; beyond that, those closest to expiry are evicted.
    pub addresses: usize,
}

impl Default for AttemptLimit {
    fn default() -> Self {
        Self { burst: 20, interval: Duration::from_secs(3), addresses: 16 * 1024 }
    }
}

/// Counts wrong guesses.
#[derive(Debug)]
pub(crate) struct Attempts {
    by_address: RateLimiter,
    by_prefix: RateLimiter,
}

impl Attempts {
    pub(crate) fn new(limit: AttemptLimit) -> Self {
        let burst = NonZeroU32::new(limit.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota { limit: NonZeroU32::MIN, period: limit.interval, burst };
        let limiter = || RateLimiter::with_keys(quota, limit.addresses);
        Self { by_address: limiter(), by_prefix: limiter() }
    }

    /// Counts a wrong guess. Fails if there were too many like it; it is then not counted, so a
    /// client that keeps guessing is not blocked for ever.
    pub(crate) fn failed(&self, source: IpAddr, token: &[u8]) -> Result<(), AuthError> {
        let too_many = |TooSoon { retry_after }| AuthError::TooManyAttempts { retry_after };
        let address = network(source);
        // Signed tokens all begin alike, so their prefix says nothing.
        let prefix = (!token.starts_with(SIGNED)).then(|| &token[..token.len().min(PREFIX_BYTES)]);
        self.by_address.peek(&address).map_err(too_many)?;
        if let Some(prefix) = prefix {
            self.by_prefix.check(prefix).map_err(too_many)?;
        }
        self.by_address.charge(&address);
        Ok(())
    }
}

/// One subscriber has a whole /64 of IPv6 addresses.
fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from(u128::from(address) & !u128::from(u64::MAX)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn v4(n: u32) -> IpAddr {
        Ipv4Addr::from(n).into()
    }

    /// Every token has another prefix.
    fn guess(attempts: &Attempts, source: u32, number: u32) -> Result<(), AuthError> {
        attempts.failed(v4(source), format!("{number:011}").as_bytes())
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_allowed_then_one_guess_per_interval() {
        let limit = AttemptLimit { burst: 3, interval: Duration::from_secs(2), addresses: 64 };
        let attempts = Attempts::new(limit);
        for number in 0..3 {
            guess(&attempts, 1, number).unwrap();
        }
        let retry_after = Duration::from_secs(2);
        for number in 3..100 {
            assert_eq!(guess(&attempts, 1, number), Err(AuthError::TooManyAttempts { retry_after }));
        }
        guess(&attempts, 2, 100).unwrap();
        tokio::time::advance(retry_after).await;
        guess(&attempts, 1, 101).unwrap();
        assert!(guess(&attempts, 1, 102).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a13_many_addresses_that_guess_one_key_are_slowed_together() {
        let limit = AttemptLimit { burst: 3, interval: Duration::from_secs(2), addresses: 1024 };
        let attempts = Attempts::new(limit);
        let try_one = |n: u32| attempts.failed(v4(n), format!("tl_abcdefgh{n}").as_bytes());
        (0..3).for_each(|n| try_one(n).unwrap());
        assert!(try_one(3).is_err());
        attempts.failed(v4(3), b"tl_another-key").unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_addresses_neither_grows_the_table_nor_forgives_the_worst() {
        let limit = AttemptLimit { burst: 2, interval: Duration::from_mins(1), addresses: 64 };
        let attempts = Attempts::new(limit);
        for number in 0..2 {
            guess(&attempts, 1, number).unwrap();
        }
        for number in 2..5_000 {
            guess(&attempts, number, number).unwrap();
            assert!(attempts.by_address.keys() <= 64 && attempts.by_prefix.keys() <= 64);
        }
        assert!(guess(&attempts, 1, 5_000).is_err());
    }

    #[test]
    fn addresses_of_one_subscriber_count_together() {
        assert_eq!(network("2001:db8::1".parse().unwrap()), network("2001:db8::ffff:1".parse().unwrap()));
        assert_ne!(network("2001:db8::1".parse().unwrap()), network("2001:db8:0:1::1".parse().unwrap()));
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), "10.0.0.1".parse::<IpAddr>().unwrap());
    }
}
