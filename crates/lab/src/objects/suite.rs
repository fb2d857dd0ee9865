//! What is expected.
