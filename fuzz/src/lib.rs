//! What the fuzz targets share: generated inputs, inputs that stay the same, and what holds of every verdict.

pub mod fixed;
pub mod input;
pub mod scenario;
pub mod verdict;
