//! RULES §6: the jack.

use dog_rules::{
    Preset::{self, *},
    Protection,
};

use super::position::{PositionExt, seat};

#[test]
fn it_swaps_an_own_piece_with_any_other_seats() {
    for preset in [Familienlager, DogspielIt, Hausregeln] {
        let position = preset.at("0: 10 20 g0 | 1: 25 | 2: 40 g1 | 3: 5");
        position.lists(
            0,
            "J",
            [
                "J:10<>25", "J:10<>40", "J:10<>5", "J:20<>25", "J:20<>40", "J:20<>5",
            ],
        );
        position.after(0, "J:10<>25", "0: 20 25 g0 | 1: 10 | 2: 40 g1 | 3: 5");
        position.after(0, "J:20<>40", "0: 10 40 g0 | 1: 25 | 2: 20 g1 | 3: 5");
        position.captures(0, "J:20<>40", []);
    }
}

#[test]
fn nobody_in_a_kennel_or_a_goal_is_swapped() {
    for preset in Preset::ALL {
        preset.at("0: g0 g1 | 1: 20").lists(0, "J", ["fold"]);
        preset.at("1: 20 | 2: 40").lists(0, "J", ["fold"]);
        preset
            .at("0: 10 | 1: 20")
            .refuses(0, "J:10<>30", "no piece stands on field 30");
        preset
            .at("0: 10 | 1: 20")
            .refuses(0, "J:30<>20", "no piece stands on field 30");
    }
    DogspielIt
        .at("0: 10 | 1: full | 2: g0")
        .lists(0, "J", ["fold"]);
}

#[test]
fn a_fresh_piece_is_not_swapped() {
    for preset in Preset::ALL {
        let start = preset.rules().ring().start(seat(1));
        let fresh = |field, owner| {
            format!(
                "the piece on field {field} cannot be swapped: it is seat {owner}'s fresh piece"
            )
        };
        let position = preset.at("0: 10 | 1: fresh");
        position.lists(0, "J", ["fold"]);
        position.refuses(0, &format!("J:10<>{start}"), &fresh(start, 1));
        let own = preset.at("0: fresh | 1: 20");
        own.lists(0, "J", ["fold"])
            .refuses(0, "J:0<>20", &fresh(0, 0));
    }
}

#[test]
fn a_piece_on_its_start_is_swapped_by_the_option() {
    let protected = "the piece on field 16 cannot be swapped: it is seat 1's piece on its start";
    let position = Familienlager.at("0: 10 | 1: 16");
    position
        .lists(0, "J", ["fold"])
        .refuses(0, "J:10<>16", protected);
    position.refuses(1, "J:16<>10", protected);
    for preset in [DogspielDe, DogspielIt, Spielanleitung] {
        let position = preset.at("0: 10 | 1: 16");
        position.after(0, "J:10<>16", "0: 16 | 1: 10");
        position.after(1, "J:16<>10", "0: 16 | 1: 10");
    }
}

#[test]
fn on_another_seats_start_a_piece_is_swapped() {
    for preset in [Familienlager, DogspielDe, DogspielIt, Spielanleitung] {
        preset
            .at("0: 10 | 1: 32")
            .after(0, "J:10<>32", "0: 32 | 1: 10");
        preset
            .at("0: 16 | 1: 32")
            .after(0, "J:16<>32", "0: 32 | 1: 16");
    }
}

#[test]
fn a_piece_that_is_swapped_onto_its_own_start_is_not_fresh() {
    let position = DogspielIt.at("0: 16 | 1: 0 | 3: 62");
    let swapped = position.then(0, "J:16<>0", "0: 0 | 1: 16 | 3: 62");
    // Both are on their own starts now, and neither is a block.
    swapped.after(3, "3:62>1", "0: 0 | 1: 16 | 3: 1");
    swapped.after(3, "2:62>0", "1: 16 | 3: 0");
    swapped.after(0, "A:0>g0", "0: g0 | 1: 16 | 3: 62");
    swapped.after(0, "J:0<>16", "0: 16 | 1: 0 | 3: 62");
    // Where every piece on its start is a block, they are.
    let position = Spielanleitung.at("0: 16 | 1: 0 | 3: 62");
    let swapped = position.then(0, "J:16<>0", "0: 0 | 1: 16 | 3: 62");
    swapped.refuses(
        3,
        "3:62>1",
        "field 0 is blocked: seat 0's piece on its start",
    );
}

