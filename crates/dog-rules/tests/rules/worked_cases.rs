//! The worked cases of RULES §10, each under every preset that its row names.

use dog_rules::{Action, EventKind, JackWithoutEffectWhen, Phase, Preset::*, Rules, SevenRest};

use super::position::{PositionExt, read_move, seat};

#[test]
fn case_1_four_back_from_the_start_then_into_the_goal() {
    let start = Hausregeln.at("0: fresh");
    let back = start.then(0, "4:0>56", "0: 56");
    back.after(0, "4:56>g0", "0: g0").after(0, "4:56>0", "0: 0");
    back.lists(0, "5", ["5:56>g1", "5:56>1"]);
    back.lists(0, "6", ["6:56>g2", "6:56>2"]);
    back.lists(0, "7", ["7:56>g3", "7:56>3"]);
}

#[test]
fn case_2_four_back_over_the_start_into_the_goal() {
    let position = Hausregeln.at("0: 2");
    position.lists(0, "4", ["4:2>g0", "4:2>58", "4:2>6"]);
}

#[test]
fn case_3_four_back_from_the_start_stays_on_the_ring() {
    for text in ["0: 0", "0: fresh"] {
        let position = Hausregeln.at(text);
        position.lists(0, "4", ["4:0>56", "4:0>4"]);
    }
}

#[test]
fn case_4_four_back_over_the_start_and_forward_again() {
    for preset in [DogspielDe, DogspielIt] {
        let position = preset.at("0: 2");
        position.lists(0, "4", ["4:2>62", "4:2>6"]);
        let back = position.then(0, "4:2>62", "0: 62");
        back.lists(0, "5", ["5:62>g2", "5:62>3"]);
    }
}

#[test]
fn case_5_a_fresh_piece_leaves_the_start_first() {
    let position = DogspielDe.at("0: fresh");
    position.lists(0, "A", ["A:0>1", "A:0>11"]).refuses(
        0,
        "A:0>g0",
        "a fresh piece must leave its start before it may enter the goal",
    );
}

#[test]
fn case_6_a_piece_not_fresh_enters_from_its_start() {
    let position = DogspielDe.at("0: 0");
    position.lists(0, "A", ["A:0>g0", "A:0>1", "A:0>11", "A:out"]);
    position.after(0, "A:0>g0", "0: g0");
}

#[test]
fn case_7_a_piece_not_fresh_on_its_start() {
    let text = "0: 0 | 1: 60";
    Familienlager.at(text).refuses(
        1,
        "4:60>0",
        "field 0 is blocked: seat 0's piece on its start",
    );
    DogspielDe.at(text).after(1, "4:60>0", "1: 0");
}

#[test]
fn case_8_what_the_last_piece_leaves_of_a_seven_is_the_partners() {
    let position = DogspielIt.at("0: 60 g1 g2 g3 | 2: 40");
    position.lists(0, "7", ["7:60>g0,40>42", "7:60>3"]);
    position.after(0, "7:60>g0,40>42", "0: full | 2: 42");
}

#[test]
fn case_9_no_partners_piece_to_use_the_rest_of_a_seven() {
    let position = DogspielIt.at("0: 60 g1 g2 g3");
    position.lists(0, "7", ["7:60>3"]).refuses(
        0,
        "7:60>g0",
        "the parts of a seven must add up to 7 steps, not 5",
    );
}

#[test]
fn case_10_what_is_left_of_a_seven_lapses_on_the_win() {
    let text = "0: 57 g1 g2 g3 | 2: full";
    let position = Hausregeln.at(text);
    let won = position.then(0, "7:57>g0", "0: full | 2: full");
    assert_eq!(won.winner(), Some(0));

    let mut game = position.in_play(0, ["7 K", "A", "A", "A"]);
    let events = game.apply(&Action::Play {
        seat: seat(0),
        mv: read_move("7:57>g0"),
    });
    let events = events.expect("a legal move");
    assert!(matches!(
        events.last().map(|event| &event.what),
        Some(EventKind::GameWon { team: 0, .. })
    ));
    assert_eq!((game.phase(), game.winner()), (Phase::Finished, Some(0)));
}

#[test]
fn case_11_a_seven_takes_what_it_passes_and_what_it_lands_on() {
    for preset in [Familienlager, DogspielDe, DogspielIt, Spielanleitung] {
        let position = preset.at("0: 20 | 1: 27 | 2: 23");
        position.after(0, "7:20>27", "0: 27");
        position.captures(0, "7:20>27", ["1@27", "2@23"]);
    }
}

#[test]
fn case_12_a_seven_that_must_end_on_a_free_field() {
    Hausregeln.at("0: 20 | 1: 27 | 2: 23").refuses(
        0,
        "7:20>27",
        "a part of a seven may not end on field 27: it must be free",
    );
}

