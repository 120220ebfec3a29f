//! The Landlock restriction. It applies to a thread, so each case runs in its own thread.

use std::fs;
use std::io::ErrorKind;

use trunkline_packs::sandbox::{Reads, Restriction, Roots, restrict_process};

use crate::place::{Place, SECRET};

fn restricted<T: Send + 'static>(
    place: &Place,
    reads: Reads,
    then: impl FnOnce(Restriction) -> T + Send + 'static,
) -> T {
    let roots = Roots::open([&place.root]).unwrap();
    std::thread::spawn(move || then(restrict_process(&roots, &[], &reads).unwrap())).join().unwrap()
}

#[test]
fn writes_outside_are_refused_by_the_kernel_where_it_can() {
    let place = Place::new();
    let (inside, outside) = (place.root.join("new"), place.outside.join("new"));
    let (restriction, inside, outside) = restricted(&place, Reads::Anywhere, move |restriction| {
        (restriction, fs::write(inside, "x"), fs::write(outside, "x"))
    });
    inside.unwrap();
    match restriction {
        Restriction::Full | Restriction::Partial => {
            assert_eq!(outside.unwrap_err().kind(), ErrorKind::PermissionDenied);
        }
        Restriction::Unavailable => outside.unwrap(),
    }
    assert_eq!(
        fs::read_to_string(place.outside.join("secret.txt")).unwrap(),
        SECRET,
        "other threads are free"
    );
}

#[test]
fn reads_outside_can_be_refused_too() {
    let place = Place::new();
    place.write("own.txt", "own");
    let (inside, outside) = (place.root.join("own.txt"), place.outside.join("secret.txt"));
    let (restriction, inside, outside) = restricted(&place, Reads::Only(Vec::new()), move |restriction| {
        (restriction, fs::read_to_string(inside), fs::read_to_string(outside))
    });
    assert_eq!(inside.unwrap(), "own");
    match restriction {
        Restriction::Full | Restriction::Partial => {
            assert_eq!(outside.unwrap_err().kind(), ErrorKind::PermissionDenied);
        }
        Restriction::Unavailable => assert_eq!(outside.unwrap(), SECRET),
    }
}
