//! Ages, sizes, times and shares as people write and read them.

use std::str::FromStr;
use std::time::Duration;

use jiff::{SignedDuration, SpanRelativeTo, Timestamp};

/// How long ago, such as `30d`, `2w` or `12h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Age(SignedDuration);

impl Age {
    /// The time that was so long ago.
    pub(crate) fn ago(self) -> Timestamp {
        Timestamp::now()
            .checked_sub(self.0)
            .unwrap_or(Timestamp::MIN)
    }
}

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<jiff::Span>()
            .and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()))
            .ok()
            .filter(|age| !age.is_negative())
            .map(Age)
            .ok_or_else(|| format!("`{text}` is no age such as 30d, 2w or 12h"))
    }
}

/// A length of time above zero, such as `8s` or `1m30s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<SignedDuration>()
            .ok()
            .and_then(|span| Duration::try_from(span).ok())
            .filter(|span| !span.is_zero())
            .map(Span)
            .ok_or_else(|| format!("`{text}` is no length of time such as 8s or 1m30s"))
    }
}

/// A size in bytes, such as `500MB` (a thousand thousands) or `2GiB` (1024 times as much).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

/// Units of a size, longest name first.
const UNITS: [(&str, u64); 8] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("b", 1),
    ("", 1),
];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let end = lower
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(lower.len());
        let (number, unit) = lower.split_at(end);
        let unit = UNITS.iter().find(|(name, _)| *name == unit.trim());
        let number = number.parse::<f64>().ok().filter(|number| *number < 1e15);
        match (number, unit) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "digits and a point make no negative number, and `as` stops at the largest size"
            )]
            (Some(number), Some((_, factor))) => Ok(Size((number * *factor as f64) as u64)),
            _ => Err(format!("`{text}` is no size such as 500MB or 2GB")),
        }
    }
}

/// A percentage from 0 to 100, kept as a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.trim_end_matches('%')
            .parse::<f64>()
            .ok()
            .filter(|percent| (0.0..=100.0).contains(percent))
            .map(|percent| Share(percent / 100.0))
            .ok_or_else(|| format!("`{text}` is no percentage from 0 to 100"))
    }
}

/// A number of bytes: `512 B`, `1.2 MB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// A length of time: `0.25 s`, `85.7 min`, `25.0 h`.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds < 10.0 => format!("{seconds:.2} s"),
        _ if seconds < 90.0 => format!("{seconds:.1} s"),
        _ if seconds < 60_000.0 => format!("{:.1} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A large number: `950`, `12.3 k`, `4.56 M`.
pub(crate) fn count(number: f64) -> String {
    match number {
        _ if number < 10_000.0 => format!("{number:.0}"),
        _ if number < 1e6 => format!("{:.1} k", number / 1e3),
        _ if number < 1e9 => format!("{:.2} M", number / 1e6),
        _ => format!("{:.2} G", number / 1e9),
    }
}

/// An amount of money: cents, or more digits below ten of them.
pub(crate) fn dollars(amount: f64) -> String {
    match amount {
        _ if amount == 0.0 || amount >= 0.1 => format!("${amount:.2}"),
        _ if amount >= 0.0001 => format!("${amount:.4}"),
        _ => format!("${amount:.1e}"),
    }
}

/// A moment to the minute, in UTC.
pub(crate) fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// `1 sample`, `2 samples`.
pub(crate) fn plural(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("500MB", 500_000_000),
            ("2 GiB", 2 << 30),
            ("1.5kb", 1500),
            ("10", 10),
            ("0", 0),
            ("7B", 7),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for wrong in ["", "MB", "-1MB", "1TBB", "1.2.3", "nan", "inf"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
        let days = |days: i64| Ok(Age(SignedDuration::from_hours(24 * days)));
        assert_eq!("30d".parse(), days(30));
        assert_eq!("2w".parse(), days(14));
        assert_eq!("48h".parse(), days(2));
        for wrong in ["", "30", "-3d", "soon", "1 month"] {
            assert!(wrong.parse::<Age>().is_err(), "{wrong}");
        }
        assert_eq!("8s".parse(), Ok(Span(Duration::from_secs(8))));
        assert!("0s".parse::<Span>().is_err());
        assert_eq!("40%".parse(), Ok(Share(0.4)));
        assert!("101".parse::<Share>().is_err() && "NaN".parse::<Share>().is_err());
    }

    #[test]
    fn numbers_are_written_with_their_units() {
        assert_eq!([size(0), size(999)], ["0 B", "999 B"]);
        assert_eq!([size(1_234_567), size(5_000_000_000)], ["1.2 MB", "5.0 GB"]);
        assert_eq!([time(0.25), time(42.0)], ["0.25 s", "42.0 s"]);
        assert_eq!([time(5142.0), time(90_000.0)], ["85.7 min", "25.0 h"]);
        assert_eq!([count(3000.0), count(4.56e6)], ["3000", "4.56 M"]);
        assert_eq!([dollars(0.0), dollars(0.0123)], ["$0.00", "$0.0123"]);
        assert_eq!([dollars(12.5), dollars(1e-6)], ["$12.50", "$1.0e-6"]);
    }
}
