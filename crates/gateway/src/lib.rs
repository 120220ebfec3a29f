//! What stands in front of handlers: limits, audit.
