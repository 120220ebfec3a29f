//! Settings of the gateway: as written, layered, resolved; and the files of other clients, read.
