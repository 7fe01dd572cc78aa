//! Results, a baseline, a policy and a history that belong together, made of a fuzzer's bytes.
//!
//! Names come from short lists, so that the two sides share metrics, variants, ids and tags more often than not; numbers
//! are mostly sixteenths from 0 to 1, where ties and limits that are just met are common, and sometimes anything.

use std::collections::HashSet;
use std::fmt::{self, Write};

use arbitrary::{Arbitrary, Result, Unstructured};

const METRICS: [&str; 6] = [
    "faithfulness",
    "latency_s",
    "politeness",
    "hallucination",
    "recall@5",
    "context_recall",
];
const VARIANTS: [&str; 2] = ["dense", "bm25"];
/// Those whose scores lie from 0 to 1 by their name.
const UNIT: [&str; 4] = [
    "faithfulness",
    "hallucination",
    "recall@5",
    "context_recall",
];
/// Those for which lower is better by their name.
const LOWER: [&str; 2] = ["latency_s", "hallucination"];
/// The last two are one id in NFC.
const IDS: [&str; 10] = [
    "q1",
    "q2",
    "q3",
    "q4",
    "q5",
    "q6",
    "q10",
    "Q1",
    "qé",
    "qe\u{301}",
];
const CLUSTERS: [&str; 3] = ["d1", "d2", "d3"];
const TAGS: [&str; 2] = ["lang", "topic"];
const VALUES: [&str; 3] = ["it", "de", "fr"];
const KINDS: [&str; 4] = ["timeout", "refused", "target", "not-a-number"];
const EXTREMES: [f64; 12] = [
    f64::MAX,
    f64::MIN,
    1e308,
    -1e308,
    1e200,
    1e-200,
    5e-324,
    1e12,
    1e16,
    -1.0,
    0.300_000_000_000_000_04,
    1e-9,
];

/// One input of the decision, as the files would say it.
pub struct Scenario {
    /// The results.
    pub results: Side,
    /// The baseline.
    pub baseline: Option<Side>,
    /// gate.toml.
    pub policy: String,
    /// history.jsonl.
    pub history: Option<String>,
    /// Seed of the order in which samples are shuffled.
    pub shuffle: u64,
}

/// A results file: what stands before the samples, and the samples, when it has any.
pub struct Side {
    head: String,
    samples: Option<Vec<String>>,
}

impl Side {
    /// The file.
    pub fn text(&self) -> String {
        match &self.samples {
            None => format!("{{{}}}", self.head),
            Some(samples) => format!(
                "{{{},\n\"samples\": [\n{}\n]}}",
                self.head,
                samples.join(",\n")
            ),
        }
    }

    /// The file with its samples in another order.
    pub fn shuffled(&self, mut seed: u64) -> String {
        let mut samples = self.samples.clone();
        if let Some(samples) = &mut samples {
            for last in (1..samples.len()).rev() {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                samples.swap(last, (seed >> 33) as usize % (last + 1));
            }
        }
        let head = self.head.clone();
        Side { head, samples }.text()
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "--- gate.toml\n{}", self.policy)?;
        writeln!(f, "--- results.json\n{}", self.results.text())?;
        if let Some(baseline) = &self.baseline {
            writeln!(f, "--- baseline.json\n{}", baseline.text())?;
        }
        if let Some(history) = &self.history {
            writeln!(f, "--- history.jsonl\n{history}")?;
        }
        writeln!(f, "--- shuffle {}", self.shuffle)
    }
}

impl<'a> Arbitrary<'a> for Scenario {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut metrics = Vec::new();
        for _ in 0..u.int_in_range(1..=3)? {
            let metric = *u.choose(&METRICS)?;
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        let shuffle = u.arbitrary()?;
        let policy = policy(u, &metrics)?;
        let results = side(u, &metrics)?;
        let baseline = if rarely(u, 8)? {
            None
        } else {
            Some(side(u, &metrics)?)
        };
        let history = if rarely(u, 3)? {
            Some(history(u, &metrics)?)
        } else {
            None
        };
        Ok(Scenario {
            results,
            baseline,
            policy,
            history,
            shuffle,
        })
    }
}

/// True once in `times`; false when the bytes have run out.
fn rarely(u: &mut Unstructured<'_>, times: u8) -> Result<bool> {
    Ok(u.int_in_range(0..=times - 1)? == times - 1)
}

