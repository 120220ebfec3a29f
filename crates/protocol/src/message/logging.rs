//! Log messages and their eight levels.

use crate::{Raw, view::view};
use std::{fmt, str::FromStr};

/// The severity of a log message, from least to most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a log level; known ones: debug, info, notice, warning, error, critical, alert, emergency"
)]
pub struct UnknownLevel(pub String);

view! {
    /// `notifications/message`. The level is a string, so that an unknown level does not make the
    /// message invalid.
    pub struct LogParams {
        level: String = "level",
        data: Raw = "data",
    } optional {
        logger: String = "logger",
        meta: Raw = "_meta",
    }

    /// `logging/setLevel`, until 2025-11-25.
    pub struct SetLevelParams {
        level: String = "level",
    } optional {
        meta: Raw = "_meta",
    }
}

impl LogParams {
    pub fn severity(&self) -> Result<Level, UnknownLevel> {
        self.level.parse()
    }
}

impl SetLevelParams {
    pub fn severity(&self) -> Result<Level, UnknownLevel> {
        self.level.parse()
    }
}

impl Level {
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The level of a legacy client that set none.
    pub const UNSET: Self = Self::Info;

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl From<Level> for String {
    fn from(level: Level) -> Self {
        level.as_str().to_owned()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        Self::ALL.into_iter().find(|l| l.as_str() == text).ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_read_back() {
        assert!(Level::ALL.is_sorted());
        assert!(Level::Warning < Level::Error);
        for level in Level::ALL {
            assert_eq!(level.as_str().parse(), Ok(level));
        }
        assert!("warn".parse::<Level>().unwrap_err().to_string().contains("warning"));
    }

    #[test]
    fn an_unknown_level_does_not_cost_the_message() {
        let params: LogParams = serde_json::from_str(r#"{"level":"warn","data":null}"#).unwrap();
        assert!(params.severity().is_err());
        assert!(params.data.is_null());
        assert_eq!(serde_json::to_string(&params).unwrap(), r#"{"level":"warn","data":null}"#);
    }
}
