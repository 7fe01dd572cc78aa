//! Metrics of what was retrieved against what should have been: formulas over ids, or over texts where there are none.

mod hit_rate;
mod ranking;
mod recall;

pub(crate) use hit_rate::HitRate;
pub(crate) use recall::Recall;

use gate::policy::Direction;

use crate::Info;

fn info(name: &str) -> Info {
    Info {
        name: name.to_owned(),
        version: "1".to_owned(),
        prompt_sha256: None,
        direction: Direction::Higher,
        range: Some([0.0, 1.0]),
        judged: false,
        embeds: false,
        // None alone: ids, ids within the passages, or texts will do.
        needs: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
