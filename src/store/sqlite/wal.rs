//! The write-ahead log: whether it is whole, and whether anybody has committed.
//!
//! SQLite reads the log up to the first frame that does not fit its checksum, and takes the rest
//! for a write that a crash has cut short. After a crash that is so. If the frame was spoilt on the
//! disk, though, every commit behind it would be lost without a word; this looks for such commits.
//!
//! The log's format is told at <https://www.sqlite.org/fileformat2.html#walformat>, that of its
//! index at <https://www.sqlite.org/walformat.html>.

use std::{
    fs::{self, File},
    io::{self, BufReader, ErrorKind, Read},
    mem::ManuallyDrop,
    path::Path,
    sync::Arc,
    thread,
    time::Duration,
};

use super::connect::beside;
use crate::store::StoreError;

/// Bytes before the first frame.
const HEADER: usize = 32;

/// Bytes of a frame before its page.
const FRAME: usize = 24;

/// How often a log is read again that looks spoilt: somebody may be writing it.
const LOOKS: u32 = 4;

/// How long to wait before.
const PAUSE: Duration = Duration::from_millis(50);

/// What a log holds.
#[derive(Debug, Default)]
struct Contents {
    /// What its frames have in common.
    salts: [u8; 8],
    /// Frames up to the last commit that can be read.
    readable: u32,
    /// Commits behind the first frame that cannot.
    beyond: u32,
}

/// Makes sure that every commit in a database's write-ahead log can be read.
///
/// # Errors
/// One cannot, or the files cannot be read.
pub(super) fn check(database: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::Create(Arc::new(error));
    let mut spoilt = String::new();
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        // The index comes first: the log may grow meanwhile.
        let index = index(&beside(database, "-shm")).map_err(failed)?;
        let contents = match read(&beside(database, "-wal")).map_err(failed)? {
            Some(Ok(contents)) => contents,
            Some(Err(what)) => {
                spoilt = what.into();
                continue;
            }
            None => return Ok(()),
        };
        let known = index.filter(|(salts, _)| *salts == contents.salts);
        let missing = known.is_some_and(|(_, frames)| frames > contents.readable);
        // A commit is on the disk before the next begins, so that a crash spoils the last at most.
        if !missing && contents.beyond < 2 {
            return Ok(());
        }
        let frame = contents.readable + 1;
        spoilt = format!("commits behind frame {frame} cannot be read");
    }
    Err(StoreError::Damaged(format!(
        "its write-ahead log is spoilt: {spoilt}"
    )))
}

/// Reads a log, if there is one with anything in it; or says why it cannot be understood.
fn read(path: &Path) -> io::Result<Option<Result<Contents, &'static str>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut header = [0; HEADER];
    let mut first = [0; FRAME];
    if !fill(&mut file, &mut header)? || !fill(&mut file, &mut first)? {
        return Ok(None);
    }
    if header == [0; HEADER] && first == [0; FRAME] {
        return Ok(None);
    }
    let big_endian = match be(&header, 0) {
        0x377f_0682 => false,
        0x377f_0683 => true,
        _ => return Ok(Some(Err("it does not begin as one"))),
    };
    let mut sum = Sum {
        big_endian,
        sums: (0, 0),
    };
    sum.add(&header[..24]);
    let page = be(&header, 8) as usize;
    if !sum.is(&header[24..]) || !page.is_power_of_two() || !(512..=65_536).contains(&page) {
        return Ok(Some(Err("its beginning does not fit its checksum")));
    }
    let mut contents = Contents::default();
    contents.salts.copy_from_slice(&header[16..24]);
    let (mut frame, mut data) = (first, vec![0; page]);
    let (mut number, mut whole) = (0, true);
    while fill(&mut file, &mut data)? {
        number += 1;
        let ours = frame[8..16] == contents.salts;
        if whole {
            sum.add(&frame[..8]);
            sum.add(&data);
            whole = ours && sum.is(&frame[16..]);
        }
        let commits = be(&frame, 4) != 0;
        if whole && commits {
            contents.readable = number;
        } else if ours && commits {
            contents.beyond += 1;
        }
        if !fill(&mut file, &mut frame)? {
            break;
        }
    }
    Ok(Some(Ok(contents)))
}

/// The salts of the log and its number of committed frames, as the processes that share it have
/// last told each other, if that can be read. It outlives a process that is killed.
fn index(path: &Path) -> io::Result<Option<([u8; 8], u32)>> {
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut header = [0; 2 * COPY];
    if !fill(&mut file, &mut header)? {
        return Ok(None);
    }
    let native = |at: usize| u32::from_ne_bytes(four(&header, at));
    let whole = header[..COPY] == header[COPY..] && native(0) == 3_007_000 && header[12] == 1;
    let mut salts = [0; 8];
    salts.copy_from_slice(&header[32..40]);
    Ok(whole.then(|| (salts, native(16))))
}

/// Bytes of the header of a log's index, of which there are two copies.
const COPY: usize = 48;

/// The header of a log's index. Every commit changes it, and a reader of SQLite's goes by it to
/// see whether what it knows of the database is still so.
pub(super) type WalIndexHeader = [u8; COPY];

/// The index of a database's log, in the file that all its processes share. Reading its header is
/// one call of the operating system's. Asking SQLite (`PRAGMA data_version`) takes two locks.
#[derive(Debug)]
pub(super) struct WalIndex {
    /// Never closed: a process that closes a file drops the locks that SQLite holds on it for it.
    file: ManuallyDrop<File>,
}

impl WalIndex {
    /// The index of a database that this process has open already.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    pub fn open(database: &Path) -> io::Result<WalIndex> {
        let file = File::open(beside(database, "-shm"))?;
        let file = ManuallyDrop::new(file);
        Ok(WalIndex { file })
    }

    /// The header as it is; none if it cannot be read, or where the system reads no file at a
    /// place. It may be half written, but not by a commit that is told of already.
    pub fn header(&self) -> Option<WalIndexHeader> {
        let mut header = [0; COPY];
        #[cfg(unix)]
        std::os::unix::fs::FileExt::read_exact_at(&*self.file, &mut header, 0).ok()?;
        (header != [0; COPY]).then_some(header)
    }
}

/// The checksum of a log, which goes on from frame to frame.
struct Sum {
    /// How the numbers that are added are written; the sum itself is always so.
    big_endian: bool,
    sums: (u32, u32),
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let number = |bytes: &[u8], at| match self.big_endian {
            true => be(bytes, at),
            false => u32::from_le_bytes(four(bytes, at)),
        };
        let (mut one, mut two) = self.sums;
        for pair in bytes.chunks_exact(8) {
            one = one.wrapping_add(number(pair, 0)).wrapping_add(two);
            two = two.wrapping_add(number(pair, 4)).wrapping_add(one);
        }
        self.sums = (one, two);
    }

    fn is(&self, written: &[u8]) -> bool {
        self.sums == (be(written, 0), be(written, 4))
    }
}

fn be(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(four(bytes, at))
}

fn four(bytes: &[u8], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

/// Fills the buffer; says whether there was so much.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
