//! Sums and means that do not lose small terms among large ones.

/// A running sum with the rounding error of each addition kept aside (Neumaier 1974, "improved Kahan–Babuška").
///
/// Ten million scores of 0.1 add up to 1 000 000 and not to 999 999.999 839.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    /// Adds one term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let total = self.total + term;
        // Whichever of the two is smaller has lost digits in the addition.
        self.lost += if self.total.abs() >= term.abs() {
            (self.total - total) + term
        } else {
            (term - total) + self.total
        };
        self.total = total;
    }

    /// The sum so far; 0 when nothing was added; not finite when the terms are too large for an `f64`.
    #[inline]
    pub fn total(self) -> f64 {
        if self.total.is_finite() {
            self.total + self.lost
        } else {
            self.total
        }
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Sum::default();
        for term in terms {
            sum.add(term);
        }
        sum
    }
}

/// The arithmetic mean; `None` for no values, or when the mean is not a finite number.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut count = 0_usize;
    let sum: Sum = values.into_iter().inspect(|_| count += 1).collect();
    (count > 0)
        .then(|| sum.total() / count as f64)
        .filter(|mean| mean.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_survive_large_ones() {
        let sum: Sum = [1.0, 1e100, 1.0, -1e100].into_iter().collect();
        assert_eq!(sum.total().to_bits(), 2.0_f64.to_bits());
    }

    #[test]
    fn many_tenths_add_up() {
        let tenths = std::iter::repeat_n(0.1, 1_000_000);
        assert_eq!(mean(tenths), Some(0.1));
    }

    #[test]
    fn the_mean_of_nothing_is_nothing() {
        assert_eq!(mean([]), None);
        assert_eq!(mean([f64::MAX, f64::MAX]), None);
        assert_eq!(mean([f64::INFINITY, f64::NEG_INFINITY]), None);
        assert_eq!(mean([f64::NAN, 1.0]), None);
    }
}
