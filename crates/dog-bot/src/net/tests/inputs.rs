//! The inputs of the net: nothing hidden, nothing twice, the same for every seat.

use dog_rules::{Board, BySeat, Card, Cards, Game, Placement, Preset, Rules, SeatView};
use rand::{RngExt, rngs::ChaCha8Rng};

use super::{evaluator, list, views};
use crate::{
    Choice,
    net::{
        inputs::{AfterChoice, HandInfo, Input, InputLayout},
        nets::NetVariant,
    },
    testing::{self, cards, hidden_changed, new_game, random_board, rng, seat, view},
    tests::{pieces, rules},
};

/// The inputs in a fixed order, to compare.
fn sorted(list: Vec<Input>) -> Vec<(u16, u32)> {
    let bits = |input: Input| (input.index, input.value.to_bits());
    let mut list: Vec<_> = list.into_iter().map(bits).collect();
    list.sort_unstable();
    list
}

/// Every choice in a view that the net could evaluate: what the seat did, and what it keeps.
fn choices(view: &SeatView) -> Vec<(AfterChoice, Cards)> {
    if view.exchanging {
        let choices = Choice::answers(view).into_iter();
        let after = choices.map(|choice| evaluator::after(view, choice));
        return after.collect();
    }
    let played = view.hand.ranks().map(|card| {
        let mut kept = view.hand;
        kept.remove(card);
        (AfterChoice::Played, kept)
    });
    let empty = [AfterChoice::Played, AfterChoice::RoundOver].map(|stage| (stage, Cards::EMPTY));
    played.chain(empty).collect()
}

/// The board with every seat's pieces moved to the next seat, a quarter of the ring further.
fn board_turned(rules: &Rules, board: &Board) -> Board {
    let mut placements = board.placements(rules);
    for field in placements.iter_mut().flat_map(|seat| &mut seat.track) {
        *field = rules.ring().forward(*field, rules.fields_per_seat);
    }
    placements.rotate_right(1);
    Board::place(rules, &placements).unwrap()
}

/// The view with everybody moved to the next seat.
fn turned<'a>(view: &SeatView<'a>) -> SeatView<'a> {
    fn turn<T: Copy + Default>(rules: &Rules, values: &BySeat<T>) -> BySeat<T> {
        let mut turned = BySeat::default();
        for seat in rules.ring().seats() {
            turned[seat.next(rules.seats)] = values[seat];
        }
        turned
    }
    let rules = view.rules;
    SeatView {
        board: board_turned(rules, &view.board),
        seat: view.seat.next(rules.seats),
        counts: turn(rules, &view.counts),
        known: turn(rules, &view.known),
        folded: turn(rules, &view.folded),
        asked: turn(rules, &view.asked),
        exchange: turn(rules, &view.exchange),
        beginner: view.beginner.next(rules.seats),
        ..view.clone()
    }
}

/// The board of the view, or one that does not occur in a game.
fn any_board(view: &SeatView, rng: &mut ChaCha8Rng) -> Board {
    if rng.random() {
        view.board
    } else {
        random_board(view.rules, rng)
    }
}

#[test]
fn every_seat_has_the_same_inputs() {
    let mut listed = 0;
    views(1, 40, |view, rng| {
        let layout = InputLayout::new(view.rules.seats);
        let mut view = view.clone();
        view.board = any_board(&view, rng);
        let turned = turned(&view);
        for (stage, kept) in choices(&view) {
            for kept in [HandInfo::Known(kept), HandInfo::Count(kept.len())] {
                let inputs = list(&view, stage, kept, &view.board);
                let indices = inputs.iter().map(|input| usize::from(input.index));
                assert!(indices.max().unwrap() < layout.inputs());
                let other = list(&turned, stage, kept, &turned.board);
                assert_eq!(sorted(inputs), sorted(other));
                listed += 1;
            }
        }
    });
    assert!(listed > 1_000, "{listed}");
}

/// The last turn of a round and the end of that round look the same.
#[test]
fn a_round_that_is_over_looks_as_after_its_last_turn() {
    let rules = Preset::DogspielIt.rules();
    let mut last = view(&rules, &["20 30 g1", "40", "50 g0", "0"], "2");
    last.counts = BySeat::default();
    last.counts[last.seat] = 1;
    let mut over = last.clone();
    (over.round, over.beginner) = (last.round + 1, last.beginner.next(rules.seats));
    over.counts = BySeat::default();
    let listed = |view: &SeatView, stage| {
        let kept = HandInfo::Known(Cards::EMPTY);
        sorted(list(view, stage, kept, &view.board))
    };
    let ended = listed(&over, AfterChoice::RoundOver);
    assert_eq!(ended, listed(&last, AfterChoice::Played));
    // It is known who begins the next round, and with how many cards.
    over.beginner = over.beginner.next(rules.seats);
    assert_ne!(ended, listed(&over, AfterChoice::RoundOver));
    over.beginner = last.beginner.next(rules.seats);
    over.round += 1;
    assert_ne!(ended, listed(&over, AfterChoice::RoundOver));
}

