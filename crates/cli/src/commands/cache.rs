//! `rag-gate cache`: looks after the answers that were paid for.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use gate::policy::{CacheMode, Policy};
use reporter::plain;
use runner::cache::{Cache, CacheError, Removed, Stats};

use super::{beside, config_path, policy, units};
use crate::args::{CacheArgs, CacheCommand};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::{console, input, output};

pub(crate) fn run(args: &CacheArgs) -> Result<ExitCode, Error> {
    let is_named = args.path.is_some();
    let path = match &args.path {
        Some(path) => path.clone(),
        None => {
            let config = config_path(args.config.as_deref())?;
            let (policy, _) = policy(config.as_deref())?;
            path_of(&policy, config.as_deref())
        }
    };
    // What is made by unpacking does not have to be there; what was named to be looked at does.
    let is_unpack = matches!(args.command, CacheCommand::Unpack { .. });
    let is_pack = matches!(args.command, CacheCommand::Pack { .. });
    if !path.exists() && (is_pack || is_named && !is_unpack) {
        return Err(Error::Missing {
            what: "the cache",
            path: path.display().to_string(),
            help: "a run makes it; --path names another one".to_owned(),
        });
    }
    let cache = Cache::open(&path, CacheMode::ReadWrite).map_err(of)?;
    let text = match &args.command {
        CacheCommand::Stats => stats(&path, &cache.stats().map_err(of)?),
        CacheCommand::Prune {
            older_than,
            max_size,
        } => {
            let before = older_than.map(units::Age::ago);
            let max_bytes = max_size.map(|size| size.0);
            removed(&cache.prune(before, max_bytes).map_err(of)?)
        }
        CacheCommand::Clear => removed(&cache.clear().map_err(of)?),
        CacheCommand::Pack { file } => return pack(&cache, file),
        CacheCommand::Unpack { file } => unpack(&cache, file)?,
    };
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

/// The cache of gate.toml.
pub(crate) fn path_of(policy: &Policy, config: Option<&Path>) -> PathBuf {
    let named = policy
        .file()
        .cache
        .as_ref()
        .and_then(|cache| cache.path.as_deref());
    beside(config, named.unwrap_or(runner::cache::PATH))
}

fn stats(path: &Path, stats: &Stats) -> String {
    let mut text = format!("{}\n", plain(&path.display().to_string()));
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:14}{value}");
    };
    fact(
        "answers",
        &format!("{} ({})", stats.files, units::size(stats.bytes)),
    );
    if let (Some(oldest), Some(newest)) = (stats.oldest, stats.newest) {
        let (oldest, newest) = (units::moment(oldest), units::moment(newest));
        fact("given", &format!("{oldest} to {newest} UTC"));
    }
    for (model, of_model) in &stats.models {
        let size = units::size(of_model.bytes);
        let model = model.as_deref().unwrap_or("a model without a name");
        fact(
            "",
            &format!("{} ({size}) by {}", of_model.files, plain(model)),
        );
    }
    for (name, count, what) in [
        (
            "damaged",
            stats.damaged,
            "asked for again when needed; `cache prune` removes them",
        ),
        (
            "foreign",
            stats.foreign,
            "not written by rag-gate, and left alone",
        ),
        (
            "unfinished",
            stats.leftovers,
            "`cache prune` removes those of dead processes",
        ),
    ] {
        if count > 0 {
            fact(name, &format!("{count} ({what})"));
        }
    }
    text
}

fn removed(removed: &Removed) -> String {
    let mut text = format!(
        "removed {} ({})",
        answers(removed.files),
        units::size(removed.bytes)
    );
    if removed.damaged > 0 {
        let _ = write!(text, ", {} damaged", removed.damaged);
    }
    if removed.leftovers > 0 {
        let _ = write!(text, ", {} unfinished", removed.leftovers);
    }
    let _ = writeln!(
        text,
        "; {} left ({})",
        removed.kept,
        units::size(removed.kept_bytes)
    );
    if removed.foreign > 0 {
        let _ = writeln!(
            text,
            "left alone, for rag-gate has not written it: {} in the folder",
            files(removed.foreign)
        );
    }
    text
}