#[test]
fn case_13_a_door_before_the_start_is_not_closed_by_a_block_there() {
    let position = Hausregeln.at("0: fresh 59");
    position.lists(0, "A", ["A:59>g0", "A:0>1", "A:0>11"]);
    position.after(0, "A:59>g0", "0: fresh g0");
}

#[test]
fn case_14_a_door_on_the_start_is_closed_by_a_block_there() {
    let position = DogspielDe.at("0: fresh 63");
    position.lists(0, "A", ["A:0>1", "A:0>11"]);
    let blocked = "field 0 is blocked: seat 0's fresh piece";
    position.refuses(0, "A:63>0", blocked);
    position.refuses(0, "2:63>g0", blocked);
}

#[test]
fn case_15_one_piece_takes_the_rest_of_a_seven() {
    let rules = DogspielIt.with(|options| options.seven_rest = SevenRest::OnePiece);
    let position = rules.at("0: 60 g1 g2 g3 | 2: 40 50");
    position.lists(0, "7", ["7:60>3", "7:60>g0,40>42", "7:60>g0,50>52"]);
    position.refuses(
        0,
        "7:60>g0,40>41,50>51",
        "by these rules one of the partner's pieces takes the rest of the seven, the one on field \
         41",
    );
    // The same piece may be named again.
    position.after(0, "7:60>g0,40>41,41>42", "0: full | 2: 42 50");
    let published = DogspielIt.at("0: 60 g1 g2 g3 | 2: 40 50");
    published.after(0, "7:60>g0,40>41,50>51", "0: full | 2: 41 51");
    // A seat that was home before splits as if the pieces were its own.
    rules
        .at("0: full | 2: 40 50")
        .after(0, "7:40>43,50>54", "0: full | 2: 43 54");
}

#[test]
fn case_16_four_back_over_a_start_that_is_the_door() {
    let rules = Familienlager.with(|options| options.backward_into_goal = true);
    rules
        .at("0: 2")
        .lists(0, "4", ["4:2>6", "4:2>62", "4:2>g1"]);
}

#[test]
fn case_17_a_protected_piece_on_the_start_closes_the_door_backward() {
    let rules = Familienlager.with(|options| options.backward_into_goal = true);
    let listed = ["4:2>6", "4:0>4", "4:0>g3", "4:0>60"];
    rules.at("0: 0 2").lists(0, "4", listed);
}

#[test]
fn case_18_a_jack_without_effect_beside_a_protected_piece() {
    let text = "0: 4 | 2: fresh";
    let rules = no_swap_possible(false);
    rules.at(text).lists(0, "J", ["J:none"]);
    Hausregeln.at(text).lists(0, "J", ["fold"]);
}

#[test]
fn case_19_a_swap_of_two_own_pieces_is_a_swap() {
    let position = no_swap_possible(true).at("0: 4 9 | 2: fresh");
    position.lists(0, "J", ["J:4<>9"]).refuses(
        0,
        "J:none",
        "a jack is played without effect only while seat 0 cannot swap any piece",
    );
}

fn no_swap_possible(jack_own_pair: bool) -> Rules {
    Hausregeln.with(|options| {
        options.jack_own_pair = jack_own_pair;
        options.jack_without_effect_when = JackWithoutEffectWhen::NoSwapPossible;
    })
}

#[test]
fn case_20_no_piece_ends_on_another_of_its_own_seat() {
    let rules = DogspielIt.with(|options| options.capture_own = false);
    let position = rules.at("0: 20 23 | 2: 26");
    let own = "by these rules no piece ends on one of its own seat's, as on field 23";
    position
        .lists(0, "3", ["3:23>26"])
        .refuses(0, "3:20>23", own);
}

#[test]
fn case_21_no_piece_leaves_the_kennel_onto_another_of_its_own_seat() {
    let rules = DogspielIt.with(|options| options.capture_own = false);
    let position = rules.at("0: 0");
    let own = "by these rules no piece ends on one of its own seat's, as on field 0";
    position.lists(0, "K", ["K:0>13"]).refuses(0, "K:out", own);
}

#[test]
fn case_22_a_part_of_a_seven_ends_on_no_other_own_piece() {
    let rules = DogspielIt.with(|options| options.capture_own = false);
    let position = rules.at("0: 20 22");
    let own = "by these rules no piece ends on one of its own seat's, as on field 22";
    position
        .after(0, "7:22>27,20>22", "0: 22 27")
        .refuses(0, "7:20>22,22>27", own);
    // To pass is to capture, as ever.
    position.after(0, "7:20>27", "0: 27");
}
