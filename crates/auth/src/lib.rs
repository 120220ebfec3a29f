//! Token verification and API keys.
