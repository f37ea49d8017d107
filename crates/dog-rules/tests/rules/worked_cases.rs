//! The worked cases of RULES §10, each under every preset that its row names.

use dog_rules::{Action, EventKind, Phase, Preset::*};

use super::position::{PositionExt, read_move, seat, tables};

tables! {
    case_1_four_back_from_the_start_then_into_the_goal: "
        by hausregeln
        at 0: fresh
        0 plays 4:0>56 => 0: 56
        at 0: 56
        0 lists 4 5 6 7: 4:56>g0 4:56>0 4:56>52 5:56>g1 5:56>1 6:56>g2 6:56>2 7:56>g3 7:56>3
    "

    cases_2_and_3_four_back_over_the_start_and_from_it: "
        by hausregeln
        at 0: 2
        0 lists 4: 4:2>g0 4:2>58 4:2>6
        at 0: 0
        0 lists 4: 4:0>56 4:0>4
        at 0: fresh
        0 lists 4: 4:0>56 4:0>4
    "

    case_4_four_back_over_the_start_and_forward_again: "
        by dogspiel-de, dogspiel-it
        at 0: 2
        0 lists 4: 4:2>62 4:2>6
        at 0: 62
        0 lists 5: 5:62>g2 5:62>3
    "

    cases_5_and_6_only_a_fresh_piece_leaves_the_start_first: "
        by dogspiel-de
        at 0: fresh
        0 lists A: A:0>1 A:0>11
        0 is refused A:0>g0: a fresh piece must leave its start before it may enter the goal
        at 0: 0
        0 lists A: A:0>g0 A:0>1 A:0>11 A:out
        0 plays A:0>g0 => 0: g0
    "

    case_7_a_piece_not_fresh_on_its_start: "
        at 0: 0 | 1: 60
        by familienlager
        1 is refused 4:60>0: field 0 is blocked: seat 0's piece on its start
        by dogspiel-de
        1 plays 4:60>0 => 1: 0
    "

    cases_8_and_9_what_the_last_piece_leaves_of_a_seven_is_the_partners: "
        by dogspiel-it
        at 0: 60 g1 g2 g3 | 2: 40
        0 lists 7: 7:60>g0,40>42 7:60>3
        0 plays 7:60>g0,40>42 => 0: full | 2: 42
        at 0: 60 g1 g2 g3
        0 lists 7: 7:60>3
        0 is refused 7:60>g0: the parts of a seven must add up to 7 steps, not 5
    "

    cases_11_and_12_a_seven_passes_one_piece_and_lands_on_another: "
        at 0: 20 | 1: 27 | 2: 23
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        0 plays 7:20>27 => 0: 27
        0 takes 1@27 2@23 by 7:20>27
        by hausregeln
        0 is refused 7:20>27: a part of a seven may not end on field 27: it must be free
    "

    cases_13_and_14_a_block_on_the_start_closes_a_door_there_only: "
        by hausregeln
        at 0: fresh 59
        0 lists A: A:59>g0 A:0>1 A:0>11
        0 plays A:59>g0 => 0: fresh g0
        by dogspiel-de
        at 0: fresh 63
        0 lists A: A:0>1 A:0>11
        0 is refused A:63>0: field 0 is blocked: seat 0's fresh piece
        0 is refused 2:63>g0: field 0 is blocked: seat 0's fresh piece
    "

    case_15_one_piece_takes_the_rest_of_a_seven: "
        at 0: 60 g1 g2 g3 | 2: 40 50
        by dogspiel-it
        0 plays 7:60>g0,40>41,50>51 => 0: full | 2: 41 51
        by dogspiel-it seven_rest=one_piece
        0 lists 7: 7:60>3 7:60>g0,40>42 7:60>g0,50>52
        0 is refused 7:60>g0,40>41,50>51: by these rules one of the partner's pieces takes the \
            rest of the seven, the one on field 41
        # The same piece may be named again.
        0 plays 7:60>g0,40>41,41>42 => 0: full | 2: 42 50
        # A seat that was home before splits as if the pieces were its own.
        at 0: full | 2: 40 50
        0 plays 7:40>43,50>54 => 0: full | 2: 43 54
    "

    cases_16_and_17_four_back_over_a_start_that_is_the_door: "
        by familienlager backward_into_goal=true
        at 0: 2
        0 lists 4: 4:2>6 4:2>62 4:2>g1
        # A protected piece closes the door backward.
        at 0: 0 2
        0 lists 4: 4:2>6 4:0>4 4:0>g3 4:0>60
    "

    cases_18_and_19_a_jack_without_effect_beside_a_protected_piece: "
        at 0: 4 | 2: fresh
        by hausregeln
        0 lists J: fold
        by hausregeln jack_without_effect_when=no_swap_possible
        0 lists J: J:none
        # A swap of two pieces of one's own is a swap.
        at 0: 4 9 | 2: fresh
        by hausregeln jack_without_effect_when=no_swap_possible jack_own_pair=true
        0 lists J: J:4<>9
        0 is refused J:none: a jack is played without effect only while seat 0 cannot swap any piece
    "

    cases_20_to_22_no_piece_ends_on_another_of_its_own_seat: "
        by dogspiel-it capture_own=false
        at 0: 20 23 | 2: 26
        0 lists 3: 3:23>26
        0 is refused 3:20>23: by these rules no piece ends on one of its own seat's, as on field 23
        at 0: 0
        0 lists K: K:0>13
        0 is refused K:out: by these rules no piece ends on one of its own seat's, as on field 0
        at 0: 20 22
        0 plays 7:22>27,20>22 => 0: 22 27
        0 is refused 7:20>22,22>27: by these rules no piece ends on one of its own seat's, as on \
            field 22
        # To pass is to capture, as ever.
        0 plays 7:20>27 => 0: 27
    "

    cases_23_and_24_a_fresh_piece_goes_forward_into_its_goal: "
        at 0: fresh
        by familienlager
        0 lists 4: 4:0>4 4:0>60
        0 is refused 4:0>g3: a fresh piece must leave its start before it may enter the goal
        by familienlager fresh_into_goal=true
        0 lists 4: 4:0>4 4:0>60 4:0>g3
        at 0: fresh 62
        0 plays 7:0>g3,62>g0 => 0: g0 g3
    "
}

#[test]
fn case_10_what_is_left_of_a_seven_lapses_on_the_win() {
    let position = Hausregeln.at("0: 57 g1 g2 g3 | 2: full");
    let mut game = position.in_play(0, ["7 K", "A", "A", "A"]);
    let (seat, mv) = (seat(0), read_move("7:57>g0"));
    let events = game
        .apply(&Action::Play { seat, mv })
        .expect("a legal move");
    let last = events.last().map(|event| &event.what);
    assert!(matches!(last, Some(EventKind::GameWon { team: 0, .. })));
    assert_eq!((game.phase(), game.winner()), (Phase::Finished, Some(0)));
}
