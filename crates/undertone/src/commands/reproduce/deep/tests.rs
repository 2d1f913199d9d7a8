//! What holds for all methods together.
