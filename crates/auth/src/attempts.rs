//! A limit on wrong guesses per address.

use crate::AuthError;
use std::{
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    time::Duration,
};
use trunkline_resilience::{Quota, RateLimiter, TooSoon};

/// The number of wrong guesses that one address may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptLimit {
    /// Wrong guesses allowed in a burst.
    pub burst: u32,
    /// Time until one more guess is allowed.
    pub interval: Duration,
    /// Addresses kept at once; beyond that, those closest to expiry are evicted.
    pub addresses: usize,
}

impl Default for AttemptLimit {
    fn default() -> Self {
        Self { burst: 20, interval: Duration::from_secs(3), addresses: 16 * 1024 }
    }
}

/// Counts the wrong guesses of addresses.
#[derive(Debug)]
pub(crate) struct Attempts(RateLimiter);

impl Attempts {
    pub(crate) fn new(limit: AttemptLimit) -> Self {
        let burst = NonZeroU32::new(limit.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota { limit: NonZeroU32::MIN, period: limit.interval, burst };
        Self(RateLimiter::with_keys(quota, limit.addresses))
    }

    /// Succeeds if `source` may try again now.
    pub(crate) fn check(&self, source: IpAddr) -> Result<(), AuthError> {
        let soon = self.0.peek(&network(source));
        soon.map_err(|TooSoon { retry_after }| AuthError::TooManyAttempts { retry_after })
    }

    pub(crate) fn failed(&self, source: IpAddr) {
        self.0.charge(&network(source));
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

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_allowed_then_one_guess_per_interval() {
        let limit = AttemptLimit { burst: 3, interval: Duration::from_secs(2), addresses: 8 };
        let attempts = Attempts::new(limit);
        for _ in 0..3 {
            attempts.check(v4(1)).unwrap();
            attempts.failed(v4(1));
        }
        let retry_after = Duration::from_secs(2);
        assert_eq!(attempts.check(v4(1)), Err(AuthError::TooManyAttempts { retry_after }));
        attempts.check(v4(2)).unwrap();
        tokio::time::advance(retry_after).await;
        attempts.check(v4(1)).unwrap();
        attempts.failed(v4(1));
        assert!(attempts.check(v4(1)).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_addresses_neither_grows_the_table_nor_forgives_the_worst() {
        let limit = AttemptLimit { burst: 2, interval: Duration::from_mins(1), addresses: 64 };
        let attempts = Attempts::new(limit);
        for _ in 0..5 {
            attempts.failed(v4(1));
        }
        for n in 2..5_000 {
            attempts.failed(v4(n));
            assert!(attempts.0.keys() <= 64);
        }
        assert!(attempts.check(v4(1)).is_err());
    }

    #[test]
    fn addresses_of_one_subscriber_count_together() {
        assert_eq!(network("2001:db8::1".parse().unwrap()), network("2001:db8::ffff:1".parse().unwrap()));
        assert_ne!(network("2001:db8::1".parse().unwrap()), network("2001:db8:0:1::1".parse().unwrap()));
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), "10.0.0.1".parse::<IpAddr>().unwrap());
    }
}
