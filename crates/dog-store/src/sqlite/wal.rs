//! Whether the write-ahead log is intact.
//!
//! SQLite reads the log up to the first frame with a wrong checksum, and takes the rest for a write
//! that was interrupted by a crash. If that frame was damaged on disk instead, SQLite silently
//! drops every commit after it. [`check`] finds such commits.
//!
//! The format of the log is described at <https://www.sqlite.org/fileformat2.html#walformat>, that
//! of its index at <https://www.sqlite.org/walformat.html>.

use std::{
    fs::{self, File},
    io::{self, BufReader, ErrorKind, Read},
    path::Path,
    thread,
    time::Duration,
};

use super::connect::sidecar;
use crate::StoreError;

/// The size of the log's header in bytes.
const LOG_HEADER_BYTES: usize = 32;

/// The size of a frame's header in bytes. The page follows it.
const FRAME_HEADER_BYTES: usize = 24;

/// How often a log that looks damaged is read. Another process may be writing it.
const READ_ATTEMPTS: u32 = 4;

/// The time between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The contents of a log.
#[derive(Debug, Default)]
struct WalContents {
    /// The salts of its header; valid frames have the same.
    salts: [u8; 8],
    /// The number of frames up to the last commit that can be read.
    readable_frames: u32,
    /// The number of commits after the first damaged frame.
    unreadable_commits: u32,
}

/// Checks that every commit in a database's write-ahead log can be read.
///
/// # Errors
/// A commit is damaged, or the files cannot be read.
pub(super) fn check(database: &Path) -> Result<(), StoreError> {
    let mut damage = String::new();
    for attempt in 0..READ_ATTEMPTS {
        if attempt > 0 {
            thread::sleep(RETRY_DELAY);
        }
        // The index is read first, because the log may grow in the meantime.
        let index = index_state(&sidecar(database, "-shm")).map_err(StoreError::create)?;
        let contents = match read(&sidecar(database, "-wal")).map_err(StoreError::create)? {
            Some(Ok(contents)) => contents,
            Some(Err(what)) => {
                damage = what.into();
                continue;
            }
            None => return Ok(()),
        };
        let known = index.filter(|(salts, _)| *salts == contents.salts);
        let missing = known.is_some_and(|(_, frames)| frames > contents.readable_frames);
        // A commit is on disk before the next one begins, so a crash damages at most the last.
        if !missing && contents.unreadable_commits < 2 {
            return Ok(());
        }
        let frame = contents.readable_frames + 1;
        damage = format!("commits after frame {frame} cannot be read");
    }
    Err(StoreError::Damaged(format!(
        "its write-ahead log is damaged: {damage}"
    )))
}

/// Reads a log. `None` if it is missing or empty; an inner error if its header is damaged.
fn read(path: &Path) -> io::Result<Option<Result<WalContents, &'static str>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut header = [0; LOG_HEADER_BYTES];
    let mut first = [0; FRAME_HEADER_BYTES];
    if !read_full(&mut file, &mut header)? || !read_full(&mut file, &mut first)? {
        return Ok(None);
    }
    if header == [0; LOG_HEADER_BYTES] && first == [0; FRAME_HEADER_BYTES] {
        return Ok(None);
    }
    let big_endian = match be_u32(&header, 0) {
        0x377f_0682 => false,
        0x377f_0683 => true,
        _ => return Ok(Some(Err("its magic number is wrong"))),
    };
    let mut checksum = Checksum {
        big_endian,
        sums: (0, 0),
    };
    checksum.update(&header[..24]);
    let page = be_u32(&header, 8) as usize;
    if !checksum.matches(&header[24..])
        || !page.is_power_of_two()
        || !(512..=65_536).contains(&page)
    {
        return Ok(Some(Err("the checksum of its header is wrong")));
    }
    let mut contents = WalContents::default();
    contents.salts.copy_from_slice(&header[16..24]);
    let (mut frame, mut data) = (first, vec![0; page]);
    let (mut number, mut whole) = (0, true);
    while read_full(&mut file, &mut data)? {
        number += 1;
        let ours = frame[8..16] == contents.salts;
        if whole {
            checksum.update(&frame[..8]);
            checksum.update(&data);
            whole = ours && checksum.matches(&frame[16..]);
        }
        let commits = be_u32(&frame, 4) != 0;
        if whole && commits {
            contents.readable_frames = number;
        } else if ours && commits {
            contents.unreadable_commits += 1;
        }
        if !read_full(&mut file, &mut frame)? {
            break;
        }
    }
    Ok(Some(Ok(contents)))
}

/// The salts and the number of committed frames according to the log's index, if it can be read.
/// The index survives a killed process, but not a power failure.
fn index_state(path: &Path) -> io::Result<Option<([u8; 8], u32)>> {
    let mut file = match fs::File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut header = [0; 2 * INDEX_HEADER_BYTES];
    if !read_full(&mut file, &mut header)? {
        return Ok(None);
    }
    let whole = header[..INDEX_HEADER_BYTES] == header[INDEX_HEADER_BYTES..]
        && native_u32(&header, 0) == 3_007_000
        && header[12] == 1;
    let mut salts = [0; 8];
    salts.copy_from_slice(&header[32..40]);
    Ok(whole.then(|| (salts, native_u32(&header, 16))))
}

/// The size of the header of a log's index in bytes. The file has two copies of it.
const INDEX_HEADER_BYTES: usize = 48;

/// The checksum of a log, which is cumulative over its frames.
struct Checksum {
    /// The byte order of the input. The checksum itself is always stored as big-endian.
    big_endian: bool,
    sums: (u32, u32),
}

impl Checksum {
    fn update(&mut self, bytes: &[u8]) {
        let (mut one, mut two) = self.sums;
        for pair in bytes.chunks_exact(8) {
            one = one.wrapping_add(self.number(pair, 0)).wrapping_add(two);
            two = two.wrapping_add(self.number(pair, 4)).wrapping_add(one);
        }
        self.sums = (one, two);
    }

    fn number(&self, bytes: &[u8], at: usize) -> u32 {
        if self.big_endian {
            be_u32(bytes, at)
        } else {
            u32::from_le_bytes(four_bytes(bytes, at))
        }
    }

    fn matches(&self, written: &[u8]) -> bool {
        self.sums == (be_u32(written, 0), be_u32(written, 4))
    }
}

fn be_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(four_bytes(bytes, at))
}

fn native_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(four_bytes(bytes, at))
}

fn four_bytes(bytes: &[u8], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

/// Fills the buffer. Returns whether the file was long enough.
fn read_full(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
