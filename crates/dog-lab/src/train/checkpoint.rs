//! A run on disk: everything that it needs to go on as if it had not stopped.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, ensure};
use dog_bot::net::{Net, fingerprint::fingerprint, inputs::Layout, judge::Judge};
use serde::{Deserialize, Serialize};

use super::{Plan, Run, gradient::Adam};

/// The first line of a checkpoint, in JSON; the weights follow as 32-bit numbers.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    plan: Plan,
    #[serde(default)]
    before: Option<String>,
    fingerprint: String,
    games: u64,
    samples: u64,
    steps: u64,
}

/// Writes a run, in place of the one that was there; a crash leaves the one or the other.
///
/// # Errors
/// If the file cannot be written.
pub fn save(run: &Run, path: &Path) -> anyhow::Result<()> {
    let header = Header {
        plan: run.plan.clone(),
        before: run.before.clone(),
        fingerprint: fingerprint(run.plan.setting),
        games: run.games,
        samples: run.samples,
        steps: run.adam.steps,
    };
    let beside = path.with_extension("new");
    let mut file = io::BufWriter::new(fs::File::create(&beside)?);
    serde_json::to_writer(&mut file, &header)?;
    file.write_all(b"\n")?;
    for net in [
        &run.judge.net,
        &run.averaged,
        &run.adam.mean,
        &run.adam.square,
    ] {
        for weight in net.blocks().flatten() {
            file.write_all(&weight.to_le_bytes())?;
        }
    }
    file.into_inner()?.sync_all()?;
    fs::rename(&beside, path).with_context(|| path.display().to_string())
}

/// Reads a run.
///
/// # Errors
/// If the file cannot be read, or is of another program's inputs.
pub fn load(path: &Path) -> anyhow::Result<Run> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let end = end.context("a checkpoint begins with a line of JSON")?;
    let header: Header = serde_json::from_slice(&bytes[..end])?;
    let setting = header.plan.setting;
    ensure!(
        header.fingerprint == fingerprint(setting),
        "the checkpoint was made with other inputs or other rules"
    );
    let layout = Layout::new(setting.seats());
    let mut nets = std::array::from_fn::<Net, 4, _>(|_| Net::zero(layout.len()));
    let weights = &bytes[end + 1..];
    let needed: usize = nets
        .iter()
        .flat_map(|net| net.blocks())
        .map(<[f32]>::len)
        .sum();
    ensure!(weights.len() == 4 * needed, "the checkpoint is cut short");
    let mut numbers = weights.chunks_exact(4);
    for net in &mut nets {
        for weight in net.blocks_mut().flatten() {
            let number = numbers.next().expect("counted above");
            *weight = f32::from_le_bytes(number.try_into().expect("four bytes"));
        }
    }
    let [net, averaged, mean, square] = nets;
    Ok(Run {
        plan: header.plan,
        before: header.before,
        judge: Judge { layout, net },
        averaged,
        adam: Adam {
            mean,
            square,
            steps: header.steps,
        },
        games: header.games,
        samples: header.samples,
    })
}
