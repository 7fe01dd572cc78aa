//! The same bytes, handed over in other portions.

use std::io::{self, Read};

/// Size of the portions in which `gate::results` fills its buffer.
const CHUNK: usize = 256 * 1024;

/// Hands bytes over one to seven at a time, and says now and then that it was interrupted.
pub struct Dribble<'a> {
    rest: &'a [u8],
    state: u64,
}

impl<'a> Dribble<'a> {
    /// The portions depend on the bytes alone.
    pub fn new(bytes: &'a [u8]) -> Self {
        Dribble {
            rest: bytes,
            state: hash(bytes) | 1,
        }
    }
}

impl Read for Dribble<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let random = (self.state >> 33) as usize;
        if random.is_multiple_of(13) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = (1 + random % 7).min(self.rest.len()).min(into.len());
        let (now, rest) = self.rest.split_at(count);
        into[..count].copy_from_slice(now);
        self.rest = rest;
        Ok(count)
    }
}

/// The bytes behind so much white space that the end of the reader's buffer falls `at` bytes into them.
pub fn across_the_buffer(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut padded = vec![b' '; CHUNK - at.min(CHUNK)];
    padded.extend_from_slice(bytes);
    padded
}

/// A number that depends on the bytes alone (FNV-1a).
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