fn number(u: &mut Unstructured<'_>) -> Result<f64> {
    Ok(match u.int_in_range(0..=19_u8)? {
        17 => *u.choose(&EXTREMES)?,
        18 => u
            .arbitrary::<f64>()
            .map(|any| if any.is_finite() { any } else { 0.5 })?,
        19 => f64::from(u.arbitrary::<i16>()?),
        sixteenths => f64::from(sixteenths) / 16.0,
    })
}

/// A share from 0 to 1.
fn share(u: &mut Unstructured<'_>) -> Result<f64> {
    Ok(f64::from(u.int_in_range(0..=16_u8)?) / 16.0)
}

/// What a metric may score; now and then what it may not.
fn number_of(u: &mut Unstructured<'_>, metric: &str) -> Result<f64> {
    if !UNIT.contains(&metric) || rarely(u, 250)? {
        return number(u);
    }
    match u.int_in_range(0..=19_u8)? {
        18 => Ok(*u.choose(&[0.300_000_000_000_000_04, 5e-324, 1e-9, 0.7, 0.999_999_999_9])?),
        19 => Ok(f64::from(u.arbitrary::<u32>()?) / f64::from(u32::MAX)),
        _ => share(u),
    }
}

/// An allowed change: points or a percentage.
fn limit(u: &mut Unstructured<'_>) -> Result<String> {
    let amount = if rarely(u, 8)? {
        number(u)?.abs()
    } else {
        share(u)? / 4.0
    };
    Ok(if u.arbitrary()? {
        format!("\"{amount}%\"")
    } else {
        format!("{amount:?}")
    })
}

