//! Compares every stage with a slow, obvious implementation.

mod color;
mod effects;
mod lay;
mod levels;
mod over;
mod resize;
mod shapes;
mod support;
mod tone;
mod turn;
