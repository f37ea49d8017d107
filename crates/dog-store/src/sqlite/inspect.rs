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
use crate::{
    CLOCK_TOLERANCE, Findings, StoreError,
    Verdict::{Bad, Doubtful, Good},
    now,
};

/// Bytes that should be free on a disk.
const ENOUGH_FREE: u64 = 1 << 30;

/// Looks at a file, its folder and its disk. Changes nothing.
pub fn inspect(database: &Path) -> Findings {
    let mut findings = Findings::default();
    let trial = sidecar(database, "-trial");
    let made = OpenOptions::new().write(true).create_new(true).open(&trial);
    findings.add_result("folder", made.and_then(|_| fs::remove_file(&trial)));
    let folder = database.parent().filter(|folder| folder.is_dir());
    let free = free_bytes(folder.unwrap_or(Path::new("."))).unwrap_or(u64::MAX);
    let text = format!("disk: only {free} bytes are free; make room");
    match free {
        ..LOG_ROOM => findings.add(Bad, text),
        LOG_ROOM..ENOUGH_FREE => findings.add(Doubtful, text),
        _ => findings.add(Good, "disk"),
    }
    if is_empty(database) {
        findings.add_result("file: to be created", check_not_lost(database));
        return findings;
    }
    findings.add_result("file", check_permissions(database));
    #[cfg(target_os = "linux")]
    if is_of_another(database) {
        let text = "owner: another user; run this as the server's user, not as root";
        findings.add(Doubtful, text);
    }
    match holder_of(database) {
        None => findings.add(Good, "lock"),
        Some(holder) => findings.add(Doubtful, format!("lock: a server{holder} has the file")),
    }
    let looked = look_inside(database, &mut findings);
    if let Err(error) = looked {
        findings.add_schema(Err(error));
    }
    findings
}

/// The schema and the clock.
fn look_inside(database: &Path, findings: &mut Findings) -> Result<(), StoreError> {
    let connection = reader(database)?;
    migrations::identify(&connection)?;
    findings.add_schema(SCHEMA.check_current(migrations::version(&connection)?));
    // The newest games are enough: nobody plays only old ones.
    let sql = "SELECT max(updated_at) FROM \
               (SELECT updated_at FROM games ORDER BY row_id DESC LIMIT 1000)";
    let newest: Option<i64> = connection.query_row(sql, [], |row| row.get(0))?;
    match newest > Some((now() + CLOCK_TOLERANCE).as_microsecond()) {
        true => findings.add(
            Bad,
            "clock: a game was changed in the future; set the clock right",
        ),
        false => findings.add(Good, "clock"),
    }
    Ok(())
}

/// Whether this is root, whose new files a server of the owner could not write.
#[cfg(target_os = "linux")]
fn is_of_another(database: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |file: &Path| fs::metadata(file).map_or(0, |about| about.uid());
    owner(Path::new("/proc/self")) == 0 && owner(database) != 0
}
