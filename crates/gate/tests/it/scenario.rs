//! Evaluations drawn at random, and what the gate says of them: shared by the tests and `benches/simulation.rs`.
//!
//! Each repetition writes a baseline and results as JSON text, reads both, parses and binds a gate.toml, and decides: the
//! whole public path, so that the rule itself is measured and not a copy of it.

use std::fmt::Write as _;
use std::ops::Range;

use gate::policy::Policy;
use gate::results::{self, Keep, Results};
use gate::verdict::{Code, Outcome, Verdict};
use gate::{Inputs, decide};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// How the scores of one metric are drawn, before and now alike.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scores {
    /// Normal around a mean of the sample's own; `sd` is that of the paired difference, and `shared` the part of its
    /// variance that the samples of a cluster have in common. Unbounded, so that nothing is clipped.
    Normal { sd: f64, shared: f64 },
    /// Yes or no, each run anew with this probability of yes.
    YesNo { p: f64 },
    /// Yes or no, and this share of the samples differs between the runs, as many each way.
    Flips { share: f64 },
}

/// Which samples share a tag value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slices {
    None,
    /// So many values, dealt out to whole clusters in turn.
    Dealt(usize),
    /// A value for each cluster.
    Clusters,
}

/// One situation, drawn again and again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    rule: &'static str,
    max_drop: f64,
    aggregate: &'static str,
    metrics: usize,
    samples: usize,
    cluster: usize,
    names_clusters: bool,
    slices: Slices,
    scores: Scores,
    drop: f64,
    seed: u64,
}

/// Ten metrics on 100 samples, sd 0.25, no real change, `significant` without any drop allowed.
pub(crate) const fn usual() -> Scenario {
    Scenario {
        rule: "significant",
        max_drop: 0.0,
        aggregate: "mean",
        metrics: 10,
        samples: 100,
        cluster: 1,
        names_clusters: true,
        slices: Slices::None,
        scores: normal(0.25),
        drop: 0.0,
        seed: 0,
    }
}

impl Scenario {
    pub(crate) fn rule(self, rule: &'static str, max_drop: f64) -> Self {
        Self {
            rule,
            max_drop,
            ..self
        }
    }

    pub(crate) fn aggregate(self, aggregate: &'static str) -> Self {
        Self { aggregate, ..self }
    }

    pub(crate) fn metrics(self, metrics: usize) -> Self {
        Self { metrics, ..self }
    }

    pub(crate) fn samples(self, samples: usize) -> Self {
        Self { samples, ..self }
    }

    /// Clusters of so many samples.
    pub(crate) fn clusters_of(self, cluster: usize) -> Self {
        Self { cluster, ..self }
    }

    /// Leaves the clusters out of the files.
    pub(crate) fn without_cluster_names(self) -> Self {
        Self {
            names_clusters: false,
            ..self
        }
    }

    pub(crate) fn slices(self, slices: Slices) -> Self {
        Self { slices, ..self }
    }

    pub(crate) fn scores(self, scores: Scores) -> Self {
        Self { scores, ..self }
    }

    /// What the first metric really loses; the others lose nothing.
    pub(crate) fn drop(self, drop: f64) -> Self {
        Self { drop, ..self }
    }

    pub(crate) fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

/// Independent samples whose paired differences have this standard deviation.
pub(crate) const fn normal(sd: f64) -> Scores {
    Scores::Normal { sd, shared: 0.0 }
}

/// Samples whose paired differences have this standard deviation, and their clusters this part of its square.
pub(crate) const fn clustered(sd: f64, shared: f64) -> Scores {
    Scores::Normal { sd, shared }
}

/// What the gate said in so many repetitions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) repetitions: u64,
    /// Blocked, for whatever metric.
    pub(crate) blocked: u64,
    /// Blocked for the metric that really lost something.
    pub(crate) caught: u64,
}

impl Tally {
    pub(crate) fn blocked_share(&self) -> f64 {
        self.blocked as f64 / self.repetitions as f64
    }

    pub(crate) fn caught_share(&self) -> f64 {
        self.caught as f64 / self.repetitions as f64
    }

    pub(crate) fn add(&mut self, other: Tally) {
        self.repetitions += other.repetitions;
        self.blocked += other.blocked;
        self.caught += other.caught;
    }
}

impl Scenario {
    /// How many relative limits are judged together.
    pub(crate) fn limits(&self) -> usize {
        let slices = match self.slices {
            Slices::None => 0,
            Slices::Dealt(values) => values,
            Slices::Clusters => self.samples / self.cluster,
        };
        self.metrics * (1 + slices)
    }

