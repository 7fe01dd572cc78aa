//! One file a subject: what the command does.
