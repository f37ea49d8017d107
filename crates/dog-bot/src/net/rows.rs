//! Rows of weights, laid where a processor loads them fastest.

use std::ops::{Deref, DerefMut};

/// Bytes that a processor loads at a time, at most.
const LINE: usize = 64;

/// Rows of N weights each. The first begins with a line of the processor's memory, and so does
/// every other if N weights fill lines: a load of half a line here and half a line there takes
/// twice as long.
#[derive(Debug)]
pub struct Rows<const N: usize> {
    /// The weights, with room to begin where it is best.
    weights: Vec<f32>,
    begin: usize,
    end: usize,
}

impl<const N: usize> Rows<N> {
    /// So many rows of zeros.
    pub fn zero(rows: usize) -> Rows<N> {
        let weights = vec![0.0; rows * N + LINE / size_of::<f32>()];
        // Where that cannot be told, it makes no difference but to the speed.
        let begin = weights.as_ptr().align_offset(LINE);
        let begin = begin.min(LINE / size_of::<f32>());
        let end = begin + rows * N;
        Rows {
            weights,
            begin,
            end,
        }
    }
}

impl<const N: usize> Deref for Rows<N> {
    type Target = [[f32; N]];

    fn deref(&self) -> &[[f32; N]] {
        self.weights[self.begin..self.end].as_chunks().0
    }
}

impl<const N: usize> DerefMut for Rows<N> {
    fn deref_mut(&mut self) -> &mut [[f32; N]] {
        self.weights[self.begin..self.end].as_chunks_mut().0
    }
}

impl<const N: usize> Clone for Rows<N> {
    fn clone(&self) -> Rows<N> {
        let mut rows = Rows::zero(self.len());
        rows.copy_from_slice(self);
        rows
    }
}

impl<const N: usize> PartialEq for Rows<N> {
    fn eq(&self, other: &Rows<N>) -> bool {
        **self == **other
    }
}
