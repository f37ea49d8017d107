//! RULES §5: a seven's parts, what they pass, and the partner's share in them.

use dog_rules::{
    Preset::{self, *},
    SevenPartner, SevenSurplus,
};

use super::position::{PositionExt, seat};

mod parts {
    use super::*;

    #[test]
    fn the_steps_are_split_in_every_way() {
        DogspielIt.at("0: 10 30").leads_to(
            0,
            "7",
            [
                "0: 17 30", "0: 16 31", "0: 15 32", "0: 14 33", "0: 13 34", "0: 12 35", "0: 11 36",
                "0: 10 37",
            ],
        );
        DogspielIt.at("0: g0 g1 10").leads_to(
            0,
            "7",
            [
                "0: g0 g1 17",
                "0: g0 g2 16",
                "0: g0 g3 15",
                "0: g1 g2 15",
                "0: g1 g3 14",
                "0: g2 g3 13",
            ],
        );
    }

    #[test]
    fn the_list_has_each_board_once_and_a_joker_too() {
        DogspielIt.at("0: 10").lists(0, "7", ["7:10>17"]);
        let position = DogspielIt.at("0: 10");
        position.after(0, "joker=7:10>17", "0: 17");
    }

    #[test]
    fn the_list_names_each_piece_once() {
        // One piece may end where another began, so a part that begins there would name it again:
        // "7:62>0,0>1,60>0" names the piece from 62 twice.
        let position = DogspielIt.at("0: 0 60 62");
        position.after(0, "7:0>1,62>0,60>0", "0: 0 1");
        position.after(0, "7:62>0,0>1,60>0", "0: 0 1");
        for id in position.ids(0, "7") {
            let parts = id["7:".len()..].split(',');
            let mut ends = Vec::new();
            for part in parts {
                let (from, to) = part.split_once('>').expect("FROM>TO");
                assert!(!ends.contains(&from), "{id} names a piece again");
                ends.push(to);
            }
        }
    }

    #[test]
    fn any_order_that_the_rules_allow_may_be_sent() {
        let position = DogspielIt.at("0: 10 30 50");
        for id in [
            "7:10>11,30>32,50>54",
            "7:50>54,30>32,10>11",
            "7:30>32,10>11,50>54",
        ] {
            position.after(0, id, "0: 11 32 54");
        }
    }

    #[test]
    fn a_piece_may_be_named_again() {
        let position = DogspielIt.at("0: 10 30");
        position.after(0, "7:10>12,30>31,12>16", "0: 16 31");
        position.after(0, "7:10>11,11>12,12>13,13>14,14>15,15>16,16>17", "0: 17 30");
        // Each part is judged by itself: this one ends on an occupied field.
        let passing = Hausregeln.at("0: 10 | 1: 12");
        passing.after(0, "7:10>17", "0: 17").refuses(
            0,
            "7:10>12,12>17",
            "a part of a seven may not end on field 12: it must be free",
        );
    }

    #[test]
    fn the_order_can_matter() {
        // The fresh piece leaves first and opens the way for the other.
        for preset in [Familienlager, DogspielDe, DogspielIt, Spielanleitung] {
            let position = preset.at("0: fresh 61");
            position.after(0, "7:0>3,61>1", "0: 1 3").refuses(
                0,
                "7:61>1,0>3",
                "field 0 is blocked: seat 0's fresh piece",
            );
        }
    }

    #[test]
    fn seven_single_steps_forward_are_used() {
        let position = DogspielIt.at("0: 10 30");
        let sum = |steps| format!("the parts of a seven must add up to 7 steps, not {steps}");
        position.refuses(0, "7:10>16", &sum(6));
        position.refuses(0, "7:10>14,30>34", &sum(8));
        position.refuses(0, "7:10>12,30>34", &sum(6));
        let none = |from, to| {
            format!("a part of a seven takes 1 to 7 steps forward: {from} to {to} is not")
        };
        position.refuses(0, "7:10>18", &none("field 10", "field 18"));
        position.refuses(0, "7:10>10,30>37", &none("field 10", "field 10"));
        position.refuses(0, "7:10>9,30>37", &none("field 10", "field 9"));
        position.refuses(0, "7:10>g0", &none("field 10", "goal 0"));
        DogspielIt.at("").lists(0, "7", ["fold"]);
    }
}

