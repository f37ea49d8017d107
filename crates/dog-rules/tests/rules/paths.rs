//! The fields that a piece walks over in a move.

use dog_rules::{Card, Field, Generator, LegalMove, Preset::*, judge::MoveKind, ring::bit};

use super::{
    position::{PositionExt, TestPosition},
    properties::{Random, rng},
};

/// The paths of a legal move's parts, such as `"62 63 0 g0"`.
fn paths(position: &TestPosition, id: &str) -> Vec<String> {
    let outcome = position.outcome(0, id);
    let name = |field: &Field| match field {
        Field::Track(field) => field.to_string(),
        Field::Goal(field) => format!("g{field}"),
    };
    let parts = outcome.parts.iter();
    let paths = parts.map(|part| part.path(&position.rules, outcome.kind));
    paths
        .map(|path| path.iter().map(name).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn a_path_has_every_field_and_its_target_last() {
    let position = DogspielIt.at("0: 61 10 g0 | 1: 30");
    for (id, expected) in [
        ("3:10>13", vec!["11 12 13"]),
        ("5:61>2", vec!["62 63 0 1 2"]),
        ("4:10>6", vec!["9 8 7 6"]),
        ("3:g0>g3", vec!["g1 g2 g3"]),
        ("7:g0>g3,61>g0", vec!["g1 g2 g3", "62 63 0 g0"]),
        ("K:out", vec![""]),
        ("J:10<>30", vec!["", ""]),
    ] {
        assert_eq!(paths(&position, id), expected, "{id}");
    }
    let position = Hausregeln.at("0: 2 1 57");
    for (id, expected) in [
        ("4:2>58", vec!["1 0 59 58"]),
        ("4:2>g0", vec!["1 0 59 g0"]),
        ("4:1>g1", vec!["0 59 g0 g1"]),
        ("6:57>g3", vec!["58 59 g0 g1 g2 g3"]),
    ] {
        assert_eq!(paths(&position, id), expected, "{id}");
    }
}

/// A path has as many fields as the part has steps and ends where the part ends, and in a seven all
/// who stand on it are captured.
#[test]
fn paths_fit_their_parts() {
    let mut rng = rng(31);
    let mut generator = Generator::new();
    for _ in 0..3_000 {
        let position = Random::new(&mut rng);
        for card in Card::RANKS {
            for LegalMove { outcome, .. } in position.moves(&mut generator, card) {
                let mut captured = 0;
                for part in outcome.parts.iter() {
                    let path = part.path(&position.rules, outcome.kind);
                    assert_eq!(
                        path.len(),
                        usize::from(part.steps),
                        "{part:?} of {position}"
                    );
                    if part.steps > 0 {
                        assert_eq!(path.last(), Some(&part.to));
                    }
                    for field in path {
                        if let Field::Track(field) = field {
                            captured |= bit(field);
                        }
                    }
                }
                if outcome.kind == MoveKind::Seven {
                    let mut on_path = outcome.captures.iter().map(|capture| capture.from);
                    assert!(on_path.all(|field| captured & bit(field) != 0));
                }
            }
        }
    }
}
