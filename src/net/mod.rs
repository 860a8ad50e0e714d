//! The web: pages as text.

pub mod page;