    /// Draws the repetitions of these numbers. Each has its own stream of random numbers: the same number gives the same
    /// samples, whatever else is drawn.
    pub(crate) fn tally(&self, repetitions: Range<u64>) -> Tally {
        let policy = Policy::parse(&self.policy()).unwrap();
        let mut tally = Tally::default();
        for repetition in repetitions {
            let verdict = self.verdict(&policy, repetition);
            tally.repetitions += 1;
            match verdict.outcome {
                Outcome::Pass => {}
                Outcome::Block => tally.blocked += 1,
                Outcome::Undecided => panic!("{self:?}: {:?}", verdict.reasons),
            }
            let caught = verdict.reasons.iter().any(|reason| {
                reason.code == Code::Regression && reason.metric.as_deref() == Some("m0")
            });
            tally.caught += u64::from(caught);
        }
        tally
    }

    fn verdict(&self, policy: &Policy, repetition: u64) -> Verdict {
        let mut random = Random::of(self.seed, repetition);
        let drawn: Vec<Vec<[f64; 2]>> = (0..self.metrics)
            .map(|metric| self.draw(metric, &mut random))
            .collect();
        let [baseline, results] = [0, 1].map(|side| self.read(&drawn, side));
        let bound = policy.bind(&results, Some(&baseline)).unwrap();
        decide(Inputs {
            policy,
            bound: &bound,
            results: &results,
            baseline: Some(&baseline),
            history: None,
        })
    }

    /// The gate.toml that judges it.
    fn policy(&self) -> String {
        let Self {
            rule,
            max_drop,
            aggregate,
            ..
        } = self;
        let pass_at = if *aggregate == "pass_rate" {
            "\npass_at = 0.5"
        } else {
            ""
        };
        let slices = match self.slices {
            Slices::None => String::new(),
            _ => format!("[[slices]]\ntag = \"part\"\nmax_drop = {max_drop}\n"),
        };
        format!(
            "version = 1\n\
             [gate]\nrule = \"{rule}\"\nconfidence = 0.95\n\
             [metrics.\"m*\"]\nmax_drop = {max_drop}\naggregate = \"{aggregate}\"{pass_at}\n\
             {slices}"
        )
    }

    /// Before and now of every sample.
    fn draw(&self, metric: usize, random: &mut Random) -> Vec<[f64; 2]> {
        let drop = if metric == 0 { self.drop } else { 0.0 };
        let mut common = [0.0; 2];
        (0..self.samples)
            .map(|sample| {
                if sample % self.cluster == 0 {
                    common = [random.normal(), random.normal()];
                }
                let [before, now] = match self.scores {
                    Scores::Normal { sd, shared } => {
                        let own = 0.7 + 0.2 * random.normal();
                        common.map(|common| {
                            let noise =
                                shared.sqrt() * common + (1.0 - shared).sqrt() * random.normal();
                            own + noise * sd / std::f64::consts::SQRT_2
                        })
                    }
                    Scores::YesNo { p } => [(); 2].map(|()| yes(random.uniform() < p)),
                    Scores::Flips { share } => {
                        let (differs, first) = (random.uniform(), yes(random.uniform() < 0.5));
                        if differs < share {
                            [first, 1.0 - first]
                        } else {
                            [yes(random.uniform() < 0.8); 2]
                        }
                    }
                };
                [before, now - drop]
            })
            .collect()
    }

    /// One side as a results file, read back.
    fn read(&self, drawn: &[Vec<[f64; 2]>], side: usize) -> Results {
        let mut text = String::from(r#"{"schema":"rag-gate/results/1","run":{"metrics":{"#);
        for metric in 0..self.metrics {
            let comma = if metric == 0 { "" } else { "," };
            write!(text, r#"{comma}"m{metric}":{{"direction":"higher"}}"#).unwrap();
        }
        text.push_str(r#"}},"samples":["#);
        for sample in 0..self.samples {
            let comma = if sample == 0 { "" } else { "," };
            write!(text, r#"{comma}{{"id":"q-{sample:04}""#).unwrap();
            let cluster = sample / self.cluster;
            if self.cluster > 1 && self.names_clusters {
                write!(text, r#","cluster":"c{cluster}""#).unwrap();
            }
            match self.slices {
                Slices::None => {}
                Slices::Dealt(values) => {
                    write!(text, r#","tags":{{"part":"p{}"}}"#, cluster % values).unwrap();
                }
                Slices::Clusters => write!(text, r#","tags":{{"part":"p{cluster}"}}"#).unwrap(),
            }
            for (metric, scores) in drawn.iter().enumerate() {
                let start = if metric == 0 { r#","scores":{"# } else { "," };
                write!(text, r#"{start}"m{metric}":{}"#, scores[sample][side]).unwrap();
            }
            text.push_str("}}");
        }
        text.push_str("]}");
        results::read(text.as_bytes(), Keep::Scores).unwrap()
    }
}

fn yes(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// Random numbers whose stream no version of a library changes.
struct Random(ChaCha8Rng);

impl Random {
    fn of(seed: u64, repetition: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(repetition);
        Self(generator)
    }

    /// From 0 to 1, 1 excluded.
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