mod captures {
    use super::*;

    #[test]
    fn every_piece_that_a_part_passes_is_captured() {
        for preset in Preset::ALL {
            let position = preset.at("0: 20 22 | 1: 23 | 2: 24 | 3: 26");
            position.after(0, "7:20>27", "0: 27");
            position.captures(0, "7:20>27", ["0@22", "1@23", "2@24", "3@26"]);
        }
    }

    #[test]
    fn a_captured_piece_takes_no_later_part() {
        for preset in Preset::ALL {
            let position = preset.at("0: 20 22");
            position.after(0, "7:22>26,20>23", "0: 23 26");
            position.refuses(
                0,
                "7:20>23,22>26",
                "the piece on field 22 was captured by an earlier part of the seven",
            );
            position.after(0, "7:20>27", "0: 27");
        }
    }

    #[test]
    fn where_a_part_ends_is_passed_or_must_be_free() {
        let text = "0: 20 30 | 1: 24";
        DogspielIt.at(text).after(0, "7:20>24,30>33", "0: 24 33");
        let position = Hausregeln.at(text);
        position.refuses(
            0,
            "7:30>33,20>24",
            "a part of a seven may not end on field 24: it must be free",
        );
        position.after(0, "7:20>25,30>32", "0: 25 32");
    }

    #[test]
    fn a_field_is_free_once_another_part_has_cleared_it() {
        let position = Hausregeln.at("0: 20 22 | 1: 24");
        position.after(0, "7:22>25,20>24", "0: 24 25").refuses(
            0,
            "7:20>24,22>25",
            "a part of a seven may not end on field 24: it must be free",
        );
        Hausregeln
            .at("0: 20 22")
            .after(0, "7:22>27,20>22", "0: 22 27");
    }

    #[test]
    fn a_piece_passes_another_before_a_third_moves() {
        Hausregeln.at("0: 20 30 | 1: 21").leads_to(
            0,
            "7",
            [
                "0: 20 37 | 1: 21",
                // Not 21 and 36: the piece cannot stop where another stands.
                "0: 22 35",
                "0: 23 34",
                "0: 24 33",
                "0: 25 32",
                "0: 26 31",
                "0: 27 30",
            ],
        );
    }

    #[test]
    fn one_may_pass_two_pieces_that_stand_side_by_side() {
        Hausregeln
            .at("0: 20 | 1: 21 | 2: 22")
            .after(0, "7:20>27", "0: 27");
        Hausregeln
            .at("0: 20 | 1: 26 | 2: 27")
            .lists(0, "7", ["fold"]);
    }

    #[test]
    fn the_door_is_passed_when_a_part_turns_into_the_goal() {
        for preset in [DogspielDe, DogspielIt] {
            let position = preset.at("0: 30 62 | 1: 0");
            position.after(0, "7:62>g3,30>31", "0: 31 g3");
            position.captures(0, "7:62>g3,30>31", ["1@0"]);
            preset
                .at("0: 0 62 30")
                .after(0, "7:62>g3,30>31", "0: 31 g3");
        }
        let before = Hausregeln.at("0: 30 57 | 1: 58 | 2: 59");
        before.after(0, "7:57>g3,30>31", "0: 31 g3");
        before.captures(0, "7:57>g3,30>31", ["1@58", "2@59"]);
    }

    #[test]
    fn a_piece_that_begins_on_the_door_passes_nothing_into_the_goal() {
        let position = Hausregeln.at("0: 59 30 | 1: 0");
        position.after(0, "7:59>g2,30>34", "0: 34 g2 | 1: 0");
    }
}

