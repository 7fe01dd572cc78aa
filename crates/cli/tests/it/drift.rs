//! Prose that states a fact is compared with the fact: schemas, help, exit codes, keys, paths.
