//! Whether a judge scores and decides as people do.

use super::{Aggregate, ClusterSums, Estimate, Paired, auc, kendall_tau_b, pearson, spearman};
use crate::number::EPSILON;

/// How a judge's scores go with those of people. What is not defined is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Samples that both scored.
    pub n: usize,
    /// [`pearson`], −1 to 1.
    pub pearson: Option<f64>,
    /// [`spearman`], −1 to 1.
    pub spearman: Option<f64>,
    /// [`kendall_tau_b`], −1 to 1.
    pub kendall_tau_b: Option<f64>,
    /// Mean of judge − human, over clusters, in units of the score.
    pub bias: Option<Estimate>,
    /// Mean of |judge − human|, in units of the score.
    pub mae: Option<f64>,
}

impl Agreement {
    /// Of the human's scores (`before`) and the judge's (`now`).
    pub fn of(ratings: &Paired<'_>) -> Self {
        let (human, judge) = (ratings.before(), ratings.now());
        Agreement {
            n: ratings.len(),
            pearson: pearson(human, judge),
            spearman: spearman(human, judge),
            kendall_tau_b: kendall_tau_b(human, judge),
            bias: ratings.estimate(Aggregate::Mean),
            mae: super::mean(
                human
                    .iter()
                    .zip(judge)
                    .map(|(human, judge)| (judge - human).abs()),
            ),
        }
    }
}

/// How a judge decides where people do, each by a threshold. What is not defined is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decisions {
    /// Samples by what both say.
    pub confusion: Confusion,
    /// Share of the samples of which both say the same, 0 to 1.
    pub agreement: Option<f64>,
    /// Cohen's κ, over clusters: its `change` is κ, −1 to 1.
    pub kappa: Option<Estimate>,
    /// How well the judge's scores tell the human's positives from the others, 0 to 1: [`auc`]. The judge's threshold is
    /// no part of it.
    pub auc: Option<f64>,
}

impl Decisions {
    /// A score at or above its threshold is positive, as much as 1e-9 below it too.
    pub fn of(ratings: &Paired<'_>, human_threshold: f64, judge_threshold: f64) -> Self {
        let decide = |scores: &[f64], threshold: f64| -> Vec<bool> {
            scores
                .iter()
                .map(|score| *score >= threshold - EPSILON)
                .collect()
        };
        let human = decide(ratings.before(), human_threshold);
        let judge = decide(ratings.now(), judge_threshold);
        let confusion = Confusion::of(&human, &judge);
        Decisions {
            confusion,
            agreement: confusion.agreement(),
            kappa: kappa(&human, &judge, ratings.clusters()),
            auc: auc(ratings.now(), &human),
        }
    }
}

/// Samples by what the human and the judge say of them. Positive is at or above the threshold of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Positive for both.
    pub true_positive: u64,
    /// Positive for the judge alone.
    pub false_positive: u64,
    /// Positive for the human alone.
    pub false_negative: u64,
    /// Negative for both.
    pub true_negative: u64,
}

impl Confusion {
    /// Counts the samples; what one side has more than the other is left out.
    pub fn of(human: &[bool], judge: &[bool]) -> Self {
        let mut cells = Confusion::default();
        for (human, judge) in human.iter().zip(judge) {
            let cell = match (human, judge) {
                (true, true) => &mut cells.true_positive,
                (false, true) => &mut cells.false_positive,
                (true, false) => &mut cells.false_negative,
                (false, false) => &mut cells.true_negative,
            };
            *cell += 1;
        }
        cells
    }

    /// The number of samples.
    pub fn n(&self) -> u64 {
        self.true_positive + self.false_positive + self.false_negative + self.true_negative
    }

    /// Share of the samples of which both say the same, 0 to 1; `None` without samples.
    pub fn agreement(&self) -> Option<f64> {
        let n = self.n();
        (n > 0).then(|| (self.true_positive + self.true_negative) as f64 / n as f64)
    }

    /// Cohen's κ, −1 to 1: how far the agreement exceeds that of chance (Cohen 1960).
    ///
    /// κ = (p₀ − pₑ) / (1 − pₑ) with p₀ the agreement and pₑ what two raters with these shares of positives have by chance.
    /// In whole numbers, so that chance agreement is exactly 0. `None` where both sides are constant and say the same
    /// (pₑ = 1), and without samples.
    pub fn kappa(&self) -> Option<f64> {
        let human = u128::from(self.true_positive + self.false_negative);
        let judge = u128::from(self.true_positive + self.false_positive);
        let n = u128::from(self.n());
        let chance = human * judge + (n - human) * (n - judge);
        let room = n * n - chance;
        let same = n * u128::from(self.true_positive + self.true_negative);
        let excess = match same >= chance {
            true => (same - chance) as f64,
            false => -((chance - same) as f64),
        };
        (room > 0).then(|| excess / room as f64)
    }
}

