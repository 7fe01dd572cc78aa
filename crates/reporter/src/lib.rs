//! Renders a verdict.
