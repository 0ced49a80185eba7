//! Plane kernels: slices in, slices out.
//!
//! The only crate of the house with SIMD `unsafe`. Every kernel has one obvious body that is compiled
//! for the baseline and, on x86-64, once more for AVX2, chosen at run time; tests hold both to a float
//! version.

pub mod cpu;
pub mod idct;
pub mod resample;
