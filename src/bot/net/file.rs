//! A net as it lies in a file: a line that says what it is, a header in JSON on the next, then the
//! weights, block by block, as 16-bit numbers (little endian) in units that the header gives.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    HIDDEN, Net, SECOND,
    inputs::{self, Layout, Setting},
    judge::Judge,
};

/// The first line of a file.
const MAGIC: &[u8] = b"dog-net\n";
/// The version of the format.
const FORMAT: u32 = 1;
/// The largest number that a weight is written as.
const LARGEST: f32 = i16::MAX as f32;

/// What a file says of its net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub format: u32,
    /// For which tables the net was trained.
    pub setting: Setting,
    pub inputs: usize,
    pub hidden: usize,
    pub second: usize,
    /// What the inputs are for some positions of some games, hashed: see [`inputs::fingerprint`].
    pub fingerprint: String,
    /// How it was trained.
    pub run: String,
    /// How strong it was found to be, and against whom.
    pub strength: String,
    /// The unit of each block of weights.
    pub units: Vec<f32>,
}

/// Why a file is not a net that this program can use.
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
        "the net was trained with other inputs or other rules than this program's (fingerprint {found}, needed {needed})"
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

impl Header {
    /// Checks that the net is for this setting.
    ///
    /// # Errors
    /// Says which it is for.
    pub fn fits(&self, setting: Setting) -> Result<(), NetError> {
        if self.setting == setting {
            return Ok(());
        }
        Err(NetError::Setting {
            found: self.setting.name(),
            needed: setting.name(),
        })
    }
}

/// Writes a net.
pub fn write(judge: &Judge, setting: Setting, run: &str, strength: &str) -> Vec<u8> {
    let net = &judge.net;
    let unit = |block: &[f32]| {
        let largest = block
            .iter()
            .fold(0f32, |most, weight| most.max(weight.abs()));
        if largest > 0.0 {
            largest / LARGEST
        } else {
            1.0
        }
    };
    let units: Vec<f32> = net.blocks().map(unit).collect();
    let header = Header {
        format: FORMAT,
        setting,
        inputs: judge.layout.len(),
        hidden: HIDDEN,
        second: SECOND,
        fingerprint: inputs::fingerprint(setting),
        run: run.to_owned(),
        strength: strength.to_owned(),
        units: units.clone(),
    };
    let mut bytes = MAGIC.to_vec();
    bytes.extend(serde_json::to_vec(&header).expect("a header is JSON"));
    bytes.push(b'\n');
    for (block, unit) in net.blocks().zip(units) {
        for weight in block {
            bytes.extend(((weight / unit).round() as i16).to_le_bytes());
        }
    }
    bytes
}

/// Reads a net, and checks that it fits this program.
///
/// # Errors
/// Says what does not fit.
pub fn read(bytes: &[u8]) -> Result<(Judge, Header), NetError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(NetError::Magic)?;
    let end = rest.iter().position(|&byte| byte == b'\n');
    let (line, weights) = rest.split_at(end.unwrap_or(rest.len()));
    let header: Header = serde_json::from_slice(line)?;
    if header.format != FORMAT {
        return Err(NetError::Format(header.format));
    }
    let layout = Layout::new(header.setting.seats());
    let mut net = Net::zero(layout.len());
    let shapes = [
        ("inputs", header.inputs, layout.len()),
        ("units in the first layer", header.hidden, HIDDEN),
        ("units in the second layer", header.second, SECOND),
        (
            "blocks of weights",
            header.units.len(),
            net.blocks().count(),
        ),
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
    let needed = inputs::fingerprint(header.setting);
    if header.fingerprint != needed {
        let found = header.fingerprint;
        return Err(NetError::Fingerprint { found, needed });
    }
    let weights = weights.get(1..).unwrap_or_default();
    let needed = 2 * net.blocks().map(<[f32]>::len).sum::<usize>();
    if weights.len() != needed {
        let found = weights.len();
        return Err(NetError::Length { found, needed });
    }
    let mut numbers = weights.chunks_exact(2);
    for (block, &unit) in net.blocks_mut().zip(&header.units) {
        if !(unit.is_finite() && unit > 0.0) {
            return Err(NetError::Unit);
        }
        for (weight, number) in block.iter_mut().zip(&mut numbers) {
            let number = i16::from_le_bytes([number[0], number[1]]);
            *weight = f32::from(number) * unit;
        }
    }
    Ok((Judge { layout, net }, header))
}
