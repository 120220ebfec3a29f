use super::*;
use std::fs;
use tokio::time::timeout;

/// Far longer than any change takes to be reported; only a failing test waits this long.
const LONG: Duration = Duration::from_secs(20);

async fn told(watch: &mut Watch) -> bool {
    timeout(LONG, watch.changed()).await.is_ok()
}

#[tokio::test]
async fn changed_appeared_and_vanished_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (file, later) = (folder.path().join("a.json"), folder.path().join("sub/b.json"));
    fs::write(&file, "1").unwrap();
    let mut watch = Watch::new(vec![Seen::now(&file), Seen::now(&later)]);
    fs::write(&file, "2").unwrap();
    assert!(told(&mut watch).await, "changed");
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(&later, "1").unwrap();
    assert!(told(&mut watch).await, "appeared, in a directory that was not there");
    let new = folder.path().join("new");
    fs::write(&new, "3").unwrap();
    fs::rename(&new, &file).unwrap();
    assert!(told(&mut watch).await, "replaced");
    fs::remove_file(&file).unwrap();
    assert!(told(&mut watch).await, "vanished");
}

#[tokio::test]
async fn a_change_before_the_watch_began_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    fs::write(&file, "1").unwrap();
    let seen = Seen::now(&file);
    fs::write(&file, "2").unwrap();
    assert!(told(&mut Watch::new(vec![seen])).await);
}

#[tokio::test]
async fn v01_a_hundred_changes_in_a_row_are_told_a_few_times() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    fs::write(&file, "").unwrap();
    let mut watch = Watch::new(vec![Seen::now(&file)]);
    for number in 0..100 {
        fs::write(&file, number.to_string()).unwrap();
    }
    let mut count = 0;
    while Seen::now(&file) != watch.seen[0] {
        assert!(told(&mut watch).await);
        count += 1;
    }
    assert!((1..5).contains(&count), "{count}");
}

#[tokio::test(start_paused = true)]
async fn without_help_of_the_system_files_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    let mut watch = Watch::polling(vec![Seen::now(&file)]);
    assert!(timeout(POLL * 3, watch.changed()).await.is_err(), "nothing changed");
    fs::write(&file, "1").unwrap();
    timeout(POLL * 2, watch.changed()).await.unwrap();
    fs::write(&file, "1").unwrap();
    assert!(timeout(POLL * 3, watch.changed()).await.is_err(), "the same again is no change");
}

#[tokio::test]
async fn a_file_is_told_that_appears_long_after_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sub/deep/a.json");
    let mut watch = Watch::new(vec![Seen::now(&file)]);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    assert!(timeout(QUIET * 10, watch.changed()).await.is_err(), "there is no file yet");
    fs::write(&file, "1").unwrap();
    assert!(told(&mut watch).await);
}
