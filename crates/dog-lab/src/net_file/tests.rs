//! Net files: what is written can be read, what does not fit is refused, and nothing panics.

use dog_bot::{
    net::nets::Nets,
    testing::{random_net, rng},
};
use dog_rules::Preset;
use rand::RngExt;
use serde_json::Value;

use super::*;

fn evaluator(variant: NetVariant) -> NetEvaluator {
    let layout = InputLayout::new(variant.seats());
    let mut net = random_net(layout.inputs(), &mut rng(1));
    // An all-zero block has a unit too.
    net.heads[0].last_bias = 0.0;
    NetEvaluator { layout, net }
}

fn bytes() -> Vec<u8> {
    let variant = NetVariant::Four16;
    write(&evaluator(variant), variant, "a run", "a strength")
}

/// The offset of the weights.
fn weights(bytes: &[u8]) -> usize {
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    lines.by_ref().take(2).map(<[u8]>::len).sum()
}

/// The same file with one member of its header replaced.
fn with(name: &str, value: impl Into<Value>) -> Vec<u8> {
    let bytes = bytes();
    let (header, weights) = bytes.split_at(weights(&bytes));
    let mut header: Value = serde_json::from_slice(&header[b"dog-net\n".len()..]).unwrap();
    assert!(header.get(name).is_some(), "{name}");
    header[name] = value.into();
    [b"dog-net\n", header.to_string().as_bytes(), b"\n", weights].concat()
}

#[test]
fn a_net_survives_its_file() {
    for variant in NetVariant::ALL {
        let evaluator = evaluator(variant);
        let bytes = write(&evaluator, variant, "a run", "a strength");
        let (again, header) = read(&bytes).unwrap();
        assert_eq!(header.variant, variant);
        assert_eq!(header.inputs, InputLayout::new(variant.seats()).inputs());
        let sizes = (header.hidden, header.second, header.heads);
        assert_eq!(sizes, (HIDDEN, HIDDEN_2, HEADS));
        assert_eq!(header.fingerprint, fingerprint(variant));
        assert_eq!((&*header.run, &*header.strength), ("a run", "a strength"));
        let largest = |row: &[f32]| row.iter().fold(0f32, |most, weight| most.max(weight.abs()));
        let near = |row: &[f32], again: &[f32], steps: f32| {
            // Half a step, and the rounding error of the division.
            let most = 0.51 * largest(row) / steps;
            let off = |(weight, again): (&f32, &f32)| (weight - again).abs() > most;
            assert!(!row.iter().zip(again).any(off), "steps of {most}");
        };
        for (row, again) in evaluator.net.first.iter().zip(again.net.first.iter()) {
            near(row, again, 127.0);
        }
        for (block, again) in evaluator.net.blocks().zip(again.net.blocks()).skip(1) {
            near(block, again, 32_767.0);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let whole = bytes();
    let begin = weights(&whole);
    let long = [&whole[..], &[0]].concat();
    let unit = |place: usize, unit: f32| {
        let mut bytes = whole.clone();
        bytes[begin + place..][..4].copy_from_slice(&unit.to_le_bytes());
        bytes
    };
    let not_positive = "a unit of the weights is not a positive number";
    let needed = format!("needed {}", fingerprint(NetVariant::Four15));
    let cut = |end: usize| whole[..end].to_vec();
    for (bytes, message) in [
        (Vec::new(), "this is not a net"),
        (whole[1..].to_vec(), "this is not a net"),
        (cut(begin / 2), "the header cannot be read"),
        (cut(b"dog-net\n".len()), "the header cannot be read"),
        (with("setting", "five"), "the header cannot be read"),
        (with("inputs", -1), "the header cannot be read"),
        (
            with("format", 2),
            "the file has format 2, this program reads format 3",
        ),
        (with("inputs", 5), "the net has 5 inputs, this program"),
        (with("setting", "six"), " inputs, this program needs "),
        (
            with("hidden", 64),
            "64 units in the first layer, this program needs 256",
        ),
        (
            with("second", 0),
            "0 units in the second layer, this program needs 32",
        ),
        (
            with("heads", 1),
            "the net has 1 heads, this program needs 5",
        ),
        (with("setting", "four-15"), &needed),
        (with("fingerprint", "0123"), "(fingerprint 0123, needed "),
        (cut(begin), "the file has 0 bytes of weights"),
        (cut(begin - 1), "the file has 0 bytes of weights"),
        (cut(whole.len() - 1), " bytes of weights where "),
        (cut(whole.len() - 2), " bytes of weights where "),
        (long, " bytes of weights where "),
        (unit(0, 0.0), not_positive),
        (unit(0, -1e-5), not_positive),
        (unit(0, f32::INFINITY), not_positive),
        (unit(0, f32::NAN), not_positive),
        // The last row is the last bias.
        (unit(whole.len() - begin - 6, 0.0), not_positive),
    ] {
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains(message), "{error:?} is not {message:?}");
    }
    assert!(read(&with("run", "another")).is_ok());
}

#[test]
fn a_net_for_another_table_says_so() {
    let (_, header) = read(&bytes()).unwrap();
    assert!(header.fits(NetVariant::Four16).is_ok());
    assert!(header.fits(NetVariant::Four15).is_err());
    let error = header.fits(NetVariant::Six).unwrap_err().to_string();
    assert_eq!(error, "the net is for four-16, not for six");
}

#[test]
fn damage_does_no_harm() {
    let whole = bytes();
    let mut rng = rng(9);
    let header = weights(&whole);
    let mut refused = 0;
    for _ in 0..150 {
        let mut bytes = whole.clone();
        for _ in 0..rng.random_range(1..4) {
            bytes[rng.random_range(0..header)] = rng.random();
        }
        if rng.random() {
            bytes.truncate(rng.random_range(0..2 * header));
        }
        match read(&bytes) {
            Ok((evaluator, _)) => {
                let mut weights = evaluator.net.blocks().flatten();
                assert!(weights.all(|weight| weight.is_finite()));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 75, "{refused}");
}

#[test]
fn the_program_carries_a_net_for_every_table() {
    let files: [&[u8]; 3] = [
        include_bytes!("../../../dog-bot/src/net/weights/four-15.net"),
        include_bytes!("../../../dog-bot/src/net/weights/four-16.net"),
        include_bytes!("../../../dog-bot/src/net/weights/six.net"),
    ];
    let nets = Nets::built_in();
    for preset in Preset::ALL {
        for seats in [4, 6] {
            let rules: Rules = format!("{} seats={seats}", preset.name()).parse().unwrap();
            let variant = NetVariant::for_rules(&rules);
            let (evaluator, header) = read(files[variant as usize]).unwrap();
            assert!(header.fits(variant).is_ok(), "{variant:?}");
            let built_in = &nets.for_rules(&rules).net;
            assert!(*built_in == evaluator.net, "{variant:?}");
        }
    }
    // The nets are part of the program's size.
    assert!(files.iter().map(|file| file.len()).sum::<usize>() <= 1_500_000);
}

#[test]
fn every_variant_has_its_fingerprint() {
    let prints = NetVariant::ALL.map(fingerprint);
    assert_eq!(prints, NetVariant::ALL.map(fingerprint));
    for (number, print) in prints.iter().enumerate() {
        assert!(!prints[..number].contains(print));
    }
}