/// Any changed fact changes the inputs.
#[test]
fn every_fact_changes_the_inputs() {
    let rules = Preset::DogspielIt.rules();
    let seats = [0, 1, 2, 3].map(|number| seat(number, &rules));
    let mut first = view(&rules, &["20 30 g1", "40", "50 g0", "0"], "2 5 K");
    first.discards = cards("3 9");
    let listed =
        |view: &SeatView, stage| sorted(list(view, stage, HandInfo::Known(view.hand), &view.board));
    let mut all = vec![listed(&first, AfterChoice::Played)];
    let changes: [&dyn Fn(&mut SeatView); 15] = [
        &|view| view.hand = cards("2 5 A"),
        &|view| view.hand = cards("2 5"),
        &|view| view.hand = cards("2 2 K"),
        &|view| view.discards = cards("3 3 9"),
        &|view| view.discards = cards("3 10"),
        &|view| view.counts[seats[1]] = 2,
        &|view| view.counts[seats[2]] = 2,
        &|view| view.counts[seats[1]] = 0,
        &|view| view.known[seats[2]] = cards("K"),
        &|view| view.known[seats[2]] = cards("4"),
        &|view| view.asked[seats[0]] = true,
        &|view| view.asked[seats[2]] = true,
        &|view| view.beginner = seats[1],
        &|view| view.round = 2,
        &|view| view.seat = seats[2],
    ];
    for change in changes {
        let mut view = first.clone();
        change(&mut view);
        all.push(listed(&view, AfterChoice::Played));
    }
    let stages = [
        AfterChoice::Declined,
        AfterChoice::Asked,
        AfterChoice::Offered(Card::Nine),
        AfterChoice::Offered(Card::Ace),
    ];
    all.extend(stages.map(|stage| listed(&first, stage)));
    let positions = "20 31 g1 / 40 / 50 g0 / 0
                     20 30 g2 / 40 / 50 g0 / 0
                     20 30 / 40 / 50 g0 / 0
                     20 30 g1 / 41 / 50 g0 / 0
                     20 30 g1 / 40 / 50 g0 g1 / 0
                     20 30 g1 / 40 / 50 g0 / 0 16
                     0 20 30 / 40 / 50 g0 / -
                     0f 20 30 / 40 / 50 g0 / -";
    for position in positions.lines() {
        let mut view = first.clone();
        view.board = testing::board(&rules, &pieces(position));
        all.push(listed(&view, AfterChoice::Played));
    }
    let options = "jokers=7
                   exchange=optional
                   start_block=always
                   start_swap_protection=always
                   goal_entry=before_start
                   goal_entry=before_start backward_into_goal=true
                   seven_landing=must_be_free
                   seven_surplus=lapses_on_win
                   seven_partner=always
                   jack_own_pair=true
                   jack_without_effect=true";
    for options in options.lines() {
        let rules = self::rules(&format!("dogspiel-it {options}"));
        let mut view = first.clone();
        view.rules = &rules;
        all.push(listed(&view, AfterChoice::Played));
    }
    let mut other_deals = Preset::DogspielIt.options();
    other_deals.deal_sizes.first[1] = 3;
    let other_deals = Rules::try_from(other_deals).unwrap();
    first.rules = &other_deals;
    all.push(listed(&first, AfterChoice::Played));
    for fields_per_seat in [15, 16] {
        let rules = self::rules(&format!(
            "dogspiel-it seats=6 fields_per_seat={fields_per_seat}"
        ));
        let view = view(&rules, &[""; 6], "2 5");
        all.push(listed(&view, AfterChoice::Played));
    }
    let facts = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), facts);
}

