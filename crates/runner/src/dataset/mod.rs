//! The dataset: rows of whatever shape and names in, samples out.
//!
//! ```text
//! file ─▶ shape (JSONL, array, object, columns, CSV) ─▶ row ─▶ mapping ─▶ Sample ─▶ spool ─▶ Dataset::sample
//! ```
//!
//! A row is taken apart where it stands in the buffer, and only what is asked for is made a value of; which name means
//! which column is worked out once for each set of names. The samples wait in memory or in a temporary file, so that a
//! file of a million rows is never in memory as a whole.

mod collect;
mod csv;
mod error;
mod ids;
mod json;
mod literal;
mod mapping;
mod measured;
mod names;
mod options;
mod row;
mod scan;
mod shape;
mod spool;
mod stream;
#[cfg(test)]
mod tests;
mod value;

pub use error::DatasetError;
pub use options::Options;

use std::collections::HashMap;
use std::io::Read;

use metrics::{Column, Sample};

use collect::Collector;
use error::Place;
use spool::Spool;

/// The samples of a file, in its order.
#[derive(Debug)]
pub struct Dataset {
    spool: Spool,
    /// Bytes of text in each sample.
    sizes: Vec<u32>,
    has: [usize; Column::ALL.len()],
    recognised: Vec<Recognised>,
    ignored: Vec<String>,
    warnings: Vec<String>,
    /// What is added to made ids that would be equal, by index.
    suffixes: HashMap<usize, String>,
}

/// What was taken from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// The column.
    pub column: Column,
    /// The name in the file, or the path within it.
    pub from: String,
}

impl Dataset {
    /// Reads a dataset of any shape that docs/dataset.md describes.
    ///
    /// `input` is decoded UTF-8 without byte order mark: whoever opens the file has undone gzip, zstd and UTF-16.
    pub fn read(input: impl Read, options: &Options) -> Result<Dataset, DatasetError> {
        let mut collector = Collector::new(options)?;
        shape::read(input, &mut collector)?;
        collector.finish()
    }

    /// A dataset of samples that were read before, at least one, with ids that are unique in their variant.
    pub fn of(samples: impl IntoIterator<Item = Sample>) -> Result<Dataset, DatasetError> {
        let mut collector = Collector::new(&Options::default())?;
        for sample in samples {
            let id = sample.id.clone();
            collector.add(sample, Some(id), &Place::default())?;
        }
        if collector.is_empty() {
            return Err(DatasetError::new("there are no samples"));
        }
        collector.finish()
    }

    /// Number of samples; at least one.
    pub fn len(&self) -> usize {
        self.spool.len()
    }

    /// Never: a file without samples is refused.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sample at `index`, counted from 0 in the order of the file; from as many threads as one likes.
    ///
    /// The error is that of an index beyond the end, or of a temporary file that can no longer be read.
    pub fn sample(&self, index: usize) -> Result<Sample, DatasetError> {
        let mut sample = collect::sample_of(&self.spool, index)?;
        if sample.id.is_empty() {
            sample.id = ids::made(&sample);
            if let Some(suffix) = self.suffixes.get(&index) {
                sample.id.push_str(suffix);
            }
        }
        Ok(sample)
    }

    /// Bytes of text in the sample, for expecting how long a call takes; 0 beyond the end.
    pub fn size(&self, index: usize) -> u32 {
        self.sizes.get(index).copied().unwrap_or(0)
    }

    /// In how many samples the column is present; of ids, those that the file has.
    pub fn has(&self, column: Column) -> usize {
        self.has[column as usize]
    }

    /// What was taken from where, in the order of the columns.
    pub fn recognised(&self) -> &[Recognised] {
        &self.recognised
    }

    /// Columns of the file that mean nothing to us, in the order in which they were met.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// What a reader should know, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
