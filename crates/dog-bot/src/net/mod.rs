//! The value net: how likely a seat's team is to win, as the seat sees the game.
//!
//! The net has three layers: the [`inputs`], of which only the active ones are added, two layers of
//! [`HIDDEN`] and [`HIDDEN_2`] units (leaky ReLU), and one output, the logit (the logarithm of the
//! odds). The layers after the first exist several times, as [`Head`]s: one evaluates exchanges,
//! the others what is left when many, some or hardly any cards are kept. All sums are made in a
//! fixed order, unit by unit, so a value is the same number on every machine, whichever
//! instructions it has.

use std::ops::{Deref, DerefMut};

use fearless_simd::{Level, Simd, dispatch};

mod card_effects;
pub mod evaluator;
pub mod inputs;
pub mod nets;
#[cfg(any(test, feature = "testing"))]
mod testing;

pub use inputs::HEADS;
use inputs::Input;

/// The number of units of the first hidden layer.
pub const HIDDEN: usize = 256;
/// The number of units of the second hidden layer.
pub const HIDDEN_2: usize = 32;
/// The slope of the activation for negative sums.
pub const LEAKY_SLOPE: f32 = 0.05;

/// The first hidden layer, before its activation.
pub type Hidden = [f32; HIDDEN];

/// The weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Net {
    /// One row per input.
    pub first: WeightMatrix<HIDDEN>,
    pub first_bias: Hidden,
    pub heads: [Head; HEADS],
}

/// The weights after the first layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// One row per unit of the first hidden layer.
    pub second: WeightMatrix<HIDDEN_2>,
    pub second_bias: [f32; HIDDEN_2],
    pub last: [f32; HIDDEN_2],
    pub last_bias: f32,
}

impl Net {
    /// A net with this many inputs and all weights zero.
    pub fn zero(inputs: usize) -> Net {
        Net {
            first: WeightMatrix::zero(inputs),
            first_bias: [0.0; HIDDEN],
            heads: std::array::from_fn(|_| Head::zero()),
        }
    }

    /// The first layer's sums with these inputs added to `common`.
    pub fn more(&self, common: &Hidden, inputs: &[Input]) -> Hidden {
        let mut hidden = *common;
        dispatch!(Level::new(), simd => add_rows(simd, &mut hidden, &self.first, inputs));
        hidden
    }

    /// The logit of a win for the team with these inputs added to `common`, by this head.
    pub fn logit(&self, common: &Hidden, inputs: &[Input], head: usize) -> f32 {
        let head = &self.heads[head];
        dispatch!(Level::new(), simd => {
            let mut hidden = *common;
            add_rows(simd, &mut hidden, &self.first, inputs);
            activate(simd, &mut hidden);
            let mut second = head.second_sums(simd, &hidden);
            activate(simd, &mut second);
            head.output(&second)
        })
    }
}

impl Head {
    fn zero() -> Head {
        Head {
            second: WeightMatrix::zero(HIDDEN),
            second_bias: [0.0; HIDDEN_2],
            last: [0.0; HIDDEN_2],
            last_bias: 0.0,
        }
    }

    /// Every weight, block by block, mutable.
    pub fn blocks_mut(&mut self) -> [&mut [f32]; 4] {
        [
            self.second.as_flattened_mut(),
            self.second_bias.as_mut_slice(),
            self.last.as_mut_slice(),
            std::slice::from_mut(&mut self.last_bias),
        ]
    }

    /// The second layer's sums. Even and odd units are added separately, which gives two
    /// independent chains of additions.
    #[inline(always)]
    pub fn second_sums<S: Simd>(&self, _: S, hidden: &Hidden) -> [f32; HIDDEN_2] {
        let (mut even, mut odd) = (self.second_bias, [0.0; HIDDEN_2]);
        for (units, rows) in hidden.chunks_exact(2).zip(self.second.chunks_exact(2)) {
            for unit in 0..HIDDEN_2 {
                even[unit] += units[0] * rows[0][unit];
                odd[unit] += units[1] * rows[1][unit];
            }
        }
        for unit in 0..HIDDEN_2 {
            even[unit] += odd[unit];
        }
        even
    }

