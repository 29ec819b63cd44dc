//! Files that are replaced as a whole or not at all: written beside their place, synced, and renamed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a new file and renames it over the old one, if there is one: readers see the old file or the new one.
///
/// A link keeps pointing where it did: what it points to is replaced. The old file's permissions are kept. What is no
/// file (a pipe, a device) is written to as it is.
pub fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    replace_file_by(path, |out| out.write_all(bytes))
}

/// As [`replace_file`], with what `write` puts into the file.
pub(super) fn replace_file_by(
    path: &Path,
    write: impl Fn(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let path = std::fs::canonicalize(path).or_else(|_| std::fs::read_link(path)).unwrap_or_else(|_| path.to_path_buf());
    let old = std::fs::metadata(&path).ok();
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return write(&mut std::fs::OpenOptions::new().write(true).open(&path)?);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let (temporary, mut file) = temporary_file(&folder)?;
    let written = write(&mut file)
        .and_then(|()| old.map_or(Ok(()), |old| file.set_permissions(old.permissions())))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temporary, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
        return written;
    }
    // The rename itself must reach the disk too; where folders cannot be synced, it is as safe as the system makes it.
    if let Ok(folder) = std::fs::File::open(&folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A new file with a unique name.
fn temporary_file(folder: &Path) -> std::io::Result<(PathBuf, std::fs::File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".quince-{}-{number}.part", std::process::id()));
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
}
