//! Prints the server's log messages at or above the requested level.

use crate::render::safe;
use anstyle::{AnsiColor, Style};
use trunkline_protocol::{
    Notification,
    message::{Level, LogParams},
    method,
};

/// The line to print, if the notification is a log message worth printing.
pub(super) fn line(notification: &Notification, from: Level) -> Option<String> {
    if notification.method != method::MESSAGE {
        return None;
    }
    let params: LogParams = notification.params.as_ref()?.decode().ok()?;
    // A message of unknown level is printed, because it may be severe.
    if params.severity().is_ok_and(|level| level < from) {
        return None;
    }
    let style = style(params.severity().ok());
    let logger =
        params.logger.as_deref().map(|logger| format!(" {}", safe::line(logger))).unwrap_or_default();
    let text = match params.data.decode::<String>() {
        Ok(text) => safe::text(&text).into_owned(),
        Err(_) => safe::json(params.data.as_str()).into_owned(),
    };
    Some(format!("{style}[{}]{style:#}{logger}: {}\n", safe::line(&params.level), text.trim_end()))
}

fn style(level: Option<Level>) -> Style {
    match level {
        Some(level) if level < Level::Notice => Style::new().dimmed(),
        Some(level) if level < Level::Error => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::Raw;

    fn shown(params: &str) -> Option<String> {
        let notification = Notification::new(method::MESSAGE, Some(Raw::parse(params.to_owned()).unwrap()));
        line(&notification, Level::Warning).map(|text| anstream::adapter::strip_str(&text).to_string())
    }

    #[test]
    fn messages_from_the_level_on_are_shown_harmless() {
        assert_eq!(shown(r#"{"level":"info","data":"x"}"#), None);
        let text = r#"{"level":"error","logger":"db","data":"down\u001b[2J"}"#;
        assert_eq!(shown(text).unwrap(), "[error] db: down␛[2J\n");
        assert_eq!(shown(r#"{"level":"odd","data":{"a":1}}"#).unwrap(), "[odd]: {\"a\":1}\n");
    }
}
