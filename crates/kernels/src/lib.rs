//! Plane kernels: slices in, slices out.
//!
//! The only crate of the house with SIMD `unsafe`, besides that in [`parts`]. Every kernel has one obvious body, its twin, and what
//! is written by hand for AVX2, AVX-512 and NEON is chosen at run time; tests hold all of them to the twin,
//! bit for bit, and the twin to a float version (`./dev arm`: NEON, emulated). How the tricks work is in `notes/`.

pub mod activity;
pub mod cpu;
pub mod fdct;
pub mod huffman;
pub mod idct;
pub mod parts;
pub mod resample;
pub mod stuffing;
pub mod symbols;
