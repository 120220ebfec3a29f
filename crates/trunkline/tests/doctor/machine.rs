//! Without a target: the files of other clients, the keychain, the port.
