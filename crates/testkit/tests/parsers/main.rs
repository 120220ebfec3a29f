//! Runs the parsers on the seeds of the fuzz targets and mutations of them (row J12): a small part
//! of `cargo xtask fuzz`, so that every test run finds panics that are easy to reach.

mod mutation;
#[path = "../../../../fuzz/src/parsers/mod.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets are other crates")]
mod parsers;

use mutation::Mutator;
use parsers::{ALL, Holds};
use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    thread,
};

/// Number of inputs per parser, made from its seeds.
const INPUTS: usize = 400;

#[test]
fn j12_every_parser_holds_over_its_seeds_and_mutations_of_them() {
    let failed: Vec<String> = thread::scope(|scope| {
        let running: Vec<_> =
            ALL.iter().map(|(name, holds)| scope.spawn(|| first_failure(name, *holds))).collect();
        running.into_iter().filter_map(|run| run.join().expect("failures are caught")).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn j12_every_folder_of_seeds_has_a_parser() {
    let mut folders: Vec<String> = fs::read_dir(corpus())
        .unwrap()
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort_unstable();
    assert_eq!(folders, ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// Returns the seeds of a parser, always in the same order.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = fs::read_dir(corpus().join(name))
        .expect("a folder of seeds")
        .map(|file| file.expect("a seed").path())
        .collect();
    files.sort_unstable();
    files.iter().map(|file| fs::read(file).expect("a seed")).collect()
}

/// Returns the first input for which a property does not hold, so that it can become a seed.
fn first_failure(name: &str, holds: Holds) -> Option<String> {
    let seeds = seeds(name);
    let mut mutator = Mutator::new(name);
    let mutated = (0..INPUTS).map(|_| mutator.input(&seeds)).collect::<Vec<_>>();
    let broke = |input: &&Vec<u8>| catch_unwind(AssertUnwindSafe(|| holds(input))).is_err();
    let input = seeds.iter().chain(&mutated).find(broke)?;
    Some(format!("{name} does not hold for b\"{}\"", input.escape_ascii()))
}
