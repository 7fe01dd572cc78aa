//! Where a verdict goes: renderings to standard output and to files, each file replaced as a whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use gate::verdict::Verdict;
use reporter::{Format, Options, render};

use crate::console;
use crate::error::Error;

/// `FORMAT` or `FORMAT=PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    format: Format,
    /// `None` is standard output.
    path: Option<PathBuf>,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, path) = match text.split_once('=') {
            Some((format, "" | "-")) => (format, None),
            Some((format, path)) => (format, Some(PathBuf::from(path))),
            None => (text, None),
        };
        let format = format
            .parse()
            .map_err(|error: reporter::UnknownFormat| error.to_string())?;
        Ok(Output { format, path })
    }
}

/// Refuses renderings that would overwrite an input, or one another.
pub(crate) fn refuse_overwriting(outputs: &[Output], inputs: &[PathBuf]) -> Result<(), Error> {
    // Annotations may stand among other text, for the runner picks them out.
    let on_stdout = |output: &&Output| output.path.is_none() && output.format != Format::Github;
    if outputs.iter().filter(on_stdout).count() > 1 {
        return Err(Error::Usage {
            message: "two outputs go to standard output".to_owned(),
            help: Some("give all but one a file: --output json=verdict.json".to_owned()),
        });
    }
    let mut taken: Vec<PathBuf> = Vec::new();
    for path in outputs.iter().filter_map(|output| output.path.as_ref()) {
        let target = absolute(path);
        // Devices and pipes take what they are given.
        if target.exists() && !target.is_file() {
            continue;
        }
        let refused = |message: String| {
            Err(Error::Usage {
                message,
                help: Some("give every --output a file of its own".to_owned()),
            })
        };
        if inputs.iter().any(|input| absolute(input) == target) {
            return refused(format!(
                "--output would overwrite {}, which this command reads",
                path.display()
            ));
        }
        if taken.contains(&target) {
            return refused(format!(
                "two --output would overwrite each other in {}",
                path.display()
            ));
        }
        taken.push(target);
    }
    Ok(())
}

/// Refuses to write where something stands that the command reads.
#[cfg(feature = "runner")]
pub(crate) fn refuse_to_overwrite(
    path: &Path,
    option: &str,
    inputs: &[PathBuf],
) -> Result<(), Error> {
    let target = absolute(path);
    // Devices and pipes take what they are given.
    let is_special = target.exists() && !target.is_file() && !target.is_dir();
    if !is_special && inputs.iter().any(|input| absolute(input) == target) {
        return Err(Error::Usage {
            message: format!(
                "{option} would overwrite {}, which this command reads",
                path.display()
            ),
            help: Some(format!("give {option} a file of its own")),
        });
    }
    Ok(())
}

/// The one name of a file, whether it is there or not.
fn absolute(path: &Path) -> PathBuf {
    if let Ok(found) = fs::canonicalize(path) {
        return found;
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Writes every rendering that was asked for, and the text report unless standard output is taken.
///
/// All of them are attempted; the first failure is returned.
pub(crate) fn write(verdict: &Verdict, outputs: &[Output], show_text: bool) -> Result<(), Error> {
    // Annotations are for the runner to pick out of the log, the text is for its reader.
    let taken = outputs
        .iter()
        .any(|output| output.path.is_none() && output.format != Format::Github);
    let mut result = Ok(());
    if !taken {
        let options = Options {
            colour: console::stdout_colour(),
            width: console::width(),
            show_text,
        };
        result = result.and(console::print(&render(verdict, Format::Text, &options)));
    }
    result.and(write_machine(verdict, outputs, show_text))
}

/// Writes only what was asked for by name.
pub(crate) fn write_machine(
    verdict: &Verdict,
    outputs: &[Output],
    show_text: bool,
) -> Result<(), Error> {
    let mut result = Ok(());
    for output in outputs {
        let options = Options {
            colour: output.path.is_none() && console::stdout_colour(),
            width: console::width(),
            show_text,
        };
        let text = render(verdict, output.format, &options);
        let written = match &output.path {
            None => console::print(&text),
            Some(path) => replace(path, text.as_bytes()),
        };
        result = result.and(written);
    }
    result
}

/// Whether [`replace_with`] will have a place to write to, as far as that can be known before; nothing is left behind.
#[cfg(feature = "runner")]
pub(crate) fn check_writable(path: &Path) -> Result<(), Error> {
    let failed = |error| Error::Output {
        path: path.to_owned(),
        error,
    };
    let target = absolute(path);
    if target.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    if target.exists() && !target.is_file() {
        return Ok(());
    }
    let above = target.ancestors().skip(1);
    let folder = above
        .map(|above| match above.as_os_str().is_empty() {
            true => Path::new("."),
            false => above,
        })
        .find(|above| above.exists());
    tempfile::tempfile_in(folder.unwrap_or_else(|| Path::new(".")))
        .map(drop)
        .map_err(failed)
}

/// Replaces a file as a whole: whoever reads it sees the old one or the new one, also after a crash.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), Error> {
    replace_with(path, |file| file.write_all(content))
}

/// As [`replace`], for content that is written piece by piece.
pub(crate) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let failed = |error| Error::Output {
        path: path.to_owned(),
        error,
    };
    // A link stays a link, and a device or pipe cannot be replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .open(&target)
            .map_err(failed)?;
        return write(&mut file).map_err(failed);
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file = io::BufWriter::new(temporary(folder, &target).map_err(failed)?);
    write(&mut file)
        .and_then(|()| file.flush())
        .map_err(failed)?;
    let file = file
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Keeps other updates of the files in a folder waiting until the lock is dropped.
///
/// The folder itself is locked, which leaves no file behind. `None` where a folder cannot be locked: on Windows, and on
/// some network file systems.
pub(crate) fn lock_folder(path: &Path) -> Result<Option<fs::File>, Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder).map_err(|error| Error::Output {
        path: path.to_owned(),
        error,
    })?;
    let folder = fs::File::open(folder).ok();
    Ok(folder.filter(|folder| folder.lock().is_ok()))
}

/// A new file with the permissions that any new file has, or those of the file it replaces.
#[cfg(unix)]
fn temporary(folder: &Path, target: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let existing = fs::metadata(target)
        .map(|metadata| metadata.permissions())
        .ok();
    let permissions = existing.unwrap_or_else(|| fs::Permissions::from_mode(0o666));
    tempfile::Builder::new()
        .prefix(".rag-gate-")
        .permissions(permissions)
        .tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path, _: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}
