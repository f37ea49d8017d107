//! Which net serves which table.
//!
//! A file has a line that names the format, a line with a header in JSON, and the weights, row by
//! row. A row is its unit, as a 32-bit float, and its weights as integer multiples of that unit,
//! all little endian. Weights have 8 bits in the rows of the first layer, one row per input, and 16
//! bits in the others: the first layer's bias and then, for each head, all other weights, block by
//! block. `dog-lab` writes such files, and checks what is in their headers.

use dog_rules::Rules;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{HIDDEN, Head, Net, evaluator::NetEvaluator, inputs::InputLayout};

/// The size of a row's unit in bytes.
const UNIT: usize = 4;

dog_rules::named! {
    /// The kind of table that a net serves. A ring of 60 fields differs from one of 64 in every
    /// distance, so each has its own net. With six seats one net serves both, and an input tells
    /// them apart.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum NetVariant {
        /// Four seats, 15 fields per seat.
        Four15 = "four-15",
        /// Four seats, 16 fields per seat.
        Four16 = "four-16",
        /// Six seats.
        Six = "six",
    }
}

impl NetVariant {
    /// The variant that serves these rules.
    pub fn for_rules(rules: &Rules) -> NetVariant {
        match (rules.seats, rules.fields_per_seat) {
            (6, _) => NetVariant::Six,
            (_, 15) => NetVariant::Four15,
            _ => NetVariant::Four16,
        }
    }

    /// The number of seats.
    pub const fn seats(self) -> u8 {
        match self {
            NetVariant::Six => 6,
            _ => 4,
        }
    }
}

/// A net for every kind of table.
#[derive(Clone, Debug)]
pub struct Nets {
    evaluators: [NetEvaluator; NetVariant::ALL.len()],
}

/// The net files, compiled into the program.
fn file_of(variant: NetVariant) -> &'static [u8] {
    match variant {
        NetVariant::Four15 => include_bytes!("weights/four-15.net"),
        NetVariant::Four16 => include_bytes!("weights/four-16.net"),
        NetVariant::Six => include_bytes!("weights/six.net"),
    }
}

/// The net of a built-in file, whose first two lines are for the lab.
fn built_in(variant: NetVariant) -> NetEvaluator {
    let mut parts = file_of(variant).splitn(3, |&byte| byte == b'\n');
    let weights = parts.nth(2).unwrap_or_default();
    read_weights(variant, weights).expect("a test of the lab checks each of these files")
}

impl Nets {
    /// The nets that are built into the program.
    pub fn built_in() -> Nets {
        Nets {
            evaluators: NetVariant::ALL.map(built_in),
        }
    }

    /// The net for these rules.
    pub fn for_rules(&self, rules: &Rules) -> &NetEvaluator {
        &self.evaluators[NetVariant::for_rules(rules) as usize]
    }

    /// Replaces the net of a variant.
    pub fn replace(&mut self, variant: NetVariant, evaluator: NetEvaluator) {
        self.evaluators[variant as usize] = evaluator;
    }
}

/// Why bytes are not the weights of a net.
#[derive(Debug, Error)]
pub enum WeightsError {
    #[error("the file has {found} bytes of weights where {needed} are needed")]
    Length { found: usize, needed: usize },
    #[error("a unit of the weights is not a positive number")]
    Unit,
}

/// The size of a weight in bytes, for each row: the rows of the first layer, then the other blocks.
pub fn widths(inputs: usize) -> impl Iterator<Item = usize> {
    std::iter::repeat_n(1, inputs).chain(std::iter::repeat(2))
}

/// Every weight of a net, row by row.
fn rows(net: &mut Net) -> impl Iterator<Item = &mut [f32]> {
    let first = net.first.iter_mut().map(<[f32; HIDDEN]>::as_mut_slice);
    first
        .chain([net.first_bias.as_mut_slice()])
        .chain(net.heads.iter_mut().flat_map(Head::blocks_mut))
}

/// Reads the weights of a net, which follow the header of its file.
///
/// # Errors
/// They are not those of a net.
pub fn read_weights(variant: NetVariant, mut weights: &[u8]) -> Result<NetEvaluator, WeightsError> {
    let layout = InputLayout::new(variant.seats());
    let inputs = layout.inputs();
    let mut net = Net::zero(inputs);
    let needed = rows(&mut net)
        .zip(widths(inputs))
        .map(|(row, width)| UNIT + row.len() * width)
        .sum();
    if weights.len() != needed {
        let found = weights.len();
        return Err(WeightsError::Length { found, needed });
    }
    for (row, width) in rows(&mut net).zip(widths(inputs)) {
        let (unit, rest) = weights.split_at(UNIT);
        let unit = f32::from_le_bytes(unit.try_into().expect("four bytes"));
        if !(unit.is_finite() && unit > 0.0) {
            return Err(WeightsError::Unit);
        }
        let (numbers, rest) = rest.split_at(row.len() * width);
        for (weight, number) in row.iter_mut().zip(numbers.chunks_exact(width)) {
            *weight = unit
                * match *number {
                    [number] => f32::from(number as i8),
                    [low, high] => f32::from(i16::from_le_bytes([low, high])),
                    _ => unreachable!("one byte or two"),
                };
        }
        weights = rest;
    }
    Ok(NetEvaluator { layout, net })
}
