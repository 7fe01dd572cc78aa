//! Making the folders that rag-gate keeps beside gate.toml.

use std::fs;
use std::io;
use std::path::Path;

/// The folder of what belongs to one machine.
const PRIVATE: &str = ".rag-gate";

/// Makes a folder and those above it.
///
/// When that makes `.rag-gate`, it gets a `.gitignore` of its own: answers and records of runs are not for the
/// repository. A `.rag-gate` that was there before stays as its owner wants it.
pub fn create(folder: &Path) -> io::Result<()> {
    let private = folder
        .ancestors()
        .find(|above| above.file_name().is_some_and(|name| name == PRIVATE));
    let Some(private) = private else {
        return fs::create_dir_all(folder);
    };
    if let Some(above) = private.parent() {
        fs::create_dir_all(above)?;
    }
    // Whoever makes it writes the file: of many processes at once that is one.
    match fs::create_dir(private) {
        Ok(()) => fs::write(private.join(".gitignore"), "*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A full disk leaves it empty, and then the answers are offered to git.
            let ignore = private.join(".gitignore");
            if fs::metadata(&ignore).is_ok_and(|found| found.len() == 0) {
                fs::write(ignore, "*\n")?;
            }
        }
        Err(error) => return Err(error),
    }
    fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_private_folder_is_ignored_by_git_and_an_old_one_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let new = root.path().join("new/.rag-gate/cache");
        create(&new).unwrap();
        create(&new).unwrap();
        assert!(new.is_dir());
        let ignore = root.path().join("new/.rag-gate/.gitignore");
        assert_eq!(fs::read_to_string(ignore).unwrap(), "*\n");

        fs::create_dir_all(root.path().join("old/.rag-gate")).unwrap();
        create(&root.path().join("old/.rag-gate/cache")).unwrap();
        assert!(!root.path().join("old/.rag-gate/.gitignore").exists());

        create(&root.path().join("cache")).unwrap();
        assert!(!root.path().join(".gitignore").exists());
    }
}
