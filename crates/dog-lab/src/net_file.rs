//! Files of nets: see [`dog_bot::net::nets`] for their form. A file is refused unless its net was
//! trained with the inputs and the rules of this program.

use dog_bot::net::{
    HEADS, HIDDEN, HIDDEN_2, Net,
    evaluator::NetEvaluator,
    inputs::{AfterChoice, HandInfo, Input, InputLayout, Inputs, VERSION},
    nets::{NetVariant, WeightsError, read_weights, widths},
};
use dog_rules::{Exchange, Options, Phase, Playout, Preset, Rules, Seat};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The first line of a file.
const MAGIC: &[u8] = b"dog-net\n";
/// The version of the format.
const FORMAT: u32 = 3;

/// A preset's options with the ring and number of seats of this variant.
pub fn options(variant: NetVariant, preset: Preset) -> Options {
    let mut options = preset.options();
    options.seats = variant.seats();
    match variant {
        NetVariant::Four15 => options.fields_per_seat = 15,
        NetVariant::Four16 => options.fields_per_seat = 16,
        NetVariant::Six => {}
    }
    options
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
    #[error("the net is for {found}, not for {needed}")]
    Setting {
        found: &'static str,
        needed: &'static str,
    },
    #[error(transparent)]
    Weights(#[from] WeightsError),
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

/// Every weight of a net, row by row.
fn rows(net: &Net) -> impl Iterator<Item = &[f32]> {
    let first = net.first.iter().map(<[f32; HIDDEN]>::as_slice);
    first.chain(net.blocks().skip(1))
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
    let weights = weights.get(1..).unwrap_or_default();
    Ok((read_weights(header.variant, weights)?, header))
}

/// A hash of the inputs for positions of some random games. It changes when an input gets another
/// meaning and, nearly always, when the rules or the random games change.
pub fn fingerprint(variant: NetVariant) -> String {
    let layout = InputLayout::new(variant.seats());
    let mut hash = Sha256::new();
    let mut list = Vec::new();
    hash.update(VERSION.to_le_bytes());
    for preset in Preset::ALL {
        let mut options = options(variant, preset);
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

#[cfg(test)]
mod tests;
