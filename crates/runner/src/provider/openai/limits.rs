//! How long a server asks to be left alone.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// How long nobody should call, as an answer of that status says.
pub(super) fn pause(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let asked = match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => after(headers),
        _ => None,
    };
    asked
        .into_iter()
        .chain(exhausted(headers))
        .max()
        .filter(|wait| !wait.is_zero())
}

/// How long this call should wait before it is tried again.
pub(super) fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    after(headers).or_else(|| match status {
        StatusCode::TOO_MANY_REQUESTS => exhausted(headers).or_else(|| {
            // A server that does not say what remains means the reset that it names, if it names but one.
            text(headers, "x-ratelimit-reset").and_then(|text| span(text, headers))
        }),
        _ => None,
    })
}

/// `retry-after-ms`, or `retry-after` in seconds or as a date.
fn after(headers: &HeaderMap) -> Option<Duration> {
    let milliseconds = text(headers, "retry-after-ms")
        .and_then(|text| text.parse::<f64>().ok())
        .and_then(|milliseconds| Duration::try_from_secs_f64(milliseconds / 1000.0).ok());
    milliseconds.or_else(|| {
        let text = text(headers, RETRY_AFTER.as_str())?;
        span(text, headers).or_else(|| Some(until(date(text)?, headers)))
    })
}

/// The longest wait for what is used up: requests or tokens of which none remain.
fn exhausted(headers: &HeaderMap) -> Option<Duration> {
    ["-requests", "-tokens", ""]
        .into_iter()
        .filter(|of| {
            text(headers, &format!("x-ratelimit-remaining{of}"))
                .and_then(|remaining| remaining.parse::<f64>().ok())
                .is_some_and(|remaining| remaining <= 0.0)
        })
        .filter_map(|of| span(text(headers, &format!("x-ratelimit-reset{of}"))?, headers))
        .max()
}

/// Seconds, a point in time in seconds or milliseconds since 1970, or a length such as `6m0s` or `250ms`.
fn span(text: &str, headers: &HeaderMap) -> Option<Duration> {
    match text.parse::<f64>() {
        Ok(number) if number >= 1e12 => until_second(number / 1000.0, headers),
        Ok(number) if number >= 1e9 => until_second(number, headers),
        Ok(number) => Duration::try_from_secs_f64(number).ok(),
        Err(_) => length(text),
    }
}

/// A length such as `1h2m3.5s` or `250ms`.
fn length(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .filter(|digits| *digits > 0)?;
        let (number, unit) = rest.split_at(digits);
        let (seconds, unit_length) = match unit {
            unit if unit.starts_with("ms") => (0.001, 2),
            unit if unit.starts_with('s') => (1.0, 1),
            unit if unit.starts_with('m') => (60.0, 1),
            unit if unit.starts_with('h') => (3600.0, 1),
            unit if unit.starts_with('d') => (86400.0, 1),
            _ => return None,
        };
        let part = number.parse::<f64>().ok()? * seconds;
        total = total.checked_add(Duration::try_from_secs_f64(part).ok()?)?;
        rest = unit.get(unit_length..)?;
    }
    (!text.is_empty()).then_some(total)
}

fn date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text).ok()
}

fn until_second(second: f64, headers: &HeaderMap) -> Option<Duration> {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds since 1970")]
    let milliseconds = (second * 1000.0) as i64;
    let point = Timestamp::from_millisecond(milliseconds).ok()?;
    Some(until(point, headers))
}

/// From now, by the clock of the server where it says it: that of this machine may be wrong.
fn until(point: Timestamp, headers: &HeaderMap) -> Duration {
    let now = text(headers, DATE.as_str())
        .and_then(date)
        .unwrap_or_else(Timestamp::now);
    let wait = point.duration_since(now);
    Duration::try_from(wait).unwrap_or(Duration::ZERO)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn wait(pairs: &[(&'static str, &str)]) -> Option<f64> {
        retry_after(StatusCode::TOO_MANY_REQUESTS, &headers(pairs)).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn a_wait_is_read_in_all_its_forms() {
        assert_eq!(wait(&[("retry-after", "3")]), Some(3.0));
        assert_eq!(wait(&[("retry-after", "0.5")]), Some(0.5));
        assert_eq!(
            wait(&[("retry-after-ms", "250"), ("retry-after", "1")]),
            Some(0.25)
        );
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        assert_eq!(wait(&[("retry-after", "-1")]), None);
        let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(
            wait(&[date, ("retry-after", "Wed, 21 Oct 2015 07:28:07 GMT")]),
            Some(7.0)
        );
        assert_eq!(
            wait(&[date, ("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT")]),
            Some(0.0)
        );
        let reset = |value| wait(&[date, ("x-ratelimit-reset", value)]);
        assert_eq!(reset("1445412482"), Some(2.0));
        assert_eq!(reset("1445412482500"), Some(2.5));
        assert_eq!(reset("6m0s"), Some(360.0));
        assert_eq!(reset("17ms"), Some(0.017));
        assert_eq!(reset("1h2m3.5s"), Some(3723.5));
        assert_eq!(reset("5 parsecs"), None);
    }

    #[test]
    fn only_what_is_used_up_makes_wait() {
        let headers = headers(&[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "2s"),
            ("x-ratelimit-remaining-tokens", "100"),
            ("x-ratelimit-reset-tokens", "60s"),
        ]);
        assert_eq!(
            pause(StatusCode::OK, &headers),
            Some(Duration::from_secs(2))
        );
        assert_eq!(wait(&[("x-ratelimit-reset-tokens", "60s")]), None);
        assert_eq!(pause(StatusCode::OK, &HeaderMap::new()), None);
    }

    #[test]
    fn a_wait_concerns_everybody_only_when_the_server_is_full() {
        let headers = headers(&[("retry-after", "3")]);
        let seconds = Some(Duration::from_secs(3));
        assert_eq!(pause(StatusCode::TOO_MANY_REQUESTS, &headers), seconds);
        assert_eq!(pause(StatusCode::SERVICE_UNAVAILABLE, &headers), seconds);
        assert_eq!(pause(StatusCode::BAD_GATEWAY, &headers), None);
        assert_eq!(retry_after(StatusCode::BAD_GATEWAY, &headers), seconds);
    }
}
