//! A judge for tests and benchmarks: an OpenAI-compatible server on loopback with latency, faults and capacity.
//!
//! ```text
//! POST /v1/chat/completions   an answer that has the form of the schema that was sent, or of the prompt's numbered items
//! POST /v1/embeddings         vectors: equal texts have equal ones, texts that share words have similar ones
//! GET  /v1/models             the model
//! GET  /stats, POST /reset    what was called so far; from the start
//! ```
//!
//! Nothing is drawn from entropy: latency and faults depend on the number of the call, answers on what was asked.

mod answer;
mod embed;
mod handle;
mod hash;
mod server;
mod settings;
mod stats;

pub use server::Server;
pub use settings::{Faults, Formats, Latency, Settings};
pub use stats::Stats;
