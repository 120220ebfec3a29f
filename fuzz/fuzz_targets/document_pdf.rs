#![no_main]

trunkline_fuzz::target!(document_pdf);