fn policy(u: &mut Unstructured<'_>, metrics: &[&str]) -> Result<String> {
    let mut text = String::from("version = 1\n");
    if rarely(u, 8)? {
        for name in VARIANTS.iter().take(u.int_in_range(1..=2)?) {
            let _ = writeln!(text, "[[variants]]\nname = \"{name}\"");
        }
    }
    text += "[gate]\n";
    match u.int_in_range(0..=3_u8)? {
        1 => text += "rule = \"significant\"\n",
        2 => text += "rule = \"noninferior\"\n",
        _ => {}
    }
    if rarely(u, 4)? {
        let _ = writeln!(text, "max_drop = {}", limit(u)?);
    }
    if rarely(u, 2)? {
        let _ = writeln!(text, "max_failed = {:?}", share(u)?);
    }
    if rarely(u, 6)? {
        let _ = writeln!(text, "min_samples = {}", u.int_in_range(0..=9_u8)?);
    }
    if rarely(u, 4)? {
        let _ = writeln!(text, "min_overlap = {:?}", share(u)?);
    }
    if rarely(u, 6)? {
        let confidence = *u.choose(&["0.9", "0.51", "0.999999", "0.9999999999999999", "0.8"])?;
        let _ = writeln!(text, "confidence = {confidence}");
    }
    if rarely(u, 4)? {
        let _ = writeln!(text, "max_drift = {}", limit(u)?);
    }
    if rarely(u, 6)? {
        let _ = writeln!(text, "drift_window = {}", u.int_in_range(1..=4_u8)?);
    }
    if rarely(u, 6)? {
        text += "on_incomparable = \"absolute\"\n";
    }
    let mut names = Vec::new();
    if !rarely(u, 4)? {
        for _ in 0..u.int_in_range(1..=3)? {
            let name = match u.int_in_range(0..=7_u8)? {
                6 => "*",
                7 => *u.choose(&METRICS)?,
                _ => *u.choose(metrics)?,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    for name in names {
        let _ = writeln!(text, "[metrics.\"{name}\"]");
        metric_entry(u, name, &mut text)?;
    }
    for _ in 0..u.int_in_range(0..=4_u8)?.saturating_sub(2) {
        slice_entry(u, metrics, &mut text)?;
    }
    Ok(text)
}

fn metric_entry(u: &mut Unstructured<'_>, name: &str, text: &mut String) -> Result<()> {
    match u.int_in_range(0..=7_u8)? {
        0 | 1 => drop(writeln!(text, "min = {:?}", number_of(u, name)?)),
        2 => drop(writeln!(text, "max = {:?}", number_of(u, name)?)),
        3 => drop(writeln!(
            text,
            "min = {:?}\nmax = {:?}",
            share(u)? / 2.0,
            0.5 + share(u)? / 2.0
        )),
        _ => {}
    }
    let lower = match u.int_in_range(0..=7_u8)? {
        6 => {
            *text += "direction = \"lower\"\n";
            true
        }
        7 => {
            *text += "direction = \"higher\"\n";
            false
        }
        _ => LOWER.contains(&name),
    };
    if !rarely(u, 3)? {
        let key = if lower != rarely(u, 16)? {
            "max_rise"
        } else {
            "max_drop"
        };
        let _ = writeln!(text, "{key} = {}", limit(u)?);
    }
    if rarely(u, 4)? {
        let _ = writeln!(text, "max_drift = {}", limit(u)?);
    }
    if rarely(u, 6)? {
        let _ = writeln!(text, "max_failed = {:?}", share(u)?);
    }
    if rarely(u, 6)? {
        let _ = writeln!(text, "min_samples = {}", u.int_in_range(0..=9_u8)?);
    }
    if rarely(u, 3)? {
        let aggregate = *u.choose(&[
            "mean",
            "median",
            "p5",
            "p10",
            "p25",
            "p75",
            "p90",
            "p95",
            "p99",
            "min",
            "max",
            "pass_rate",
        ])?;
        let _ = writeln!(text, "aggregate = \"{aggregate}\"");
        if aggregate == "pass_rate" {
            let _ = writeln!(text, "pass_at = {:?}", number_of(u, name)?);
        }
    }
    if rarely(u, 12)? {
        let range = *u.choose(&["[0, 1]", "[-1, 1]", "[0, 5]", "[-1.7e308, 1.7e308]"])?;
        let _ = writeln!(text, "range = {range}");
    }
    match u.int_in_range(0..=7_u8)? {
        6 => *text += "severity = \"warn\"\n",
        7 => *text += "severity = \"off\"\n",
        _ => {}
    }
    Ok(())
}

fn slice_entry(u: &mut Unstructured<'_>, metrics: &[&str], text: &mut String) -> Result<()> {
    let _ = writeln!(text, "[[slices]]\ntag = \"{}\"", u.choose(&TAGS)?);
    if rarely(u, 4)? {
        let _ = writeln!(
            text,
            "values = [\"{}\", \"{}\"]",
            u.choose(&VALUES)?,
            u.choose(&VALUES)?
        );
    }
    let mut named = metrics;
    if rarely(u, 3)? {
        named = std::slice::from_ref(u.choose(metrics)?);
        let _ = writeln!(text, "metrics = [\"{}\"]", named[0]);
    }
    if rarely(u, 3)? {
        let _ = writeln!(text, "min = {:?}", share(u)?);
    } else if rarely(u, 3)? {
        let _ = writeln!(text, "max = {:?}", share(u)?);
    }
    // Each metric takes the one of its direction.
    let lower = named.iter().any(|name| LOWER.contains(name));
    let higher = named.iter().any(|name| !LOWER.contains(name));
    let mut write = |key: &str| -> Result<()> {
        let _ = writeln!(text, "{key} = {}", limit(u)?);
        Ok(())
    };
    if higher {
        write("max_drop")?;
    }
    if lower {
        write("max_rise")?;
    }
    if !rarely(u, 3)? {
        let _ = writeln!(text, "min_samples = {}", u.int_in_range(0..=3_u8)?);
    }
    match u.int_in_range(0..=7_u8)? {
        6 => *text += "severity = \"warn\"\n",
        7 => *text += "severity = \"off\"\n",
        _ => {}
    }
    Ok(())
}

fn side(u: &mut Unstructured<'_>, metrics: &[&str]) -> Result<Side> {
    match u.int_in_range(0..=9_u8)? {
        8 => {
            let means: Vec<String> = metrics
                .iter()
                .map(|metric| Ok(format!("\"{metric}\": {}", score(u, metric)?)))
                .collect::<Result<_>>()?;
            let head = means.join(", ");
            Ok(Side {
                head,
                samples: None,
            })
        }
        9 => {
            let mut head = run(u, metrics)?;
            if rarely(u, 2)? {
                let variants: Vec<String> = VARIANTS
                    .iter()
                    .map(|name| {
                        Ok(format!(
                            "\"{name}\": {{\"metrics\": {}}}",
                            summaries(u, metrics)?
                        ))
                    })
                    .collect::<Result<_>>()?;
                let _ = write!(head, ", \"variants\": {{{}}}", variants.join(", "));
            } else {
                let _ = write!(head, ", \"metrics\": {}", summaries(u, metrics)?);
            }
            Ok(Side {
                head,
                samples: None,
            })
        }
        _ => {
            let head = run(u, metrics)?;
            let samples = Some(samples(u, metrics)?);
            Ok(Side { head, samples })
        }
    }
}

/// A number, true or false, or what stands where there is none.
fn score(u: &mut Unstructured<'_>, metric: &str) -> Result<String> {
    Ok(match u.int_in_range(0..=23_u8)? {
        20 => "true".to_owned(),
        21 => "false".to_owned(),
        22 => "null".to_owned(),
        23 => "NaN".to_owned(),
        _ => format!("{:?}", number_of(u, metric)?),
    })
}

fn summaries(u: &mut Unstructured<'_>, metrics: &[&str]) -> Result<String> {
    let mut entries = Vec::new();
    for metric in metrics {
        if rarely(u, 6)? {
            continue;
        }
        let mean = score(u, metric)?;
        let mut entry = format!("\"{metric}\": {{\"mean\": {mean}");
        if !matches!(mean.as_str(), "null" | "NaN") && rarely(u, 2)? {
            let n = if rarely(u, 8)? {
                8_999_999_999_999_999
            } else {
                u.int_in_range(1..=100_u64)?
            };
            let _ = write!(entry, ", \"n\": {n}");
        }
        if rarely(u, 2)? {
            let failed = if rarely(u, 8)? {
                8_999_999_999_999_999
            } else {
                u.int_in_range(0..=9_u64)?
            };
            let _ = write!(entry, ", \"failed\": {failed}");
        }
        if rarely(u, 4)? {
            let _ = write!(entry, ", \"stderr\": {:?}", number(u)?.abs());
        }
        entry += "}";
        entries.push(entry);
    }
    Ok(format!("{{{}}}", entries.join(", ")))
}

fn run(u: &mut Unstructured<'_>, metrics: &[&str]) -> Result<String> {
    let mut run = Vec::new();
    if rarely(u, 8)? {
        run.push(format!("\"complete\": {}", u.arbitrary::<bool>()?));
    }
    if rarely(u, 3)? {
        let hash = *u.choose(&["aa", "bb"])?;
        let samples = match u.int_in_range(0..=15_u8)? {
            15 => u64::MAX,
            14 => 1_000_000,
            few => u64::from(few),
        };
        run.push(format!(
            "\"dataset\": {{\"sha256\": \"{hash}\", \"samples\": {samples}}}"
        ));
    }
    if rarely(u, 4)? {
        let model = *u.choose(&["judge-1", "judge-2"])?;
        run.push(format!("\"judge\": {{\"model\": \"{model}\"}}"));
    }
    if rarely(u, 8)? {
        run.push("\"subset\": {\"of\": 10, \"seed\": 1}".to_owned());
    }
    if rarely(u, 3)? {
        let mut infos = Vec::new();
        for metric in metrics {
            let mut info = Vec::new();
            if rarely(u, 2)? {
                info.push(format!(
                    "\"direction\": \"{}\"",
                    u.choose(&["higher", "lower"])?
                ));
            }
            if rarely(u, 2)? {
                let range = *u.choose(&["[0, 1]", "[0, 1]", "[-1, 100000]"])?;
                info.push(format!("\"range\": {range}"));
            }
            if rarely(u, 4)? {
                info.push(format!("\"version\": {}", u.int_in_range(1..=2_u8)?));
            }
            infos.push(format!("\"{metric}\": {{{}}}", info.join(", ")));
        }
        run.push(format!("\"metrics\": {{{}}}", infos.join(", ")));
    }
    Ok(format!(
        "\"schema\": \"rag-gate/results/1\", \"run\": {{{}}}",
        run.join(", ")
    ))
}

fn samples(u: &mut Unstructured<'_>, metrics: &[&str]) -> Result<Vec<String>> {
    let with_variants = rarely(u, 3)?;
    let with_repeats = rarely(u, 3)?;
    let with_clusters = rarely(u, 2)?;
    let with_hashes = rarely(u, 3)?;
    let mut known = HashSet::new();
    let mut samples = Vec::new();
    for _ in 0..u.int_in_range(0..=12_u8)? {
        let id = *u.choose(&IDS)?;
        let variant = if with_variants {
            u.int_in_range(0..=3_usize)?
        } else {
            2
        };
        let repeat = if with_repeats {
            u.int_in_range(0..=2_u8)?
        } else {
            0
        };
        if !known.insert((id, variant, repeat)) {
            continue;
        }
        let mut sample = format!("{{\"id\": \"{id}\"");
        if let Some(variant) = VARIANTS.get(variant) {
            let _ = write!(sample, ", \"variant\": \"{variant}\"");
        }
        if repeat > 0 {
            let _ = write!(sample, ", \"repeat\": {repeat}");
        }
        if with_clusters && !rarely(u, 4)? {
            let _ = write!(sample, ", \"cluster\": \"{}\"", u.choose(&CLUSTERS)?);
        }
        if with_hashes {
            let _ = write!(
                sample,
                ", \"input_sha256\": \"{}\"",
                u.choose(&["aa", "AA", "bb"])?
            );
        }
        sample += &tags(u)?;
        sample += &scores(u, metrics)?;
        sample += "}";
        samples.push(sample);
    }
    Ok(samples)
}

fn tags(u: &mut Unstructured<'_>) -> Result<String> {
    let mut tags = Vec::new();
    for tag in TAGS {
        match u.int_in_range(0..=7_u8)? {
            0 => {}
            1 => tags.push(format!(
                "\"{tag}\": [\"{}\", \"{}\"]",
                u.choose(&VALUES)?,
                u.choose(&VALUES)?
            )),
            2 => tags.push(format!("\"{tag}\": []")),
            _ => tags.push(format!("\"{tag}\": \"{}\"", u.choose(&VALUES)?)),
        }
    }
    Ok(format!(", \"tags\": {{{}}}", tags.join(", ")))
}

fn scores(u: &mut Unstructured<'_>, metrics: &[&str]) -> Result<String> {
    let (mut scores, mut failures, mut not_applicable) = (Vec::new(), Vec::new(), Vec::new());
    for metric in metrics {
        match u.int_in_range(0..=15_u8)? {
            13 => {}
            14 => {
                scores.push(format!("\"{metric}\": null"));
                let kind = *u.choose(&KINDS)?;
                failures.push(format!(
                    "\"{metric}\": {{\"kind\": \"{kind}\", \"message\": \"it broke\"}}"
                ));
            }
            15 => {
                scores.push(format!("\"{metric}\": null"));
                not_applicable.push(format!("\"{metric}\": \"no reference\""));
            }
            _ => scores.push(format!("\"{metric}\": {}", score(u, metric)?)),
        }
    }
    Ok(format!(
        ", \"scores\": {{{}}}, \"failures\": {{{}}}, \"not_applicable\": {{{}}}",
        scores.join(", "),
        failures.join(", "),
        not_applicable.join(", ")
    ))
}

fn history(u: &mut Unstructured<'_>, metrics: &[&str]) -> Result<String> {
    let mut lines = String::new();
    for day in 1..=u.int_in_range(0..=4_u8)? {
        let model = *u.choose(&["judge-1", "judge-1", "judge-2"])?;
        let _ = write!(
            lines,
            "{{\"accepted\": {{\"at\": \"2026-10-0{day}\"}}, \"judge_model\": \"{model}\""
        );
        if rarely(u, 6)? {
            let _ = write!(lines, ", \"reset\": [\"{}\"]", u.choose(metrics)?);
        }
        let mut entries = Vec::new();
        for metric in metrics {
            let mut entry = format!("\"{metric}\": {{\"mean\": {:?}", number_of(u, metric)?);
            if rarely(u, 2)? {
                let (change, stderr) = (number_of(u, metric)? / 4.0, number_of(u, metric)?.abs());
                let sign = if u.arbitrary()? { "-" } else { "" };
                let _ = write!(
                    entry,
                    ", \"change\": {sign}{:?}, \"change_stderr\": {stderr:?}",
                    change.abs()
                );
            }
            entries.push(entry + "}");
        }
        let entries = entries.join(", ");
        if rarely(u, 4)? {
            let _ = write!(
                lines,
                ", \"variants\": {{\"dense\": {{\"metrics\": {{{entries}}}}}}}"
            );
        } else {
            let _ = write!(lines, ", \"metrics\": {{{entries}}}");
        }
        lines += "}\n";
    }
    Ok(lines)
}
