//! RULES §4: whose pieces move, what blocks them, the goal and its door, the kennel, four back.

use dog_rules::{
    Preset::*,
    movement::{MoveBlocked, Walker},
};

use super::position::{PositionExt, seat, tables};

tables! {
    a_fresh_piece_stops_everyone_in_both_directions: "
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        # An opponent lands, passes, walks back onto it, walks back over it.
        at 0: 10 20 | 1: fresh
        0 is refused 6:10>16: field 16 is blocked: seat 1's fresh piece
        0 is refused 8:10>18: field 16 is blocked: seat 1's fresh piece
        0 is refused 4:20>16: field 16 is blocked: seat 1's fresh piece
        0 plays 5:10>15 => 0: 15 20 | 1: fresh
        # So does its own side.
        at 1: fresh 10 18
        1 is refused 9:10>19: field 16 is blocked: seat 1's fresh piece
        1 is refused 4:18>14: field 16 is blocked: seat 1's fresh piece
    "

    a_piece_not_fresh_on_its_start_blocks_by_the_option: "
        at 0: 0 62 | 1: 2 4 60
        by dogspiel-de, dogspiel-it
        1 plays 4:60>0 => 0: 62 | 1: 0 2 4
        1 plays 5:60>1 => 0: 0 62 | 1: 1 2 4
        1 plays 4:2>62 => 0: 0 | 1: 4 60 62
        0 plays 3:62>1 => 0: 0 1 | 1: 2 4 60
        by familienlager, spielanleitung
        1 is refused 4:60>0: field 0 is blocked: seat 0's piece on its start
        1 is refused 5:60>1: field 0 is blocked: seat 0's piece on its start
        1 is refused 4:2>62: field 0 is blocked: seat 0's piece on its start
        0 is refused 3:62>g0: field 0 is blocked: seat 0's piece on its start
    "

    a_piece_on_another_seats_start_is_an_ordinary_piece: "
        by familienlager, dogspiel-it
        at 0: 16 | 3: 10
        3 plays 6:10>16 => 3: 16
        3 plays 8:10>18 => 0: 16 | 3: 18
        1 plays K:out => 1: fresh | 3: 10
    "

    the_piece_that_is_landed_on_is_captured_and_passing_is_free: "
        by all
        at 0: 5 10 | 1: 13 | 2: 18
        0 plays 3:10>13 => 0: 5 13 | 2: 18
        0 takes 1@13 by 3:10>13
        0 takes 2@18 by 8:10>18
        0 takes 0@10 by 5:5>10
        0 plays 9:5>14 => 0: 10 14 | 1: 13 | 2: 18
        2 plays 4:18>14 => 0: 5 10 | 1: 13 | 2: 14
    "

    only_a_seven_captures_the_piece_on_the_door_in_passing: "
        by dogspiel-it
        at 0: 0 62
        0 plays 3:62>g0 => 0: 0 g0
        by hausregeln
        at 0: 57 | 1: 59
        0 plays 3:57>g0 => 0: g0 | 1: 59
    "

    each_card_moves_its_number_of_steps: "
        by dogspiel-it
        at 0: 20 g1 g2 g3
        0 lists A 2 3 4 5 6: A:20>21 A:20>31 2:20>22 3:20>23 4:20>24 4:20>16 5:20>25 6:20>26
        0 lists 7 8 9 10 Q K: 7:20>27 8:20>28 9:20>29 10:20>30 Q:20>32 K:20>33
    "

    a_piece_may_enter_its_goal_or_walk_past: "
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        at 0: 62 | 1: 14
        0 lists 6 8: 6:62>g3 6:62>4 8:62>6
        1 lists 6: 6:14>g3 6:14>20
        by hausregeln
        at 0: 57
        0 lists 6: 6:57>g3 6:57>3
    "

    goal_fields_need_not_be_filled_in_order: "
        by dogspiel-it
        at 0: 62 63
        0 plays 5:62>g2 => 0: 63 g2
        at 0: 63 g2
        0 plays 2:63>g0 => 0: g0 g2
    "

    no_piece_passes_another_in_the_goal_or_goes_beyond_its_end: "
        by dogspiel-it
        at 0: 62 g1
        0 is refused 4:62>g1: goal field 1 is occupied: no piece lands on or passes another \
            in the goal
        0 is refused 5:62>g2: goal field 1 is occupied...
        0 plays 3:62>g0 => 0: g0 g1
        at 0: g0 g2
        0 is refused 3:g0>g3: goal field 2 is occupied...
        0 lists A 2: A:g0>g1 A:g2>g3 A:out
        at 0: 63
        0 lists 6: 6:63>5
    "

    no_piece_leaves_the_goal_or_moves_backward_in_it: "
        by all
        at 0: g3
        0 is refused 4:g3>g0: no piece leaves the goal or moves backward in it
        0 is refused A:g3>g3: no piece leaves the goal or moves backward in it
        0 is refused 4:g3>40: no piece leaves the goal or moves backward in it
    "

    nothing_in_a_goal_is_captured_from_the_ring: "
        by dogspiel-it
        at 0: g0 g3 | 1: 62
        1 plays 7:62>5 => 0: g0 g3 | 1: 5
    "

    a_piece_enters_only_its_own_goal: "
        by dogspiel-it
        at 0: 15 31 g0
        0 is refused 2:31>p0: a piece may enter only its own goal
        0 is refused 2:g0>p2: a piece may enter only its own goal
        0 lists 2: 2:15>17 2:31>33 2:g0>g2
    "

    a_piece_that_came_to_its_start_another_way_is_not_fresh: "
        by dogspiel-it
        at 0: 60
        0 plays 4:60>0 => 0: 0
        at 0: 4
        0 plays 4:4>0 => 0: 0
        at 0: 20 | 1: 0
        0 plays J:20<>0 => 0: 0 | 1: 20
        1 plays J:0<>20 => 0: 0 | 1: 20
        at 0: 0 | 1: 20
        0 plays 2:0>g1 => 0: g1 | 1: 20
        # Fresh is compared even where it changes nothing else (RULES §9).
        by familienlager
        at 0: 60
        0 plays 4:60>0 => 0: 0
    "

    before_the_start_the_start_itself_is_not_touched: "
        by hausregeln
        at 0: 59
        0 lists 2: 2:59>g1 2:59>1
        # One before the door: 1 step to it, then goal 0. The start is not a door.
        at 0: 58
        0 lists 2: 2:58>g0 2:58>0
        at 0: 0
        0 lists 2: 2:0>2
    "

    one_piece_goes_from_the_kennel_to_the_start_and_is_fresh: "
        by all
        at -
        0 plays K:out => 0: fresh
        1 plays A:out => 1: fresh
        0 lists A 2 3 4 5 6 7 8 9 10 J Q K: A:out K:out
        0 lists joker: joker=A:out joker=K:out
        at 0: 5 6 7 8
        0 is refused K:out: seat 0's kennel is empty
    "

    any_piece_there_that_is_no_block_is_captured: "
        by all
        at 2: 0
        0 plays K:out => 0: fresh
        0 takes 2@0 by K:out
        at 0: fresh
        0 is refused K:out: field 0 is blocked: seat 0's fresh piece
        at 0: 0
        by dogspiel-de, dogspiel-it, hausregeln
        0 plays A:out => 0: fresh
        0 takes 0@0 by A:out
        by familienlager, spielanleitung
        0 is refused K:out: field 0 is blocked: seat 0's piece on its start
    "

    four_back_may_pass_reach_or_leave_the_own_start: "
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        at 0: 2
        0 lists 4: 4:2>6 4:2>62
        at 0: 4
        0 lists 4: 4:4>8 4:4>0
        at 0: fresh
        0 plays 4:0>60 => 0: 60
    "

    four_back_goes_into_the_goal_from_the_two_fields_after_the_start: "
        by hausregeln
        at 0: 1 | 1: 16
        0 plays 4:1>g1 => 0: g1 | 1: 16
        0 plays 4:1>57 => 0: 57 | 1: 16
        1 plays 4:16>g1 => 0: 1 | 1: g1
        0 is refused 4:1>g0: the 4 does not carry a piece from field 1 to goal 0
        at 0: 2
        0 is refused 4:2>g1: the 4 does not carry a piece from field 2 to goal 1
        at 0: 3
        0 lists 4: 4:3>59 4:3>7
        at 0: 0
        0 is refused 4:0>g2: a piece walking back enters the goal only from beyond its start, \
            over the door
        by hausregeln start_block=always
        at 0: 0 2
        0 is refused 4:2>g0: field 0 is blocked: seat 0's piece on its start
        by hausregeln backward_into_goal=false, dogspiel-it
        at 0: 2
        0 is refused 4:2>g0: by these rules no piece walks backward into the goal
    "

    /// RULES §11: the start is the door as well.
    four_back_goes_into_the_goal_over_a_start_that_is_the_door: "
        by familienlager backward_into_goal=true
        at 0: 1 | 1: 17
        0 lists 4: 4:1>5 4:1>61 4:1>g2
        1 plays 4:17>g2 => 0: 1 | 1: g2
        at 0: 3
        0 lists 4: 4:3>7 4:3>63 4:3>g0
        at 0: 4
        0 lists 4: 4:4>8 4:4>0
        0 is refused 4:4>g0: a piece walking back enters the goal only from beyond its start...
        # On its start, a piece that is not fresh is at the door.
        at 0: 0
        0 plays 4:0>g3 => 0: g3
        at 0: fresh
        0 is refused 4:0>g3: a fresh piece must leave its start before it may enter the goal
        # A block on the start stops it, and an unprotected piece there is passed.
        at 0: fresh 2
        0 lists 4: 4:2>6 4:0>4 4:0>60
        at 0: 2 | 1: 0
        0 plays 4:2>g1 => 0: g1 | 1: 0
        at 0: 2 g0
        0 is refused 4:2>g1: goal field 0 is occupied...
        by dogspiel-it backward_into_goal=true
        at 0: 0 2
        0 plays 4:2>g1 => 0: 0 g1
        at 0: 2 g1
        0 is refused 4:2>g1: goal field 1 is occupied...
    "

    /// RULES §11: forward, by every card that goes so far, and never backward.
    a_fresh_piece_goes_forward_into_its_goal_by_the_option: "
        by familienlager fresh_into_goal=true, dogspiel-it fresh_into_goal=true
        at 0: fresh | 1: fresh
        0 lists A 2 3 5: A:0>1 A:0>11 A:0>g0 2:0>2 2:0>g1 3:0>3 3:0>g2 5:0>5
        0 plays joker=2:0>g1 => 0: g1 | 1: fresh
        1 plays 4:16>g3 => 0: fresh | 1: g3
        0 is refused 4:0>g2: by these rules no piece walks backward into the goal
        at 0: fresh g1
        0 is refused 2:0>g1: goal field 1 is occupied...
        0 is refused 4:0>g3: goal field 1 is occupied...
        # Of six seats, and with the pieces of a partner.
        by spielanleitung fresh_into_goal=true seats=6
        at 0: full | 3: fresh
        0 lists 4: 4:48>44 4:48>52 4:48>p3
        # Backward from the start, by no option.
        by familienlager fresh_into_goal=true backward_into_goal=true
        at 0: fresh
        0 lists 4: 4:0>4 4:0>60 4:0>g3
        0 is refused 4:0>g0: a piece walking back enters the goal only from beyond its start...
        at 0: fresh g0
        0 lists 4: 4:0>4 4:0>60
        # With the door before the start it means nothing.
        by hausregeln fresh_into_goal=true
        at 0: fresh
        0 lists A 4: A:0>1 A:0>11 4:0>4 4:0>56
        0 is refused 4:0>g3: a piece walking back enters the goal only from beyond its start...
    "

    what_stands_in_the_way_stops_four_back: "
        by hausregeln
        at 0: 1 2 g0
        0 is refused 4:1>g1: goal field 0 is occupied...
        0 is refused 4:2>g0: goal field 0 is occupied...
        at 0: 2 g1
        0 plays 4:2>g0 => 0: g0 g1
        at 0: fresh 2
        0 is refused 4:2>g0: field 0 is blocked: seat 0's fresh piece
        0 is refused 4:2>58: field 0 is blocked: seat 0's fresh piece
    "

    four_back_captures_where_it_lands_and_not_on_the_way_into_the_goal: "
        by hausregeln
        at 0: 2 | 1: 58 | 2: 59 | 3: 0
        0 plays 4:2>58 => 0: 58 | 2: 59 | 3: 0
        0 plays 4:2>g0 => 0: g0 | 1: 58 | 2: 59 | 3: 0
    "

    freshness_ends_when_the_piece_moves_and_not_before: "
        by all
        at 0: fresh 10 | 1: 20 | 2: fresh
        0 plays 4:0>4 => 0: 4 10 | 1: 20 | 2: fresh
        0 plays 2:10>12 => 0: fresh 12 | 1: 20 | 2: fresh
        0 plays J:10<>20 => 0: fresh 20 | 1: 10 | 2: fresh
        1 plays K:out => 0: fresh 10 | 1: fresh 20 | 2: fresh
    "

    a_seat_moves_its_own_pieces: "
        by dogspiel-it
        at 0: 10 | 1: 20 | 2: 40 g0
        0 lists 2: 2:10>12
        0 is refused 2:40>42: the piece on field 40 is seat 2's, this move takes seat 0's pieces
    "

    a_seat_that_is_home_moves_its_partners_with_every_card: "
        by all
        at 0: full | 1: 20 | 2: 10 g1
        0 lists 2 J: 2:10>12 2:p1>p3 J:10<>20
        0 plays 2:p1>p3 => 0: full | 1: 20 | 2: 10 g3
        0 plays K:out => 0: full | 1: 20 | 2: fresh 10 g1
        0 plays J:10<>20 => 0: full | 1: 10 | 2: 20 g1
        0 plays 4:10>6 => 0: full | 1: 20 | 2: 6 g1
        0 plays 7:10>15,p1>p3 => 0: full | 1: 20 | 2: 15 g3
        # The door, and what is fresh, are the partner's too.
        by dogspiel-it
        at 0: full | 2: fresh
        0 is refused K:out: field 32 is blocked: seat 2's fresh piece
        0 lists 2: 2:32>34
        at 0: full | 2: 30
        0 lists 3: 3:30>p0 3:30>33
        by hausregeln
        at 0: full | 2: 32
        0 lists 4: 4:32>p0 4:32>28 4:32>36
    "

    at_a_table_of_six_the_partner_is_three_seats_on: "
        by dogspiel-it seats=6
        at 1: full | 4: 62 | 2: 20
        1 lists 3: 3:62>p0 3:62>65
        1 is refused 2:20>22: the piece on field 20 is seat 2's, this move takes seat 4's pieces
        at 0: full | 3: 94
        0 plays 3:94>1 => 0: full | 3: 1
    "
}

/// What no move id can ask for, but the functions must refuse.
#[test]
fn walks_that_no_id_can_name() {
    let rules = DogspielIt.rules();
    let board = DogspielIt.at("0: 60 g2").board;
    let walker = Walker::new(&rules, &board, seat(0));
    let into = |steps| walker.into_goal(60, steps);
    assert_eq!(into(4), Err(MoveBlocked::GoalOutOfReach));
    assert_eq!(
        MoveBlocked::GoalOutOfReach.to_string(),
        "the steps do not reach the goal"
    );
    assert_eq!(into(9), Err(MoveBlocked::BeyondGoal));
    assert_eq!(walker.inside_goal(2, 2), Err(MoveBlocked::BeyondGoal));
}