    #[inline(always)]
    pub fn output(&self, second: &[f32; HIDDEN_2]) -> f32 {
        let mut sum = self.last_bias;
        for (unit, weight) in second.iter().zip(&self.last) {
            sum += unit * weight;
        }
        sum
    }
}

/// The size in bytes of a cache line, and of the largest vector load.
const CACHE_LINE: usize = 64;

/// Rows of N weights each. The first row starts at a cache line, and so does every other if N
/// weights fill whole lines. Loads that cross a line take twice as long.
#[derive(Debug)]
pub struct WeightMatrix<const N: usize> {
    /// The weights, with spare room to align the first row.
    weights: Vec<f32>,
    begin: usize,
    end: usize,
}

impl<const N: usize> WeightMatrix<N> {
    /// A matrix with this many rows of zeros.
    pub fn zero(rows: usize) -> WeightMatrix<N> {
        let weights = vec![0.0; rows * N + CACHE_LINE / size_of::<f32>()];
        // If the alignment is unknown, only speed is lost.
        let begin = weights.as_ptr().align_offset(CACHE_LINE);
        let begin = begin.min(CACHE_LINE / size_of::<f32>());
        let end = begin + rows * N;
        WeightMatrix {
            weights,
            begin,
            end,
        }
    }
}

impl<const N: usize> Deref for WeightMatrix<N> {
    type Target = [[f32; N]];

    fn deref(&self) -> &[[f32; N]] {
        self.weights[self.begin..self.end].as_chunks().0
    }
}

impl<const N: usize> DerefMut for WeightMatrix<N> {
    fn deref_mut(&mut self) -> &mut [[f32; N]] {
        self.weights[self.begin..self.end].as_chunks_mut().0
    }
}

impl<const N: usize> Clone for WeightMatrix<N> {
    fn clone(&self) -> WeightMatrix<N> {
        let mut rows = WeightMatrix::zero(self.len());
        rows.copy_from_slice(self);
        rows
    }
}

impl<const N: usize> PartialEq for WeightMatrix<N> {
    fn eq(&self, other: &WeightMatrix<N>) -> bool {
        **self == **other
    }
}

/// Adds the rows of the active inputs, one block of units at a time, so that the sums of a block
/// stay in registers.
#[inline(always)]
pub fn add_rows<S: Simd>(_: S, hidden: &mut Hidden, rows: &[Hidden], inputs: &[Input]) {
    const BLOCK: usize = 128;
    for first in (0..HIDDEN).step_by(BLOCK) {
        let mut sums: [f32; BLOCK] = hidden[first..first + BLOCK].try_into().expect("a block");
        for input in inputs {
            let row: &[f32; BLOCK] = rows[usize::from(input.index)][first..first + BLOCK]
                .try_into()
                .expect("a block");
            for unit in 0..BLOCK {
                sums[unit] += input.value * row[unit];
            }
        }
        hidden[first..first + BLOCK].copy_from_slice(&sums);
    }
}

#[inline(always)]
pub fn activate<S: Simd>(_: S, units: &mut [f32]) {
    for unit in units {
        *unit = unit.max(LEAKY_SLOPE * *unit);
    }
}

/// The probability with this logit.
pub fn probability(logit: f32) -> f32 {
    1.0 / (1.0 + exp(-logit))
}

/// e to the power of x, within a few units in the last place, with x clamped to −30 … 30. It uses
/// only sums and products, so it is the same on every machine.
pub fn exp(x: f32) -> f32 {
    let x = x.clamp(-30.0, 30.0);
    // x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its series.
    let n = (x * std::f32::consts::LOG2_E).round();
    let r = x - n * std::f32::consts::LN_2;
    let mut sum = 1.0;
    for divisor in [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        sum = 1.0 + r / divisor * sum;
    }
    sum * f32::from_bits(((n as i32 + 127) as u32) << 23)
}

#[cfg(test)]
mod tests;
