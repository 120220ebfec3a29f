//! Time windows: days of the week, times of day, and dates.

use super::rules::WindowSpec;
use jiff::{Timestamp, civil::Weekday, tz::TimeZone};
use std::time::SystemTime;

/// A compiled [`WindowSpec`].
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// One bit for each day, from Monday on.
    days: u8,
    /// Minutes since midnight.
    from: i32,
    until: i32,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
    zone: TimeZone,
}

const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MINUTES: i32 = 24 * 60;

/// The moment that an RFC 3339 text names.
pub fn timestamp(text: &str) -> Option<SystemTime> {
    text.parse::<Timestamp>().ok().map(SystemTime::from)
}

impl Window {
    pub(crate) fn new(spec: &WindowSpec) -> Result<Self, String> {
        let mut days = 0;
        for text in &spec.days {
            let lower = text.to_lowercase();
            let day = DAYS.iter().position(|day| lower.len() >= 3 && day.starts_with(&lower));
            days |= 1 << day.ok_or_else(|| format!("`{text}` is no day of the week, such as `mon`"))?;
        }
        let time = |text: &Option<String>, otherwise| text.as_deref().map_or(Ok(otherwise), minutes);
        let moment = |text: &Option<String>| {
            let parse = |text: &String| {
                text.parse::<Timestamp>()
                    .map_err(|_| format!("`{text}` is no date and time, such as `2027-01-31T12:00:00Z`"))
            };
            text.as_ref().map(parse).transpose()
        };
        let name = spec.zone.as_deref().unwrap_or("UTC");
        Ok(Self {
            days: if days == 0 { 0x7f } else { days },
            from: time(&spec.from, 0)?,
            until: time(&spec.until, MINUTES)?,
            after: moment(&spec.after)?,
            before: moment(&spec.before)?,
            zone: TimeZone::get(name)
                .map_err(|_| format!("there is no time zone `{name}`; write it as `Europe/Berlin`"))?,
        })
    }

    /// True if the moment is in the window.
    pub(crate) fn contains(&self, now: SystemTime) -> bool {
        let Ok(now) = Timestamp::try_from(now) else { return false };
        if self.after.is_some_and(|after| now < after) || self.before.is_some_and(|before| now >= before) {
            return false;
        }
        let local = now.to_zoned(self.zone.clone());
        let minute = i32::from(local.hour()) * 60 + i32::from(local.minute());
        let has = |day: Weekday| self.days & (1 << day.to_monday_zero_offset()) != 0;
        let today = local.weekday();
        if self.from < self.until {
            return has(today) && (self.from..self.until).contains(&minute);
        }
        // The part after midnight belongs to the day on which the window began.
        (minute >= self.from && has(today)) || (minute < self.until && has(today.previous()))
    }
}

fn minutes(text: &str) -> Result<i32, String> {
    let wrong = || format!("`{text}` is no time of day, such as `08:30`");
    let (hours, minutes) = text.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str, most: i32| {
        let number = text.parse::<i32>().ok().filter(|_| text.len() == 2 && !text.starts_with(['+', '-']));
        number.filter(|number| (0..=most).contains(number)).ok_or_else(wrong)
    };
    let total = number(hours, 24)? * 60 + number(minutes, 59)?;
    if total > MINUTES { Err(wrong()) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SystemTime {
        text.parse::<Timestamp>().unwrap().into()
    }

    fn office() -> WindowSpec {
        WindowSpec {
            days: ["Mon", "tue", "wednesday", "thu", "fri"].map(str::to_owned).into(),
            from: Some("08:00".to_owned()),
            until: Some("18:00".to_owned()),
            zone: Some("Europe/Berlin".to_owned()),
            ..WindowSpec::default()
        }
    }

    #[test]
    fn hours_are_local_in_summer_and_winter() {
        let window = Window::new(&office()).unwrap();
        // 2026-01-05 and 2026-07-06 are Mondays.
        for (moment, inside) in [
            ("2026-01-05T06:59:59Z", false),
            ("2026-01-05T07:00:00Z", true),
            ("2026-01-05T17:00:00Z", false),
            ("2026-07-06T06:00:00Z", true),
            ("2026-07-06T16:00:00Z", false),
            ("2026-07-05T10:00:00Z", false),
        ] {
            assert_eq!(window.contains(at(moment)), inside, "{moment}");
        }
    }

    #[test]
    fn a_night_belongs_to_the_day_on_which_it_began() {
        let night = WindowSpec {
            days: vec!["fri".to_owned()],
            from: Some("22:00".to_owned()),
            until: Some("06:00".to_owned()),
            ..WindowSpec::default()
        };
        let window = Window::new(&night).unwrap();
        // 2026-01-09 is a Friday.
        for (moment, inside) in [
            ("2026-01-09T05:00:00Z", false),
            ("2026-01-09T22:00:00Z", true),
            ("2026-01-10T05:59:00Z", true),
            ("2026-01-10T06:00:00Z", false),
            ("2026-01-10T22:00:00Z", false),
        ] {
            assert_eq!(window.contains(at(moment)), inside, "{moment}");
        }
    }

    #[test]
    fn dates_bound_a_window() {
        let spec = WindowSpec {
            after: Some("2026-03-01T00:00:00Z".to_owned()),
            before: Some("2026-04-01T00:00:00+02:00".to_owned()),
            ..WindowSpec::default()
        };
        let window = Window::new(&spec).unwrap();
        assert!(window.contains(at("2026-03-31T21:59:59Z")) && !window.contains(at("2026-03-31T22:00:00Z")));
        assert!(!window.contains(at("2026-02-28T23:59:59Z")));
    }

    #[test]
    fn a_wrong_part_is_named() {
        let wrong = |change: fn(&mut WindowSpec)| {
            let mut spec = office();
            change(&mut spec);
            Window::new(&spec).unwrap_err()
        };
        assert!(wrong(|spec| spec.days.push("mo".to_owned())).contains("`mo`"));
        assert!(wrong(|spec| spec.from = Some("8:00".to_owned())).contains("`8:00`"));
        assert!(wrong(|spec| spec.until = Some("24:01".to_owned())).contains("`24:01`"));
        assert!(wrong(|spec| spec.after = Some("today".to_owned())).contains("`today`"));
        assert!(wrong(|spec| spec.zone = Some("Mars/Base".to_owned())).contains("`Mars/Base`"));
    }
}
