//! How the program is linked.

#![expect(clippy::disallowed_methods, reason = "cargo tells build scripts what they need by the environment")]

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if reads_packed_relocations() {
        // The list of addresses that the loader has to mend stays in memory: 20 KB of it instead of 700.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether the C library that we are built for is known to read them, as glibc does since 2.36. Only that of this machine can be
/// asked.
fn reads_packed_relocations() -> bool {
    let is = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    let is_here = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    if !is_here || !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return false;
    }
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let told = told.ok().and_then(|told| String::from_utf8(told.stdout).ok()).unwrap_or_default();
    let version = told.trim().strip_prefix("glibc ").and_then(|version| version.split_once('.'));
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    version.is_some_and(|(major, minor)| (number(major), number(minor)) >= (2, 36))
}
