//! A seven part by part leads to exactly the boards of the list, on random positions.

use std::collections::{BTreeSet, HashSet};

use dog_rules::{
    BegunSeven, Board, Card, Cards, Generator, LegalMove, Preset, Refusal, SevenPartner,
    begun_seven::{NextPart, SevenSoFar},
};
use rand::{rngs::ChaCha8Rng, seq::IteratorRandom};

use super::{
    naive::NaiveBegunSeven,
    position::{PositionExt, TestPosition, cards, read_move, seat},
    properties::{Random, rng},
};

fn read(text: &str) -> BegunSeven {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

impl Random {
    fn begun(&self, text: &str) -> Result<SevenSoFar, Refusal> {
        read(text).judge(&self.rules, &self.board, self.seat, Cards::deck(1))
    }

    /// The next parts of a begun seven. All that they say is checked against the judge.
    #[track_caller]
    fn next(&self, text: &str) -> Vec<NextPart> {
        let so_far = self.begun(text);
        let so_far = so_far.unwrap_or_else(|refusal| panic!("{text} of {self}: {refusal}"));
        let next = read(text).next_parts(&self.rules, self.seat, &so_far);
        assert_eq!(next.is_empty(), so_far.left == 0, "{text} of {self}");
        let mut ids = HashSet::new();
        for part in &next {
            let id = part.begun.to_string();
            assert!(ids.insert(id.clone()), "{id} twice, of {self}");
            let after = self.begun(&id).expect("a listed part");
            let (parts, captures) = (&after.outcome.parts, &after.outcome.captures);
            let before = so_far.outcome.parts.len();
            assert_eq!(
                &parts[..before],
                &so_far.outcome.parts[..],
                "{id} of {self}"
            );
            assert_eq!(parts[before..], [part.part], "{id} of {self}");
            let before = so_far.outcome.captures.len();
            assert_eq!(captures[before..], part.captures[..], "{id} of {self}");
            assert_eq!(after.outcome.board, part.board, "{id} of {self}");
            assert_eq!(after.left, part.left, "{id} of {self}");
            let taken: u8 = parts.iter().map(|part| part.steps).sum();
            assert_eq!(taken + part.left + part.lapsed, 7, "{id} of {self}");
            if part.left == 0 {
                // A complete id can be played as it is.
                assert_eq!(
                    self.accepted(&read_move(&id)),
                    after.outcome,
                    "{id} of {self}"
                );
            }
        }
        next
    }

    /// The boards that following every next part leads to. None if there are too many ways.
    fn follow(&self) -> Option<HashSet<Board>> {
        let (mut boards, mut steps) = (HashSet::new(), 0);
        let mut begun = vec!["7:".to_owned()];
        while let Some(text) = begun.pop() {
            for part in self.next(&text) {
                if part.left == 0 {
                    boards.insert(part.board);
                } else {
                    begun.push(part.begun.to_string());
                }
            }
            steps += 1;
            if steps > 2_000 {
                return None;
            }
        }
        Some(boards)
    }
}

fn boards(listed: &[LegalMove]) -> HashSet<Board> {
    listed.iter().map(|legal| legal.outcome.board).collect()
}

#[test]
fn part_by_part_leads_to_the_boards_of_the_list() {
    let mut rng = rng(41);
    let mut generator = Generator::new();
    let (mut presets, mut partners, mut all, mut lapsed) = (BTreeSet::new(), 0, 0, 0);
    for _ in 0..3_000 {
        let position = Random::new(&mut rng);
        let listed = position.moves(&mut generator, Card::Seven);
        let expected = boards(&listed);
        if listed.is_empty() {
            let refusal = position.begun("7:").expect_err("no seven");
            assert_eq!(refusal, Refusal::SevenNotCompleted(7), "{position}");
            continue;
        }
        // Every board of the list is reached: by the parts of the listed move.
        for legal in listed.iter().sample(&mut rng, 20) {
            let id = legal.mv.to_string();
            let cuts = id.match_indices([':', ',']).map(|(index, _)| index);
            let mut text = "7:".to_owned();
            for cut in cuts.skip(1).chain([id.len()]) {
                let next = position.next(&text);
                text = id[..cut].to_owned();
                let part = next.iter().find(|part| part.begun.to_string() == text);
                let part = part.unwrap_or_else(|| panic!("{text} of {position}"));
                lapsed += u32::from(part.lapsed > 0);
            }
        }
        // Nothing else is reached: in every way, or else in many random ways.
        if let Some(reached) = position.follow() {
            assert_eq!(reached, expected, "{position}");
            all += 1;
            for preset in Preset::ALL {
                if *position.rules.options() == preset.options() {
                    presets.insert(preset.name());
                }
            }
            partners += u32::from(position.rules.seven_partner == SevenPartner::Always);
            continue;
        }
        for _ in 0..50 {
            let mut text = "7:".to_owned();
            loop {
                let next = position.next(&text);
                let part = next.iter().choose(&mut rng).expect("a next part");
                text = part.begun.to_string();
                if part.left == 0 {
                    assert!(expected.contains(&part.board), "{text} of {position}");
                    break;
                }
            }
        }
    }
    assert_eq!(presets.len(), Preset::ALL.len(), "{presets:?}");
    assert!(
        all > 1_000 && partners > 50 && lapsed > 10,
        "{all} {partners} {lapsed}"
    );
}

/// The naive implementation finds the same next parts, in random sevens.
#[test]
fn every_part_that_may_come_next_is_listed() {
    let mut rng = rng(42);
    for _ in 0..2_000 {
        let position = Random::new(&mut rng);
        let Random { rules, board, seat } = &position;
        if position.begun("7:").is_err() {
            let begun = NaiveBegunSeven::new(rules, board, *seat);
            assert!(begun.next(rules, *seat).is_empty(), "{position}");
            continue;
        }
        for _ in 0..3 {
            follow_both(&position, &mut rng);
        }
    }
}

/// Follows a random seven, and compares the next parts of each step.
fn follow_both(position: &Random, rng: &mut ChaCha8Rng) {
    let Random { rules, board, seat } = position;
    let mut naive = NaiveBegunSeven::new(rules, board, *seat);
    let mut text = "7:".to_owned();
    loop {
        let next = position.next(&text);
        let name = |part: &NextPart| {
            let id = part.begun.to_string();
            let start = id.rfind([':', ',']).expect("a separator") + 1;
            id[start..].to_owned()
        };
        let names: BTreeSet<String> = next.iter().map(name).collect();
        let mut expected = naive.next(rules, *seat);
        let listed: BTreeSet<String> = expected.keys().cloned().collect();
        assert_eq!(names, listed, "{text} of {position}");
        let Some(part) = next.iter().choose(rng) else {
            return;
        };
        naive = expected.remove(&name(part)).expect("the same part");
        assert_eq!(
            naive.is_complete(rules, *seat),
            part.left == 0,
            "{text} of {position}"
        );
        text = part.begun.to_string();
    }
}

/// The begun sevens that the next parts of this one lead to.
fn next(position: &TestPosition, hand: &str, text: &str) -> Vec<String> {
    let (rules, begun) = (&position.rules, read(text));
    let so_far = begun
        .judge(rules, &position.board, seat(0), cards(hand))
        .unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    let next = begun.next_parts(rules, seat(0), &so_far);
    next.iter().map(|part| part.begun.to_string()).collect()
}

#[test]
fn only_pieces_without_a_part_come_next() {
    let position = Preset::DogspielIt.at("0: 10 30");
    // Both pieces, in any order and with any number of steps.
    let first = next(&position, "7", "7:");
    assert_eq!(first.len(), 14, "{first:?}");
    assert_eq!(next(&position, "7", "7:30>32"), ["7:30>32,10>15"]);
    assert_eq!(
        next(&position, "joker", "joker=7:30>32"),
        ["joker=7:30>32,10>15"]
    );
    assert!(next(&position, "7", "7:30>32,10>15").is_empty());
    // A piece may be named again; each part is judged literally.
    assert_eq!(
        next(&position, "7", "7:10>12,12>13"),
        ["7:10>12,12>13,30>34"]
    );
    assert!(next(&position, "7", "7:10>12,12>17").is_empty());
}

#[test]
fn a_part_is_listed_only_if_the_seven_can_be_completed() {
    // The only piece takes all steps.
    let position = Preset::DogspielIt.at("0: 10");
    assert_eq!(next(&position, "7", "7:"), ["7:10>17"]);
    // The piece in the goal takes one step or none, so the other takes 6 or 7.
    let position = Preset::DogspielIt.at("0: 10 g2");
    assert_eq!(
        next(&position, "7", "7:"),
        ["7:10>16", "7:10>17", "7:g2>g3"]
    );
    // The other must leave first: it would be captured.
    let position = Preset::DogspielIt.at("0: 20 22");
    let after = next(&position, "7", "7:20>21");
    assert_eq!(after, ["7:20>21,22>28"]);
    assert!(!next(&position, "7", "7:").contains(&"7:20>23".to_owned()));
}

#[test]
fn steps_that_lapse_are_told() {
    let position = Preset::Hausregeln.at("0: full | 2: g1 g2 g3 27");
    let begun = read("7:");
    let so_far = begun.judge(&position.rules, &position.board, seat(0), cards("7"));
    let next = begun.next_parts(&position.rules, seat(0), &so_far.expect("a seven"));
    let told: Vec<(String, u8, u8)> = next
        .iter()
        .map(|part| (part.begun.to_string(), part.left, part.lapsed))
        .collect();
    assert!(told.contains(&("7:27>p0".to_owned(), 0, 4)), "{told:?}");
    assert!(told.contains(&("7:27>34".to_owned(), 0, 0)), "{told:?}");
}

#[test]
fn what_cannot_be_completed_or_is_not_in_the_hand_is_refused() {
    let position = Preset::DogspielIt.at("0: 10 | 1: 20");
    let refused = |hand: &str, text: &str| {
        let judged = read(text).judge(&position.rules, &position.board, seat(0), cards(hand));
        judged.expect_err(text).to_string()
    };
    assert_eq!(refused("K joker", "7:"), "there is no 7 in the hand");
    assert_eq!(refused("K 7", "joker=7:"), "there is no joker in the hand");
    let cannot = "the pieces that have had no part cannot take the";
    assert_eq!(
        refused("7", "7:10>13"),
        format!("{cannot} 4 steps that are left of the seven")
    );
    assert_eq!(refused("7", "7:10>18"), read_refusal(&position, "7:10>18"));
    assert_eq!(refused("7", "7:20>27"), read_refusal(&position, "7:20>27"));
    let empty = Preset::DogspielIt.at("");
    let none = read("7:").judge(&empty.rules, &empty.board, seat(0), cards("7"));
    assert_eq!(none, Err(Refusal::SevenNotCompleted(7)));
}

/// How `play` refuses this move.
fn read_refusal(position: &TestPosition, id: &str) -> String {
    let judged = position.judge(0, id, cards("7"));
    judged.expect_err(id).to_string()
}
