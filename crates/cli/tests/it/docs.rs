//! The console blocks of README.md and docs/ print what they say.
