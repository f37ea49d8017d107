//! Which net serves which table, and the file format of nets.
//!
//! A file has a line that names the format, a line with a header in JSON, and the weights, row by
//! row. A row is its unit, as a 32-bit float, and its weights as integer multiples of that unit,
//! all little endian. Weights have 8 bits in the rows of the first layer, one row per input, and 16
//! bits in the others: the first layer's bias and then, for each head, all other weights, block by
//! block.

use dog_rules::{Exchange, Options, Phase, Playout, Preset, Rules, Seat};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::{
    HEADS, HIDDEN, HIDDEN_2, Head, Net,
    evaluator::NetEvaluator,
    inputs::{AfterChoice, HandInfo, Input, InputLayout, Inputs, VERSION},
};

/// The first line of a file.
const MAGIC: &[u8] = b"dog-net\n";
/// The version of the format.
const FORMAT: u32 = 3;
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

    /// A preset's options with this ring and number of seats.
    pub fn options(self, preset: Preset) -> Options {
        let mut options = preset.options();
        options.seats = self.seats();
        match self {
            NetVariant::Four15 => options.fields_per_seat = 15,
            NetVariant::Four16 => options.fields_per_seat = 16,
            NetVariant::Six => {}
        }
        options
    }
}

/// A net for every kind of table.
#[derive(Clone, Debug)]
pub struct Nets {
    evaluators: [NetEvaluator; NetVariant::ALL.len()],
}

/// A built-in net cannot be used.
#[derive(Debug, Error)]
#[error("the net {name} cannot be used: {error}", name = .variant.name())]
pub struct NetsError {
    pub variant: NetVariant,
    pub error: NetError,
}

/// The net files, compiled into the program.
fn file_of(variant: NetVariant) -> &'static [u8] {
    match variant {
        NetVariant::Four15 => include_bytes!("weights/four-15.net"),
        NetVariant::Four16 => include_bytes!("weights/four-16.net"),
        NetVariant::Six => include_bytes!("weights/six.net"),
    }
}

impl Nets {
    /// The nets that are built into the program.
    ///
    /// # Errors
    /// If one of them does not match the inputs and rules of this program.
    pub fn built_in() -> Result<Nets, NetsError> {
        let [first, second, third] = NetVariant::ALL.map(|variant| {
            read(file_of(variant))
                .and_then(|(evaluator, header)| header.fits(variant).map(|()| evaluator))
                .map_err(|error| NetsError { variant, error })
        });
        Ok(Nets {
            evaluators: [first?, second?, third?],
        })
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

/// The header of a net file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetFileHeader {
    pub format: u32,
    /// The kind of table that the net was trained for.
    #[serde(rename = "setting")]
    pub variant: NetVariant,
    pub inputs: usize,
    pub hidden: usize,
    pub second: usize,
    pub heads: usize,
    /// A hash of the inputs of some positions: see [`fingerprint`].
    pub fingerprint: String,
    /// How it was trained.
    pub run: String,
    /// The measured strength, and the opponent.
    pub strength: String,
}

/// Why this program cannot use a file as a net.
#[derive(Debug, Error)]
pub enum NetError {
    #[error("this is not a net: it does not begin with \"dog-net\"")]
    Magic,
    #[error("the header cannot be read: {0}")]
    Header(#[from] serde_json::Error),
    #[error("the file has format {0}, this program reads format {FORMAT}")]
    Format(u32),
    #[error("the net has {found} {what}, this program needs {needed}")]
    Shape {
        what: &'static str,
        found: usize,
        needed: usize,
    },
    #[error(
        "the net was trained with other inputs or other rules than this program's \
         (fingerprint {found}, needed {needed})"
    )]
    Fingerprint { found: String, needed: String },
    #[error("the file has {found} bytes of weights where {needed} are needed")]
    Length { found: usize, needed: usize },
    #[error("the net is for {found}, not for {needed}")]
    Setting {
        found: &'static str,
        needed: &'static str,
    },
    #[error("a unit of the weights is not a positive number")]
    Unit,
}

impl NetFileHeader {
    /// Checks that the net is of this variant.
    ///
    /// # Errors
    /// If it is for another.
    pub fn fits(&self, variant: NetVariant) -> Result<(), NetError> {
        if self.variant == variant {
            return Ok(());
        }
        Err(NetError::Setting {
            found: self.variant.name(),
            needed: variant.name(),
        })
    }
}

/// The size of a weight in bytes, for each row: the rows of the first layer, then the other blocks.
fn widths(inputs: usize) -> impl Iterator<Item = usize> {
    std::iter::repeat_n(1, inputs).chain(std::iter::repeat(2))
}

/// Every weight of a net, row by row.
fn rows(net: &Net) -> impl Iterator<Item = &[f32]> {
    let first = net.first.iter().map(<[f32; HIDDEN]>::as_slice);
    first.chain(net.blocks().skip(1))
}

