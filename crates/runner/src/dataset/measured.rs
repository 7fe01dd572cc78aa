//! What a target reports of itself: how long it took, what it used, what it cost.

use metrics::Column;

use super::json::{Json, Kind};
use super::mapping::Source;
use super::value::Cell;

/// Whether the column has what a target reports.
///
/// Such names often mean something else: what is no number under one of them is passed over without a word.
pub(super) fn is_measured(column: Column) -> bool {
    matches!(column, Column::Latency | Column::Tokens | Column::Cost)
}

/// The number in the cell, or a text that is one; `Err` says what it is instead.
pub(super) fn number(cell: &Cell) -> Result<f64, Kind> {
    let (kind, text) = match cell {
        Cell::Text(text) => (Kind::Text, Some(text.clone())),
        Cell::Json(json) => {
            let json = Json::scanned(json);
            (json.kind(), json.text())
        }
    };
    let text = text.filter(|_| kind != Kind::Bool).ok_or(kind)?;
    text.trim().parse().map_err(|_| kind)
}

/// What the number is called where it stands: the last part of its path, or of the name of a column that is one.
pub(super) fn last_name(source: &Source) -> &str {
    let name = source.path.last().unwrap_or(&source.from);
    name.rsplit('.').next().unwrap_or(name)
}

/// A time in seconds, whose unit is the last word of its name: milliseconds in `latencyMs` and `Latency (ms)`; without one
/// it is in seconds.
pub(super) fn seconds(number: f64, name: &str) -> f64 {
    let name = name.trim_end_matches([' ', ')', ']']);
    let start = name
        .char_indices()
        .zip(name.chars().skip(1))
        .filter(|((_, before), after)| {
            !before.is_alphanumeric() || (before.is_lowercase() && after.is_uppercase())
        })
        .last()
        .map_or(0, |((at, before), _)| at + before.len_utf8());
    match name[start..].to_lowercase().as_str() {
        "ms" | "msec" | "millis" | "milliseconds" => number / 1e3,
        "us" | "µs" | "micros" | "microseconds" => number / 1e6,
        "ns" | "nanos" | "nanoseconds" => number / 1e9,
        "minutes" => number * 60.0,
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(number: f64, name: &str) -> String {
        seconds(number, name).to_string()
    }

    #[test]
    fn the_unit_is_the_last_word() {
        for name in [
            "latency_ms",
            "latencyMs",
            "Latency (ms)",
            "ms",
            "time-Millis",
            "LATENCY_MS",
            "latency[ms]",
        ] {
            assert_eq!(shown(1534.0, name), "1.534", "{name}");
        }
        for name in [
            "latency",
            "latency_s",
            "latency (s)",
            "items",
            "atoms",
            "",
            "msLatency",
        ] {
            assert_eq!(shown(1534.0, name), "1534", "{name}");
        }
        assert_eq!(shown(1534.0, "latency_us"), "0.001534");
        assert_eq!(shown(1534.0, "latencyNanos"), "0.000001534");
        assert_eq!(shown(1.5, "latencyMinutes"), "90");
    }
}
