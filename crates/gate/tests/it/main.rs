//! Integration tests of the gate: one binary, one module a subject.

mod expected;
mod fixtures;
mod properties_stats;
