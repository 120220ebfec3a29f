#![no_main]

trunkline_fuzz::target!(secrets);
