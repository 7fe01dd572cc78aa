//! How numbers are written for people: few digits, but as many as it takes not to contradict themselves.
//!
//! Nothing here rounds a number that is compared later; these functions end in a `String`.

/// Comparisons allow this much for binary rounding: 0.86 − 0.83 is 0.030000000000000027, and a drop of 0.03 is allowed.
pub const EPSILON: f64 = 1e-9;

/// Digits after the point beyond which a number is shown as it is.
const MAX_DECIMALS: usize = 12;

/// A measured value: three decimals below 10, two below 100, one above.
///
/// ```
/// assert_eq!(gate::number::value(0.85), "0.850");
/// assert_eq!(gate::number::value(1291.04), "1291.0");
/// ```
pub fn value(number: f64) -> String {
    fixed(number, decimals_of(number))
}

/// A measured value with its sign, `+0.000` for no change.
pub fn signed(number: f64) -> String {
    let text = value(number);
    if text.starts_with('-') {
        text
    } else {
        format!("+{text}")
    }
}

/// A limit as a person would write it: the shortest exact decimal, at least two digits after the point.
///
/// ```
/// assert_eq!(gate::number::limit(0.8), "0.80");
/// assert_eq!(gate::number::limit(0.125), "0.125");
/// ```
pub fn limit(number: f64) -> String {
    if number.abs() >= 1e12 {
        return format!("{number:e}");
    }
    let exact = format!("{number}");
    let decimals = exact.split_once('.').map_or(0, |(_, after)| after.len());
    if decimals >= 2 || !number.is_finite() {
        exact
    } else {
        fixed(number, 2)
    }
}

/// A share such as 0.95 as a percentage without superfluous zeros: `95%`, `1.5%`.
pub fn percent(share: f64) -> String {
    let scaled = format!("{:.6}", share * 100.0);
    format!("{}%", scaled.trim_end_matches('0').trim_end_matches('.'))
}

/// `number` with enough digits to be seen on its own side of `other`, which is shown by [`limit`].
///
/// 0.7999 against a minimum of 0.8 is "0.7999", not "0.800".
pub fn apart(number: f64, other: f64) -> String {
    (decimals_of(number)..=MAX_DECIMALS)
        .map(|decimals| fixed(number, decimals))
        .find(|text| {
            text.parse::<f64>()
                .is_ok_and(|shown| (shown - other).abs() > EPSILON / 10.0)
        })
        .unwrap_or_else(|| format!("{number}"))
}

/// `number` with enough digits not to look like a limit that it is not at, for a table that shows both.
///
/// ```
/// assert_eq!(gate::number::beside(0.7999, [Some(0.8), None]), "0.7999");
/// assert_eq!(gate::number::beside(0.8, [Some(0.8), None]), "0.800");
/// ```
pub fn beside(number: f64, limits: impl IntoIterator<Item = Option<f64>>) -> String {
    limits
        .into_iter()
        .flatten()
        .filter(|limit| (number - limit).abs() > EPSILON)
        .map(|limit| apart(number, limit))
        .max_by_key(String::len)
        .unwrap_or_else(|| value(number))
}

/// Two values with the same number of digits, enough for them to differ when they do.
pub fn pair(first: f64, second: f64) -> (String, String) {
    let decimals = decimals_of(first).max(decimals_of(second));
    (decimals..=MAX_DECIMALS)
        .map(|decimals| (fixed(first, decimals), fixed(second, decimals)))
        .find(|(first_text, second_text)| {
            (first - second).abs() <= EPSILON || first_text != second_text
        })
        .unwrap_or_else(|| (format!("{first}"), format!("{second}")))
}

/// `118/120`; `118` when the number of applicable samples is unknown; `n unknown` when nothing is known.
pub fn denominator(scored: Option<u64>, failed: Option<u64>) -> String {
    match (scored, failed) {
        (Some(scored), Some(failed)) => format!("{scored}/{}", scored + failed),
        (Some(scored), None) => scored.to_string(),
        (None, _) => "n unknown".to_owned(),
    }
}

fn decimals_of(number: f64) -> usize {
    match number.abs() {
        magnitude if magnitude < 10.0 => 3,
        magnitude if magnitude < 100.0 => 2,
        _ => 1,
    }
}

/// Never prints a negative zero.
fn fixed(number: f64, decimals: usize) -> String {
    if number.abs() >= 1e12 {
        return format!("{number:e}");
    }
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(positive) if positive.bytes().all(|byte| matches!(byte, b'0' | b'.')) => {
            positive.to_owned()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_just_under_a_limit_is_not_shown_as_the_limit() {
        assert_eq!(apart(0.7999, 0.8), "0.7999");
        assert_eq!(apart(0.79, 0.8), "0.790");
        assert_eq!(apart(0.799_999_9, 0.8), "0.7999999");
        assert_eq!(apart(0.0301, 0.03), "0.0301");
    }

    #[test]
    fn values_that_differ_are_shown_differing() {
        assert_eq!(pair(0.86, 0.79), ("0.860".into(), "0.790".into()));
        assert_eq!(pair(0.8601, 0.8602), ("0.8601".into(), "0.8602".into()));
        assert_eq!(pair(0.5, 0.5), ("0.500".into(), "0.500".into()));
    }

    #[test]
    fn zero_has_no_minus_sign() {
        assert_eq!(value(-0.000_01), "0.000");
        assert_eq!(signed(-0.0), "+0.000");
        assert_eq!(signed(-0.258), "-0.258");
    }

    #[test]
    fn limits_keep_their_digits() {
        assert_eq!(limit(0.8), "0.80");
        assert_eq!(limit(100.0), "100.00");
        assert_eq!(limit(0.0001), "0.0001");
        assert_eq!(percent(0.95), "95%");
        assert_eq!(percent(0.015), "1.5%");
    }

    #[test]
    fn a_denominator_says_what_is_known() {
        assert_eq!(denominator(Some(118), Some(2)), "118/120");
        assert_eq!(denominator(Some(118), None), "118");
        assert_eq!(denominator(None, None), "n unknown");
    }
}
