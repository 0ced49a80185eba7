//! Kernels for image planes: slices in, slices out.
//!
//! This is the only crate of the workspace that uses `unsafe` for SIMD. Its module [`parts`] has other `unsafe` code,
//! too. Every kernel has a scalar reference version, called its twin, and versions written by hand for AVX2, AVX-512
//! and NEON, one of which is chosen at run time. Tests compare all of them with the twin, bit for bit, and the twin
//! with a float version (`./dev arm` tests NEON, emulated). The techniques are explained in `notes/`.
//!
//! Besides the kernels, the crate contains what their callers share: memory for planes ([`buffers`]), and idle cores
//! ([`cores`]) that write parts of one plane ([`parts`]).

pub mod activity;
pub mod buffers;
pub mod cores;
pub mod cpu;
pub mod fdct;
pub mod huffman;
pub mod idct;
pub mod parts;
pub mod resample;
pub mod stuffing;
pub mod symbols;
