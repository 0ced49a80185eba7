//! Every stage against a slow, obvious version of itself.

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
