#![no_main]

trunkline_fuzz::target!(http_request);
