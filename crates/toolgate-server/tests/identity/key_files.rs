//! The signing key's file.

use std::{fs, path::Path};

use toolgate_server::identity::{KEY_FILE_NAME, OwnAlgorithm, OwnKey};

fn load(dir: &Path) -> Result<OwnKey, String> {
    OwnKey::load_or_create(dir, OwnAlgorithm::Hs256).map_err(|error| error.to_string())
}

#[test]
fn the_first_start_makes_a_key_and_the_next_finds_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("deep/data");
    let made = load(&data).unwrap().seal_key("x").unwrap();
    assert_eq!(load(&data).unwrap().seal_key("x").unwrap(), made);
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "no draft is left behind");
    assert_ne!(load(&dir.path().join("other")).unwrap().seal_key("x").unwrap(), made);
}

#[cfg(unix)]
#[test]
fn the_file_is_its_owners_alone_and_an_exposed_one_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    load(dir.path()).unwrap();
    let path = dir.path().join(KEY_FILE_NAME);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    for mode in [0o644, 0o640, 0o604, 0o660] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = load(dir.path()).unwrap_err();
        assert!(
            error.contains(&format!("can be read by others (mode {mode:o})")) && error.contains("chmod 600"),
            "{error}"
        );
    }
}

#[test]
fn garbage_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    load(dir.path()).unwrap();
    let path = dir.path().join(KEY_FILE_NAME);
    let whole = fs::read(&path).unwrap();
    for garbage in [&b""[..], b"hunter2-canary", b"toolgate-seed-1 c2hvcnQ", &whole[..30], &[0xff; 40]] {
        fs::write(&path, garbage).unwrap();
        let error = load(dir.path()).unwrap_err();
        assert!(error.contains("is not a key file") && !error.contains("canary"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), garbage);
    }
}

#[test]
fn many_starts_at_once_agree_on_one_key() {
    let dir = tempfile::tempdir().unwrap();
    let keys: Vec<_> = std::thread::scope(|scope| {
        let starts: Vec<_> =
            (0..16).map(|_| scope.spawn(|| load(dir.path()).unwrap().seal_key("x").unwrap())).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[test]
fn a_key_named_by_configuration_must_be_there() {
    let dir = tempfile::tempdir().unwrap();
    assert!(OwnKey::load(&dir.path().join("absent"), OwnAlgorithm::EdDsa).is_err());
}
