//! ARCHITECTURE.md names functions that exist.
