//! Colour models.
