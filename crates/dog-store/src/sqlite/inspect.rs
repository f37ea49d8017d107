//! What a server will find at a file.

use std::{
    fs::{self, OpenOptions},
    path::Path,
};

use super::{
    connect::{check_not_lost, check_permissions, is_empty, reader, sidecar},
    lock::holder_of,
    migrations::{self, SCHEMA},
    size_limit::{LOG_ROOM, free_bytes},
};
use crate::{CLOCK_TOLERANCE, Finding, StoreError, now};

/// From that many free bytes on a disk is large enough not to be mentioned.
const ENOUGH_FREE: u64 = 1 << 30;

/// Looks at a file, its folder and its disk. Changes nothing.
pub fn inspect(database: &Path) -> Vec<Finding> {
    let name = database.display();
    let folder = database.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    let mut findings = vec![match is_writable(database) {
        true => Finding::good(format!("folder: {} can be written to", folder.display())),
        false => Finding::bad(format!(
            "folder: {} cannot be written to; let the server's user write to it",
            folder.display()
        )),
    }];
    findings.push(match free_bytes(folder) {
        Some(free) if free < LOG_ROOM => {
            Finding::bad(format!("disk: {free} bytes are free; make room"))
        }
        Some(free) if free < ENOUGH_FREE => {
            Finding::doubtful(format!("disk: only {free} bytes are free"))
        }
        Some(free) => Finding::good(format!("disk: {free} bytes are free")),
        None => Finding::doubtful("disk: its free space is not known here"),
    });
    if is_empty(database) {
        findings.push(match check_not_lost(database) {
            Ok(()) => Finding::good(format!("file: {name} will be created")),
            Err(error) => Finding::bad(format!("file: {error}")),
        });
        return findings;
    }
    findings.push(match check_permissions(database) {
        Ok(()) => owner(database),
        Err(error) => Finding::bad(format!("file: {error}")),
    });
    findings.push(match holder_of(database) {
        None => Finding::good("lock: no server has the file"),
        Some(holder) => Finding::doubtful(format!("lock: a server{holder} has the file open")),
    });
    match look_inside(database) {
        Ok(inside) => findings.extend(inside),
        Err(error) => findings.push(Finding::bad(format!("schema: {error}"))),
    }
    findings
}

/// Whether files can be made beside the database.
fn is_writable(database: &Path) -> bool {
    let trial = sidecar(database, "-trial");
    let made = OpenOptions::new().write(true).create_new(true).open(&trial);
    made.and_then(|_| fs::remove_file(&trial)).is_ok()
}

/// The schema and the clock.
fn look_inside(database: &Path) -> Result<[Finding; 2], StoreError> {
    let connection = reader(database)?;
    migrations::identify(&connection)?;
    let found = migrations::version(&connection)?;
    let schema = match SCHEMA.check_current(found) {
        Ok(()) => Finding::good(format!("schema: version {found}")),
        Err(StoreError::Older { needed, .. }) => Finding::doubtful(format!(
            "schema: version {found}, which the server will migrate to {needed}; make a backup"
        )),
        Err(error) => return Err(error),
    };
    // The newest games are enough: nobody plays only old ones.
    let sql = "SELECT max(updated_at) FROM \
               (SELECT updated_at FROM games ORDER BY row_id DESC LIMIT 1000)";
    let newest: Option<i64> = connection.query_row(sql, [], |row| row.get(0))?;
    let latest = (now() + CLOCK_TOLERANCE).as_microsecond();
    let clock = match newest.is_some_and(|newest| newest > latest) {
        true => Finding::bad("clock: a game was changed in the future; set the clock right"),
        false => Finding::good("clock: no game was changed in the future"),
    };
    Ok([schema, clock])
}

#[cfg(unix)]
fn owner(database: &Path) -> Finding {
    use std::os::unix::fs::MetadataExt;
    // A server that is started as root leaves files that its own user cannot write.
    let owner = fs::metadata(database).map(|about| about.uid());
    let is_root = fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0);
    match owner {
        Ok(uid) if is_root && uid != 0 => Finding::doubtful(format!(
            "file: it belongs to the user {uid}; run this as that user, not as root"
        )),
        _ => Finding::good("file: this user can read and write it"),
    }
}

#[cfg(not(unix))]
fn owner(_: &Path) -> Finding {
    Finding::good("file: this user can read and write it")
}