/// What the nets were not trained with is played by the values that come nearest.
#[test]
fn other_options_have_the_inputs_of_those_that_come_nearest() {
    let listed = |options: &str| {
        let rules = rules(&format!("dogspiel-it {options}"));
        let view = view(&rules, &["20 30", "40", "50 g0", "0"], "5 joker");
        let kept = HandInfo::Known(view.hand);
        sorted(list(&view, AfterChoice::Played, kept, &view.board))
    };
    assert_eq!(listed("exchange=on_request"), listed("exchange=optional"));
    for option in [
        "backward_into_goal=true",
        "capture_own=false",
        "seven_rest=one_piece",
        "reshuffle=before_deal",
        "jack_without_effect_when=no_swap_possible",
        "fresh_into_goal=true",
    ] {
        assert_eq!(listed(option), listed(""), "{option}");
    }
    // With a door before the start, a fresh piece is what it was.
    let before = "goal_entry=before_start";
    let fresh = |options: &str, start: &str| {
        let rules = rules(&format!("familienlager {options}"));
        let view = view(&rules, &["20 30", "40", "50 g0", start], "2 Q");
        let kept = HandInfo::Known(view.hand);
        sorted(list(&view, AfterChoice::Played, kept, &view.board))
    };
    assert_eq!(
        fresh(&format!("{before} fresh_into_goal=true"), "48f"),
        fresh(before, "48f")
    );
    // Otherwise one that may enter its goal is as one that came round.
    assert_eq!(fresh("fresh_into_goal=true", "48f"), fresh("", "48"));
    assert_ne!(fresh("", "48f"), fresh("", "48"));
}

#[test]
fn a_moved_piece_changes_the_inputs() {
    views(2, 30, |view, rng| {
        let board = any_board(view, rng);
        let kept = HandInfo::Known(view.hand);
        let listed = |board: &Board| sorted(list(view, AfterChoice::Played, kept, board));
        let before = listed(&board);
        for _ in 0..5 {
            let mut placements = board.placements(view.rules);
            if moved(&mut placements, rng) {
                let after = Board::place(view.rules, &placements).unwrap();
                assert_ne!(before, listed(&after), "{placements:?}");
            }
        }
    });
}

/// Takes a piece off the track, to another field of it or to the kennel.
fn moved(placements: &mut [Placement], rng: &mut ChaCha8Rng) -> bool {
    let to = rng.random_range(0..80);
    let free = to < 60 && !placements.iter().any(|seat| seat.track.contains(&to));
    let seat = rng.random_range(0..placements.len());
    let placement = &mut placements[seat];
    if placement.track.is_empty() || placement.fresh {
        return false;
    }
    placement.track.swap_remove(0);
    placement.kennel = None;
    if free {
        placement.track.push(to);
    }
    true
}

/// If a hand is not shown, the inputs have only its size, whatever else the view knows.
#[test]
fn a_hidden_hand_is_not_in_the_inputs() {
    views(3, 20, |view, _| {
        let mut other = view.clone();
        other.hand = cards("joker joker");
        for (stage, kept) in choices(view) {
            for kept in [HandInfo::Count(kept.len()), HandInfo::Known(kept)] {
                let listed = list(view, stage, kept, &view.board);
                assert_eq!(listed, list(&other, stage, kept, &view.board));
            }
        }
    });
}

#[test]
fn no_input_depends_on_hidden_cards() {
    let mut chance = rng(4);
    for preset in [Preset::DogspielIt, Preset::Hausregeln] {
        let mut game = new_game(&preset.rules(), 5);
        for _ in 0..60 {
            let choose = |game: &Game, seat| {
                let other = hidden_changed(game, seat, &mut chance);
                let (view, again) = (game.seen_from(seat), other.seen_from(seat));
                for (stage, kept) in choices(&view) {
                    let kept = HandInfo::Known(kept);
                    let listed = list(&view, stage, kept, &view.board);
                    assert_eq!(listed, list(&again, stage, kept, &again.board));
                }
                testing::choose(crate::Level::Greedy, &view, &mut chance).action(seat)
            };
            game.step(choose).unwrap();
        }
    }
}

#[test]
fn variants_have_names() {
    for variant in NetVariant::ALL {
        assert_eq!(NetVariant::by_name(variant.name()), Some(variant));
        assert_eq!(serde_json::to_value(variant).unwrap(), variant.name());
    }
    assert_eq!(NetVariant::by_name("five"), None);
    for preset in Preset::ALL {
        for seats in [4, 6] {
            let rules = rules(&format!("{} seats={seats}", preset.name()));
            let variant = NetVariant::for_rules(&rules);
            assert_eq!(variant.seats(), seats);
            if seats == 4 {
                let fields = variant.name().strip_prefix("four-").unwrap();
                assert_eq!(fields.parse(), Ok(rules.fields_per_seat));
            }
        }
    }
}
