//! A judge without a model: how far the words of each item occur in the evidence.

use crate::request::{Reading, Request};

/// The answer.
pub fn answer(_: &Request) -> Option<Reading> {
    None
}