mod obstacles {
    use super::*;

    #[test]
    fn blocks_stop_a_part() {
        for preset in [Familienlager, DogspielDe, DogspielIt, Spielanleitung] {
            let position = preset.at("0: 14 | 1: fresh");
            position.lists(0, "7", ["fold"]).refuses(
                0,
                "7:14>21",
                "field 16 is blocked: seat 1's fresh piece",
            );
        }
        Familienlager.at("0: 14 | 1: 16").refuses(
            0,
            "7:14>21",
            "field 16 is blocked: seat 1's piece on its start",
        );
        DogspielIt.at("0: 14 | 1: 16").after(0, "7:14>21", "0: 21");
    }

    #[test]
    fn occupied_goal_fields_stop_a_part() {
        let position = DogspielIt.at("0: 62 30 g1");
        let occupied = "goal field 1 is occupied: no piece lands on or passes another in the goal";
        position.refuses(0, "7:62>g2,30>32", occupied);
        position.after(0, "7:g1>g3,62>g0,30>32", "0: 32 g0 g3");
    }

    #[test]
    fn a_fresh_piece_leaves_its_start_before_it_enters() {
        let position = DogspielIt.at("0: fresh 30");
        position.refuses(
            0,
            "7:0>g0,30>36",
            "a fresh piece must leave its start before it may enter the goal",
        );
        DogspielIt
            .at("0: 0 30")
            .after(0, "7:0>g0,30>36", "0: 36 g0");
        // A part that brings a piece to the start leaves it there not fresh.
        DogspielIt
            .at("0: 62 30")
            .after(0, "7:62>0,0>g1,30>33", "0: 33 g1");
    }

    #[test]
    fn opponents_pieces_are_not_moved() {
        DogspielIt.at("0: 10 | 1: 20").refuses(
            0,
            "7:10>13,20>24",
            "the piece on field 20 is seat 1's, this move takes seat 0's pieces",
        );
    }
}

mod partner {
    use super::*;

    #[test]
    fn the_partners_pieces_move_once_the_last_own_one_is_home() {
        let position = DogspielIt.at("0: 62 g1 g2 g3 | 2: 40 g0");
        position.leads_to(
            0,
            "7",
            [
                "0: 5 g1 g2 g3 | 2: 40 g0",
                "0: full | 2: 44 g0",
                "0: full | 2: 43 g1",
                "0: full | 2: 42 g2",
                "0: full | 2: 41 g3",
            ],
        );
        position.after(0, "7:62>g0,p0>p2,40>42", "0: full | 2: 42 g2");
        position.after(0, "7:62>g0,40>42,p0>p2", "0: full | 2: 42 g2");
        position.refuses(
            0,
            "7:40>44,62>g0",
            "the piece on field 40 is seat 2's, this move takes seat 0's pieces",
        );
    }

    #[test]
    fn own_pieces_may_need_some_parts_to_be_home() {
        let position = DogspielIt.at("0: 63 g1 g2 0 | 2: 40");
        position.after(0, "7:g2>g3,g1>g2,0>g1,63>g0,40>41", "0: full | 2: 41");
    }

    #[test]
    fn from_the_beginning_if_all_were_home_before() {
        let position = DogspielIt.at("0: full | 2: 40 50 g3");
        position.after(0, "7:40>42,50>55", "0: full | 2: 42 55 g3");
        position.after(0, "7:50>55,40>42", "0: full | 2: 42 55 g3");
        DogspielIt
            .at("0: full | 2: 30 50")
            .after(0, "7:30>p3,50>51", "0: full | 2: 51 g3");
    }

    #[test]
    fn a_partners_piece_passed_on_the_way_home_is_captured() {
        let position = DogspielIt.at("0: 61 g1 g2 g3 | 2: 62");
        position.lists(0, "7", ["7:61>4"]).refuses(
            0,
            "7:61>g0,62>1",
            "the piece on field 62 was captured by an earlier part of the seven",
        );
    }