#[test]
fn the_movers_piece_comes_first() {
    let position = DogspielIt.at("0: 10 | 1: 20 | 3: 30");
    position.refuses(
        0,
        "J:20<>10",
        "the piece on field 20 is seat 1's, this move takes seat 0's pieces",
    );
    position.refuses(
        0,
        "J:20<>30",
        "the piece on field 20 is seat 1's, this move takes seat 0's pieces",
    );
    for preset in Preset::ALL {
        preset.at("0: 10 | 1: 20").refuses(
            0,
            "J:10<>10",
            "the two pieces of a swap must stand on different fields",
        );
    }
}

#[test]
fn two_own_pieces_are_swapped_by_the_option() {
    for preset in [DogspielDe, Spielanleitung] {
        let position = preset.at("0: 10 20 30");
        // Nothing changes, so the list has one move for all pairs.
        position.leads_to(0, "J", ["0: 10 20 30"]);
        for id in ["J:10<>20", "J:20<>10", "J:30<>10", "J:20<>30"] {
            position.after(0, id, "0: 10 20 30");
        }
        preset.at("0: 10 g1").lists(0, "J", ["fold"]);
        let fresh = preset.at("0: fresh 10");
        fresh.lists(0, "J", ["fold"]).refuses(
            0,
            "J:10<>0",
            "the piece on field 0 cannot be swapped: it is seat 0's fresh piece",
        );
    }
    for preset in [Familienlager, DogspielIt, Hausregeln] {
        preset.at("0: 10 20").refuses(
            0,
            "J:10<>20",
            "by these rules a jack swaps with another seat's piece, not with one's own",
        );
    }
    DogspielDe.at("0: 0 10").lists(0, "J", ["J:0<>10"]);
    let always = DogspielDe.with(|options| options.start_swap_protection = Protection::Always);
    always.at("0: 0 10").lists(0, "J", ["fold"]);
}

#[test]
fn own_pair_and_strangers_are_listed_together() {
    DogspielDe
        .at("0: 10 20 | 1: 25")
        .lists(0, "J", ["J:10<>25", "J:20<>25", "J:10<>20"]);
}

#[test]
fn without_effect_if_only_own_pieces_are_on_the_ring() {
    let position = Hausregeln.at("0: 10 20 | 1: g0 | 2: g1 g2");
    position
        .lists(0, "J", ["J:none"])
        .after(0, "J:none", "0: 10 20 | 1: g0 | 2: g1 g2");
    // Even if the own piece is fresh, since nothing is swapped.
    Hausregeln.at("0: fresh").lists(0, "J", ["J:none"]);
    Hausregeln.at("0: g0").lists(0, "J", ["fold"]).refuses(
        0,
        "J:none",
        "a jack is played without effect only with a piece of seat 0's on the ring",
    );
    for preset in [Familienlager, DogspielDe, DogspielIt, Spielanleitung] {
        preset.at("0: 10").refuses(
            0,
            "J:none",
            "by these rules a jack is not played without effect",
        );
    }
}

#[test]
fn any_stranger_on_the_ring_rules_the_jack_without_effect_out() {
    let stranger = |seat, field| {
        format!(
            "a jack is played without effect only while no other seat's piece is on the ring, \
             and seat {seat}'s stands on field {field}"
        )
    };
    // The partner's, and a protected one that cannot be swapped either.
    Hausregeln
        .at("0: 10 | 2: 20")
        .refuses(0, "J:none", &stranger(2, 20))
        .lists(0, "J", ["J:10<>20"]);
    Hausregeln
        .at("0: 10 | 1: fresh")
        .refuses(0, "J:none", &stranger(1, 15))
        .lists(0, "J", ["fold"]);
}

#[test]
fn both_ways_to_change_nothing_are_one_move_of_the_list() {
    let both = Hausregeln.with(|options| options.jack_own_pair = true);
    let position = both.at("0: 10 20");
    position.leads_to(0, "J", ["0: 10 20"]);
    position
        .after(0, "J:none", "0: 10 20")
        .after(0, "J:20<>10", "0: 10 20");
}

#[test]
fn a_seat_that_is_home_swaps_its_partners_pieces() {
    let position = DogspielDe.at("0: full | 1: 20 | 2: 40 50");
    position.lists(0, "J", ["J:40<>20", "J:50<>20", "J:40<>50"]);
    position.refuses(
        0,
        "J:20<>40",
        "the piece on field 20 is seat 1's, this move takes seat 2's pieces",
    );
    Hausregeln.at("0: full | 2: 40").lists(0, "J", ["J:none"]);
    Hausregeln.at("0: full | 2: 40 50").refuses(
        0,
        "J:40<>50",
        "by these rules a jack swaps with another seat's piece, not with one's own",
    );
    Hausregeln.at("0: full | 2: g0").refuses(
        0,
        "J:none",
        "a jack is played without effect only with a piece of seat 2's on the ring",
    );
}
