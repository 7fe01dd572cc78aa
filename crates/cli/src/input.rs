//! Files as people have them: compressed, with a byte order mark, in UTF-16, or from standard input.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use gate::history::{self, HistoryLine};
use gate::policy::Policy;
use gate::results::{self, Keep, ReadError, Results};

use crate::error::Error;

/// Standard input, as a file name.
pub(crate) const STDIN: &str = "-";

/// gate.toml, baselines and histories are small; a larger one is another file.
const MAX_TEXT: u64 = 64 << 20;

/// Reads a results file or a baseline.
pub(crate) fn results(path: &Path, keep: Keep) -> Result<Results, Error> {
    let name = name(path);
    let bytes = open(path)?;
    results_from(bytes, &name, keep)
}

/// Reads results from bytes that somebody else fetched.
pub(crate) fn results_from(bytes: impl Read, name: &str, keep: Keep) -> Result<Results, Error> {
    let of = |error: ReadError| Error::Input {
        path: name.to_owned(),
        error,
    };
    let plain = decompress(bytes).map_err(|error| of(unreadable(&error)))?;
    let text = decode(plain).map_err(|error| of(unreadable(&error)))?;
    results::read(text, keep).map_err(of)
}

/// SHA-256 in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    hex(&sha2::Sha256::digest(bytes))
}

/// SHA-256 of a text whose lines end as git keeps them, whatever the working tree makes of them.
pub(crate) fn sha256_of_lines(text: &str) -> String {
    sha256(text.replace("\r\n", "\n").as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The text of a dataset, and the hash of the file as it is stored, complete once the text was read to its end.
#[cfg(feature = "runner")]
pub(crate) fn dataset(path: &Path) -> Result<(Box<dyn Read>, Digest), Error> {
    let digest = Digest::default();
    let hashed = Hashed {
        bytes: open(path)?,
        digest: digest.clone(),
    };
    let unreadable = |error| Error::Unreadable {
        path: name(path),
        error,
    };
    let plain = decompress(hashed).map_err(unreadable)?;
    Ok((decode(plain).map_err(unreadable)?, digest))
}

/// A running SHA-256.
#[cfg(feature = "runner")]
#[derive(Clone, Default)]
pub(crate) struct Digest(std::rc::Rc<std::cell::RefCell<sha2::Sha256>>);

#[cfg(feature = "runner")]
impl Digest {
    /// The hash in lower-case hexadecimal.
    pub(crate) fn finish(&self) -> String {
        use sha2::Digest as _;
        hex(&self.0.borrow().clone().finalize())
    }
}

#[cfg(feature = "runner")]
struct Hashed<R> {
    bytes: R,
    digest: Digest,
}

#[cfg(feature = "runner")]
impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use sha2::Digest as _;
        let count = self.bytes.read(buffer)?;
        if let Some(read) = buffer.get(..count) {
            self.digest.0.borrow_mut().update(read);
        }
        Ok(count)
    }
}

/// Reads gate.toml.
pub(crate) fn policy(path: &Path) -> Result<(Policy, String), Error> {
    let text = text(path).map_err(|error| match error {
        Error::Unreadable { path, error } if error.kind() == io::ErrorKind::InvalidData => {
            Error::Usage {
                message: format!("{path} cannot be read: {error}"),
                help: Some("save it as UTF-8".to_owned()),
            }
        }
        other => other,
    })?;
    let policy = policy_from(&text, &name(path))?;
    Ok((policy, text))
}

/// Reads gate.toml from text that somebody else fetched.
pub(crate) fn policy_from(text: &str, name: &str) -> Result<Policy, Error> {
    Policy::parse(text).map_err(|error| Error::Policy {
        name: name.to_owned(),
        text: text.to_owned(),
        error,
    })
}

/// Reads history.jsonl; `None` when there is none.
pub(crate) fn history(path: &Path) -> Result<Option<Vec<HistoryLine>>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    history_from(&text(path)?, &name(path)).map(Some)
}

/// Reads history.jsonl from text that somebody else fetched.
pub(crate) fn history_from(text: &str, name: &str) -> Result<Vec<HistoryLine>, Error> {
    history::parse(text).map_err(|error| Error::Input {
        path: name.to_owned(),
        error,
    })
}

/// A text file as a whole, in UTF-8.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    text_from(open(path)?, &name(path))
}

/// A text as a whole, in UTF-8, from bytes that somebody else fetched.
pub(crate) fn text_from(bytes: impl Read, name: &str) -> Result<String, Error> {
    text_of(bytes, MAX_TEXT).map_err(|error| Error::Unreadable {
        path: name.to_owned(),
        error,
    })
}

/// A text file of at most so many MiB, in UTF-8.
#[cfg(feature = "runner")]
pub(crate) fn small_text(path: &Path, mebibytes: u64) -> io::Result<String> {
    // Looked at before it is opened, since to open a pipe is to wait for whoever writes into it.
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    if !found.is_file() {
        return Err(io::Error::other("it is no file, but a pipe or a device"));
    }
    text_of(File::open(path)?, mebibytes << 20)
}

