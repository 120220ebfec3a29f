#![no_main]

trunkline_fuzz::target!(header_params);
