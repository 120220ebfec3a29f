#![no_main]

trunkline_fuzz::target!(schemas);
