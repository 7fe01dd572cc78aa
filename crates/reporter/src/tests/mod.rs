//! Tests over whole documents.

mod documents;
mod fixtures;
mod hostile;