/// Cohen's κ of two raters with its standard error over clusters; `change` of the estimate is κ. `clusters` as in
/// [`Paired::new`](super::Paired::new).
///
/// The error is that of the linearised κ (delta method): with every sample its own cluster that of Fleiss, Cohen and
/// Everitt 1969, times √(n / (n − 1)). `None` where κ is not defined, or lengths differ.
pub fn kappa(human: &[bool], judge: &[bool], clusters: Option<&[u32]>) -> Option<Estimate> {
    if human.len() != judge.len() {
        return None;
    }
    let cells = Confusion::of(human, judge);
    let kappa = cells.kappa()?;
    let n = cells.n() as f64;
    let agreement = cells.agreement()?;
    let p = (cells.true_positive + cells.false_negative) as f64 / n;
    let q = (cells.true_positive + cells.false_positive) as f64 / n;
    let room = 1.0 - (p * q + (1.0 - p) * (1.0 - q));
    let number = |is: bool| if is { 1.0 } else { 0.0 };
    // What each sample adds to κ: the derivatives by agreement and by the two shares.
    let influences: Vec<f64> = human
        .iter()
        .zip(judge)
        .map(|(&human, &judge)| {
            let same = number(human == judge) - agreement;
            let chance =
                (2.0 * q - 1.0) * (number(human) - p) + (2.0 * p - 1.0) * (number(judge) - q);
            same / room - (1.0 - agreement) / (room * room) * chance
        })
        .collect();
    let spread = ClusterSums::of(&influences, clusters)?.estimate()?;
    Some(Estimate {
        change: kappa,
        ..spread
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many samples as each cell says.
    fn ratings(cells: Confusion) -> (Vec<bool>, Vec<bool>) {
        let all = [
            (true, true, cells.true_positive),
            (false, true, cells.false_positive),
            (true, false, cells.false_negative),
            (false, false, cells.true_negative),
        ];
        all.into_iter()
            .flat_map(|(human, judge, count)| (0..count).map(move |_| (human, judge)))
            .unzip()
    }

    #[test]
    fn chance_is_zero_and_no_variation_is_undefined() {
        // The judge says yes to all.
        let cells = Confusion {
            true_positive: 204,
            false_positive: 46,
            ..Confusion::default()
        };
        assert_eq!(cells.kappa(), Some(0.0));
        let same = Confusion {
            true_positive: 7,
            ..Confusion::default()
        };
        assert_eq!((same.agreement(), same.kappa()), (Some(1.0), None));
        assert_eq!(Confusion::default().kappa(), None);
        assert_eq!(Confusion::default().agreement(), None);
        assert_eq!(kappa(&[], &[], None), None);
        assert_eq!(kappa(&[true], &[], None), None);
        let opposite = Confusion {
            false_positive: 3,
            false_negative: 3,
            ..Confusion::default()
        };
        assert_eq!(opposite.kappa(), Some(-1.0));
    }

    /// `statsmodels.stats.inter_rater.cohens_kappa([[93, 28], [7, 31]])`.
    #[test]
    fn the_standard_error_is_that_of_fleiss_cohen_and_everitt() {
        let cells = Confusion {
            true_positive: 93,
            false_positive: 7,
            false_negative: 28,
            true_negative: 31,
        };
        let (human, judge) = ratings(cells);
        let estimate = kappa(&human, &judge, None).unwrap();
        let n = estimate.n as f64;
        assert!((estimate.change - 0.491_269_768_717_433_1).abs() < 1e-12);
        let stderr = estimate.stderr.unwrap() * ((n - 1.0) / n).sqrt();
        assert!(
            (stderr - 0.071_166_005_760_205_76).abs() < 1e-12,
            "{stderr}"
        );
    }

    #[test]
    fn samples_of_one_cluster_are_one_witness() {
        let cells = Confusion {
            true_positive: 20,
            false_positive: 8,
            false_negative: 6,
            true_negative: 14,
        };
        let (human, judge) = ratings(cells);
        let alone = kappa(&human, &judge, None).unwrap().stderr.unwrap();
        let pairs: Vec<u32> = (0..48).map(|sample| sample / 2).collect();
        let clustered = kappa(&human, &judge, Some(&pairs)).unwrap();
        assert_eq!(clustered.clusters, 24);
        assert!(clustered.stderr.unwrap() > 1.2 * alone);
    }
}