/// A pack may replace an older pack, and nothing else.
fn refuse_foreign(file: &Path) -> Result<(), Error> {
    use std::io::Read;
    const START: &[u8] = b"{\"schema\":\"rag-gate/answer/";
    let mut start = Vec::new();
    if file.is_file()
        && let Ok(found) = std::fs::File::open(file)
        && found
            .take(START.len() as u64)
            .read_to_end(&mut start)
            .is_ok()
        && !start.is_empty()
        && start != START
    {
        return Err(Error::Usage {
            message: format!("{} is there, and is no pack", file.display()),
            help: Some("name a new file".to_owned()),
        });
    }
    Ok(())
}

fn pack(cache: &Cache, file: &Path) -> Result<ExitCode, Error> {
    let packed = if file.to_str() == Some(input::STDIN) {
        cache
            .pack(io::stdout().lock())
            .map_err(|error| of_pack(error, Path::new("standard output")))?
    } else {
        refuse_foreign(file)?;
        let mut packed = None;
        output::replace_with(file, |out| {
            packed = Some(cache.pack(out).map_err(|error| match error {
                CacheError::Pack { source } => source,
                other => io::Error::other(other),
            })?);
            Ok(())
        })?;
        packed.unwrap_or_default()
    };
    // Standard output may be the pack.
    console::note(&format!(
        "packed {} ({})",
        answers(packed.entries),
        units::size(packed.bytes)
    ));
    if packed.damaged + packed.foreign > 0 {
        console::note(&format!(
            "left out: {} damaged, {} not written by rag-gate",
            packed.damaged, packed.foreign
        ));
    }
    Ok(ExitCode::Pass)
}

fn unpack(cache: &Cache, file: &Path) -> Result<String, Error> {
    let unpacked = if file.to_str() == Some(input::STDIN) {
        cache.unpack(io::stdin().lock())
    } else {
        let file = File::open(file).map_err(|error| Error::Unreadable {
            path: input::name(file),
            error,
        })?;
        cache.unpack(file)
    };
    let unpacked = unpacked.map_err(|error| of_pack(error, file))?;
    let mut text = format!(
        "added {}; {} were there already\n",
        answers(unpacked.added),
        unpacked.known
    );
    if unpacked.differing > 0 {
        let _ = writeln!(
            text,
            "kept {} of this cache to which the file has another one",
            answers(unpacked.differing)
        );
    }
    Ok(text)
}

fn answers(count: u64) -> String {
    match count {
        1 => "1 answer".to_owned(),
        _ => format!("{count} answers"),
    }
}

fn files(count: u64) -> String {
    match count {
        1 => "1 file".to_owned(),
        _ => format!("{count} files"),
    }
}

/// An error of the cache as one of the command.
pub(crate) fn of(error: CacheError) -> Error {
    of_pack(error, Path::new("the pack"))
}

/// As [`of`], where a pack is read or written.
fn of_pack(error: CacheError, pack: &Path) -> Error {
    let pack = input::name(pack);
    match error {
        CacheError::Unreadable { path, source } => Error::Unreadable {
            path: path.display().to_string(),
            error: source,
        },
        CacheError::Unwritable { path, source } => Error::Output {
            path,
            error: source,
        },
        CacheError::Pack { source } => Error::Unreadable {
            path: pack,
            error: source,
        },
        CacheError::NotAFolder { .. } => Error::Refused {
            message: error.to_string(),
            help: Some("name a folder with --path or in [cache] of gate.toml".to_owned()),
        },
        CacheError::NotAPack { .. } => Error::Refused {
            message: format!("{pack}: {error}"),
            help: Some(
                "nothing was unpacked; `rag-gate cache pack` writes what this command reads"
                    .to_owned(),
            ),
        },
        CacheError::NotStorable { .. } => Error::Refused {
            message: error.to_string(),
            help: None,
        },
    }
}