fn text_of(bytes: impl Read, most: u64) -> io::Result<String> {
    let mut text = Vec::new();
    decode(bytes)?.take(most + 1).read_to_end(&mut text)?;
    if text.len() as u64 > most {
        let problem = format!("it is larger than {} MiB", most >> 20);
        return Err(io::Error::other(problem));
    }
    String::from_utf8(text)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// The name of a path, for messages.
pub(crate) fn name(path: &Path) -> String {
    match path.to_str() {
        Some(STDIN) => "standard input".to_owned(),
        _ => path.display().to_string(),
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>, Error> {
    if path.to_str() == Some(STDIN) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let unreadable = |error| Error::Unreadable {
        path: name(path),
        error,
    };
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(unreadable(io::Error::other("it is a folder")));
    }
    Ok(Box::new(file))
}

fn unreadable(error: &io::Error) -> ReadError {
    ReadError {
        problem: format!("could not be read: {error}"),
        line: None,
        column: None,
        pointer: None,
        sample: None,
        help: None,
    }
}

/// gzip and Zstandard are told by their first bytes, not by the name of the file.
fn decompress<'a>(mut bytes: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let (start, length) = peek(&mut bytes)?;
    let start = &start[..length];
    let whole = Cursor::new(start.to_vec()).chain(bytes);
    match start {
        [0x1f, 0x8b, ..] => unzip(whole),
        [0x28, 0xb5, 0x2f, 0xfd] => unzstd(whole),
        _ => Ok(Box::new(whole)),
    }
}

#[cfg(feature = "compression")]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the build without compression has an error here"
)]
fn unzip<'a>(bytes: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(Box::new(flate2::read::MultiGzDecoder::new(bytes)))
}

#[cfg(feature = "compression")]
fn unzstd<'a>(bytes: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes)
        .map_err(|error| io::Error::other(format!("no valid Zstandard data: {error}")))?;
    Ok(Box::new(decoder))
}

#[cfg(not(feature = "compression"))]
fn unzip<'a>(_: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Err(io::Error::other(
        "it is compressed with gzip, which this build of rag-gate cannot read",
    ))
}

#[cfg(not(feature = "compression"))]
fn unzstd<'a>(_: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Err(io::Error::other(
        "it is compressed with Zstandard, which this build of rag-gate cannot read",
    ))
}

/// Reads two bytes as one unit of UTF-16.
type Unit = fn([u8; 2]) -> u16;

/// UTF-8 without its byte order mark. UTF-16, which `PowerShell` writes, is told by its mark or by its NULs.
fn decode<'a>(mut bytes: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let (start, length) = peek(&mut bytes)?;
    let (skip, wide): (usize, Option<Unit>) = match &start[..length] {
        [0xef, 0xbb, 0xbf, ..] => (3, None),
        [0xff, 0xfe, ..] => (2, Some(u16::from_le_bytes)),
        [0xfe, 0xff, ..] => (2, Some(u16::from_be_bytes)),
        [first, 0, second, 0] if *first != 0 && *second != 0 => (0, Some(u16::from_le_bytes)),
        [0, first, 0, second] if *first != 0 && *second != 0 => (0, Some(u16::from_be_bytes)),
        _ => (0, None),
    };
    let whole = Cursor::new(start[skip..length].to_vec()).chain(bytes);
    let Some(unit) = wide else {
        return Ok(Box::new(whole));
    };
    let mut raw = Vec::new();
    let mut whole = whole;
    whole.read_to_end(&mut raw)?;
    if raw.len() % 2 != 0 {
        return Err(io::Error::other(
            "it is UTF-16 and ends in the middle of a character: it was cut off",
        ));
    }
    let units = raw.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units)
        .collect::<Result<_, _>>()
        .map_err(|_| io::Error::other("it is no valid UTF-16"))?;
    Ok(Box::new(Cursor::new(text.into_bytes())))
}

/// Up to four first bytes.
fn peek(bytes: &mut impl Read) -> io::Result<([u8; 4], usize)> {
    let mut start = [0; 4];
    let mut length = 0;
    while length < start.len() {
        match bytes.read(&mut start[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((start, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> String {
        let mut text = String::new();
        decode(bytes).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn encodings_that_windows_writes_are_read() {
        let text = "{\"a\": 1, \"é\": 2}";
        let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        let little = wide(u16::to_le_bytes);
        let big = wide(u16::to_be_bytes);
        assert_eq!(decoded(text.as_bytes()), text);
        assert_eq!(decoded(&[b"\xef\xbb\xbf", text.as_bytes()].concat()), text);
        assert_eq!(decoded(&[b"\xff\xfe", little.as_slice()].concat()), text);
        assert_eq!(decoded(&[b"\xfe\xff", big.as_slice()].concat()), text);
        assert_eq!(decoded(&little), text);
        assert_eq!(decoded(&big), text);
        assert_eq!(decoded(b""), "");
        assert_eq!(decoded(b"{}"), "{}");
    }

    #[test]
    fn half_a_character_is_refused() {
        assert!(decode(&b"\xff\xfe{"[..]).is_err());
        assert!(decode(&b"\xff\xfe\x00\xd8"[..]).is_err());
    }
}