/// Every weight of a net, row by row, mutable.
fn rows_mut(net: &mut Net) -> impl Iterator<Item = &mut [f32]> {
    let first = net.first.iter_mut().map(<[f32; HIDDEN]>::as_mut_slice);
    first
        .chain([net.first_bias.as_mut_slice()])
        .chain(net.heads.iter_mut().flat_map(Head::blocks_mut))
}

/// Writes a net.
pub fn write(evaluator: &NetEvaluator, variant: NetVariant, run: &str, strength: &str) -> Vec<u8> {
    let inputs = evaluator.layout.inputs();
    let header = NetFileHeader {
        format: FORMAT,
        variant,
        inputs,
        hidden: HIDDEN,
        second: HIDDEN_2,
        heads: HEADS,
        fingerprint: fingerprint(variant),
        run: run.to_owned(),
        strength: strength.to_owned(),
    };
    let mut bytes = MAGIC.to_vec();
    bytes.extend(serde_json::to_vec(&header).expect("a header is JSON"));
    bytes.push(b'\n');
    for (row, width) in rows(&evaluator.net).zip(widths(inputs)) {
        let largest = row.iter().fold(0f32, |most, weight| most.max(weight.abs()));
        let largest_number = f32::from(if width == 1 { i8::MAX.into() } else { i16::MAX });
        let unit = if largest > 0.0 {
            largest / largest_number
        } else {
            1.0
        };
        bytes.extend(unit.to_le_bytes());
        for weight in row {
            let number = (weight / unit).round();
            // The low byte of a value that fits in one byte is the value.
            bytes.extend(&(number as i16).to_le_bytes()[..width]);
        }
    }
    bytes
}

/// Reads a net, and checks that it fits this program.
///
/// # Errors
/// What does not fit.
pub fn read(bytes: &[u8]) -> Result<(NetEvaluator, NetFileHeader), NetError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(NetError::Magic)?;
    let end = rest.iter().position(|&byte| byte == b'\n');
    let (line, weights) = rest.split_at(end.unwrap_or(rest.len()));
    let header: NetFileHeader = serde_json::from_slice(line)?;
    if header.format != FORMAT {
        return Err(NetError::Format(header.format));
    }
    let layout = InputLayout::new(header.variant.seats());
    let inputs = layout.inputs();
    let shapes = [
        ("inputs", header.inputs, inputs),
        ("units in the first layer", header.hidden, HIDDEN),
        ("units in the second layer", header.second, HIDDEN_2),
        ("heads", header.heads, HEADS),
    ];
    for (what, found, needed) in shapes {
        if found != needed {
            return Err(NetError::Shape {
                what,
                found,
                needed,
            });
        }
    }
    let needed = fingerprint(header.variant);
    if header.fingerprint != needed {
        let found = header.fingerprint;
        return Err(NetError::Fingerprint { found, needed });
    }
    let mut net = Net::zero(inputs);
    let mut weights = weights.get(1..).unwrap_or_default();
    let needed = rows(&net)
        .zip(widths(inputs))
        .map(|(row, width)| UNIT + row.len() * width)
        .sum();
    if weights.len() != needed {
        let found = weights.len();
        return Err(NetError::Length { found, needed });
    }
    for (row, width) in rows_mut(&mut net).zip(widths(inputs)) {
        let (unit, rest) = weights.split_at(UNIT);
        let unit = f32::from_le_bytes(unit.try_into().expect("four bytes"));
        if !(unit.is_finite() && unit > 0.0) {
            return Err(NetError::Unit);
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
    Ok((NetEvaluator { layout, net }, header))
}

/// A hash of the inputs for positions of some random games. It changes when an input gets another
/// meaning and, nearly always, when the rules or the random games change.
pub fn fingerprint(variant: NetVariant) -> String {
    let layout = InputLayout::new(variant.seats());
    let mut hash = Sha256::new();
    let mut list = Vec::new();
    hash.update(VERSION.to_le_bytes());
    for preset in Preset::ALL {
        let mut options = variant.options(preset);
        // The nets were trained when `hausregeln` had this.
        if options.exchange == Exchange::OnRequest {
            options.exchange = Exchange::Optional;
        }
        let rules = Rules::try_from(options).expect("a possible set of rules");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut game = Playout::new(&rules, Seat::default());
        for _ in 0..40 {
            game.play_on(&mut rng, 13);
            if game.phase() != Phase::Play {
                continue;
            }
            let view = game.seen_from(game.turn());
            let inputs = Inputs::new(&layout, &view, AfterChoice::Played);
            list.clear();
            let kept = HandInfo::Known(view.hand);
            inputs.cards(kept, &mut list);
            inputs.board(&view.board, kept, &mut list);
            for Input { index, value } in &list {
                hash.update(index.to_le_bytes());
                hash.update(value.to_le_bytes());
            }
        }
    }
    let digest = hash.finalize();
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