    #[test]
    fn the_canadian_seven_moves_both_at_any_time() {
        let canadian = DogspielIt.with(|options| options.seven_partner = SevenPartner::Always);
        let position = canadian.at("0: 20 | 1: 60 | 2: 40 g1");
        position.after(0, "7:40>42,20>25", "0: 25 | 1: 60 | 2: 42 g1");
        position.after(0, "7:20>25,40>42", "0: 25 | 1: 60 | 2: 42 g1");
        position.after(0, "7:40>47", "0: 20 | 1: 60 | 2: 47 g1");
        position.after(0, "7:p1>p3,20>25", "0: 25 | 1: 60 | 2: 40 g3");
        position.refuses(
            0,
            "7:60>3",
            "the piece on field 60 is seat 1's, this move takes seat 0's pieces",
        );
        // The other cards move the seat's own.
        position.lists(0, "2", ["2:20>22"]);
        // Home or not: both still move.
        let home = canadian.at("0: 62 g1 g2 g3 | 2: 40");
        home.after(0, "7:40>44,62>g0", "0: full | 2: 44");
        canadian.at("0: full | 2: 40").lists(0, "7", ["7:40>47"]);
        // A partner that is home cannot move further.
        canadian.at("0: 20 | 2: full").lists(0, "7", ["7:20>27"]);
    }

    #[test]
    fn a_canadian_seven_may_capture_the_partner() {
        let canadian = DogspielIt.with(|options| options.seven_partner = SevenPartner::Always);
        let position = canadian.at("0: 20 | 2: 22");
        position.after(0, "7:20>27", "0: 27");
        position.after(0, "7:22>25,20>24", "0: 24 | 2: 25");
        position.refuses(
            0,
            "7:20>24,22>25",
            "the piece on field 22 was captured by an earlier part of the seven",
        );
    }
}

mod surplus {
    use super::*;

    #[test]
    fn it_lapses_only_when_the_whole_team_is_home() {
        let six = "the parts of a seven must add up to 7 steps, not 6";
        let position = Hausregeln.at("0: 57 g1 g2 g3 | 2: 26 g1 g2 g3");
        // 3 steps home; the partner's piece needs 4 and nothing is left.
        let won = position.then(0, "7:57>g0,26>p0", "0: full | 2: full");
        assert_eq!(won.winner(), Some(0));
        position.refuses(0, "7:57>g0,26>29", six);
        let near = Hausregeln.at("0: 57 g1 g2 g3 | 2: 29 g1 g2 g3");
        let won = near.then(0, "7:57>g0,29>p0", "0: full | 2: full");
        assert_eq!(won.winner(), Some(0));
        Hausregeln.at("0: 57 g1 g2 g3 | 2: g1 g2 g3").refuses(
            0,
            "7:57>g0",
            "the parts of a seven must add up to 7 steps, not 3",
        );
    }

    #[test]
    fn it_lapses_for_a_seat_that_helps() {
        let position = Hausregeln.at("0: full | 2: 29 g1 g2 g3");
        position.lists(0, "7", ["7:29>p0", "7:29>36"]);
        let used = Hausregeln.with(|options| options.seven_surplus = SevenSurplus::MustBeUsed);
        used.at("0: full | 2: 29 g1 g2 g3")
            .lists(0, "7", ["7:29>36"]);
    }

    #[test]
    fn nothing_lapses_on_a_won_board() {
        let won = Hausregeln.at("0: full | 2: full");
        won.lists(0, "7 joker", ["fold"]);
    }

    #[test]
    fn an_exact_seven_wins_under_all_rules() {
        for preset in Preset::ALL {
            let door = preset.rules().ring().door(seat(0));
            let from = preset.rules().ring().backward(door, 6);
            let position = preset.at(&format!("0: {from} g1 g2 g3 | 2: full"));
            let won = position.then(0, &format!("7:{from}>g0"), "0: full | 2: full");
            assert_eq!(won.winner(), Some(0));
        }
    }
}
