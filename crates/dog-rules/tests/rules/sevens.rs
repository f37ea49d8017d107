//! RULES §5: a seven's parts, what they pass, and the partner's share in them.

use super::position::tables;

tables! {
    the_steps_are_split_in_every_way: "
        by dogspiel-it
        at 0: 10 30
        0 reaches 7: 0: 17 30; 0: 16 31; 0: 15 32; 0: 14 33; 0: 13 34; 0: 12 35; 0: 11 36; 0: 10 37
        at 0: g0 g1 10
        0 reaches 7: 0: g0 g1 17; 0: g0 g2 16; 0: g0 g3 15; 0: g1 g2 15; 0: g1 g3 14; 0: g2 g3 13
    "

    any_order_that_the_rules_allow_may_be_sent: "
        by dogspiel-it
        at 0: 10 30 50
        0 plays 7:10>11,30>32,50>54 => 0: 11 32 54
        0 plays 7:30>32,10>11,50>54 => 0: 11 32 54
        # One piece may end where another began.
        at 0: 0 60 62
        0 plays 7:0>1,62>0,60>0 => 0: 0 1
        0 plays 7:62>0,0>1,60>0 => 0: 0 1
    "

    a_piece_may_be_named_again_and_each_part_is_judged_by_itself: "
        by dogspiel-it
        at 0: 10 30
        0 plays 7:10>12,30>31,12>16 => 0: 16 31
        0 plays 7:10>11,11>12,12>13,13>14,14>15,15>16,16>17 => 0: 17 30
        by hausregeln
        at 0: 10 | 1: 12
        0 plays 7:10>17 => 0: 17
        0 is refused 7:10>12,12>17: a part of a seven may not end on field 12...
    "

    the_order_can_matter: "
        # The fresh piece leaves first and opens the way for the other.
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        at 0: fresh 61
        0 plays 7:0>3,61>1 => 0: 1 3
        0 is refused 7:61>1,0>3: field 0 is blocked: seat 0's fresh piece
    "

    seven_single_steps_forward_are_used: "
        by dogspiel-it
        at 0: 10 30
        0 is refused 7:10>16: the parts of a seven must add up to 7 steps, not 6
        0 is refused 7:10>14,30>34: the parts of a seven must add up to 7 steps, not 8
        0 is refused 7:10>18: a part of a seven takes 1 to 7 steps forward: field 10 to field 18 \
            is not
        0 is refused 7:10>10,30>37: a part of a seven takes 1 to 7 steps forward...
        0 is refused 7:10>9,30>37: a part of a seven takes 1 to 7 steps forward...
        0 is refused 7:10>g0: a part of a seven takes 1 to 7 steps forward: field 10 to goal 0...
    "

    every_piece_that_a_part_passes_is_captured: "
        by all
        at 0: 20 22 | 1: 23 | 2: 24 | 3: 26
        0 plays 7:20>27 => 0: 27
        0 takes 0@22 1@23 2@24 3@26 by 7:20>27
    "

    a_captured_piece_takes_no_later_part: "
        by all
        at 0: 20 22
        0 plays 7:22>26,20>23 => 0: 23 26
        0 is refused 7:20>23,22>26: the piece on field 22 was captured by an earlier part of the \
            seven
    "

    where_a_part_ends_is_passed_or_must_be_free: "
        at 0: 20 30 | 1: 24
        by dogspiel-it
        0 plays 7:20>24,30>33 => 0: 24 33
        by hausregeln
        0 is refused 7:30>33,20>24: a part of a seven may not end on field 24...
        0 plays 7:20>25,30>32 => 0: 25 32
        # A field is free once another part has cleared it.
        at 0: 20 22 | 1: 24
        0 plays 7:22>25,20>24 => 0: 24 25
        0 is refused 7:20>24,22>25: a part of a seven may not end on field 24...
        0 plays 7:22>27,20>22 => 0: 22 27
    "

    one_passes_what_it_may_not_stop_at: "
        by hausregeln
        # Not 21 and 36: the piece cannot stop where another stands.
        at 0: 20 30 | 1: 21
        0 reaches 7: 0: 20 37 | 1: 21; 0: 22 35; 0: 23 34; 0: 24 33; 0: 25 32; 0: 26 31; 0: 27 30
        at 0: 20 | 1: 21 | 2: 22
        0 plays 7:20>27 => 0: 27
        at 0: 20 | 1: 26 | 2: 27
        0 lists 7: fold
    "

    the_door_is_passed_when_a_part_turns_into_the_goal: "
        by dogspiel-de, dogspiel-it
        at 0: 30 62 | 1: 0
        0 plays 7:62>g3,30>31 => 0: 31 g3
        0 takes 1@0 by 7:62>g3,30>31
        at 0: 0 62 30
        0 plays 7:62>g3,30>31 => 0: 31 g3
        by hausregeln
        at 0: 30 57 | 1: 58 | 2: 59
        0 plays 7:57>g3,30>31 => 0: 31 g3
        0 takes 1@58 2@59 by 7:57>g3,30>31
        # A piece that begins on the door passes nothing into the goal.
        at 0: 59 30 | 1: 0
        0 plays 7:59>g2,30>34 => 0: 34 g2 | 1: 0
    "

    blocks_and_occupied_goal_fields_stop_a_part: "
        at 0: 14 | 1: fresh
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        0 is refused 7:14>21: field 16 is blocked: seat 1's fresh piece
        at 0: 14 | 1: 16
        by familienlager
        0 is refused 7:14>21: field 16 is blocked: seat 1's piece on its start
        by dogspiel-it
        0 plays 7:14>21 => 0: 21
        at 0: 62 30 g1
        0 is refused 7:62>g2,30>32: goal field 1 is occupied...
        0 plays 7:g1>g3,62>g0,30>32 => 0: 32 g0 g3
    "

    a_fresh_piece_leaves_its_start_before_it_enters: "
        by dogspiel-it
        at 0: fresh 30
        0 is refused 7:0>g0,30>36: a fresh piece must leave its start before it may enter...
        at 0: 0 30
        0 plays 7:0>g0,30>36 => 0: 36 g0
        # A part that brings a piece to the start leaves it there not fresh.
        at 0: 62 30
        0 plays 7:62>0,0>g1,30>33 => 0: 33 g1
    "

    a_fresh_piece_enters_at_once_by_the_option: "
        by dogspiel-it fresh_into_goal=true
        at 0: fresh 30
        0 plays 7:0>g0,30>36 => 0: 36 g0
        at 0: fresh g1 g2 g3 | 2: 40
        0 reaches 7: 0: 7 g1 g2 g3 | 2: 40; 0: full | 2: 46
        # The block is gone, and the one behind it goes on.
        at 0: fresh 62
        0 plays 7:0>g3,62>1 => 0: 1 g3
        0 is refused 7:62>g0,0>g3: field 0 is blocked: seat 0's fresh piece
        # The partner's fresh piece as well.
        by dogspiel-it fresh_into_goal=true seven_partner=always
        at 0: 30 | 2: fresh
        0 plays 7:32>p1,30>35 => 0: 35 | 2: g1
    "

    the_partners_pieces_move_once_the_last_own_one_is_home: "
        by dogspiel-it
        at 0: 62 g1 g2 g3 | 2: 40 g0
        0 reaches 7: 0: 5 g1 g2 g3 | 2: 40 g0; 0: full | 2: 44 g0; 0: full | 2: 43 g1; \
            0: full | 2: 42 g2; 0: full | 2: 41 g3
        0 plays 7:62>g0,p0>p2,40>42 => 0: full | 2: 42 g2
        0 plays 7:62>g0,40>42,p0>p2 => 0: full | 2: 42 g2
        0 is refused 7:40>44,62>g0: the piece on field 40 is seat 2's...
        # Own pieces may need some parts to be home.
        at 0: 63 g1 g2 0 | 2: 40
        0 plays 7:g2>g3,g1>g2,0>g1,63>g0,40>41 => 0: full | 2: 41
        # A partner's piece passed on the way home is captured.
        at 0: 61 g1 g2 g3 | 2: 62
        0 lists 7: 7:61>4
        0 is refused 7:61>g0,62>1: the piece on field 62 was captured by an earlier part...
    "

    the_partners_pieces_move_from_the_beginning_if_all_were_home_before: "
        by dogspiel-it
        at 0: full | 2: 30 50 g3
        0 plays 7:30>32,50>55 => 0: full | 2: 32 55 g3
        0 plays 7:50>54,30>p0 => 0: full | 2: 54 g0 g3
    "

    the_canadian_seven_moves_both_at_any_time: "
        by dogspiel-it seven_partner=always
        at 0: 20 | 1: 60 | 2: 40 g1
        0 plays 7:40>42,20>25 => 0: 25 | 1: 60 | 2: 42 g1
        0 plays 7:20>25,40>42 => 0: 25 | 1: 60 | 2: 42 g1
        0 plays 7:40>47 => 0: 20 | 1: 60 | 2: 47 g1
        0 plays 7:p1>p3,20>25 => 0: 25 | 1: 60 | 2: 40 g3
        0 is refused 7:60>3: the piece on field 60 is seat 1's, this move takes seat 0's pieces
        # The other cards move the seat's own.
        0 lists 2: 2:20>22
        # Home or not: both still move.
        at 0: 62 g1 g2 g3 | 2: 40
        0 plays 7:40>44,62>g0 => 0: full | 2: 44
        at 0: full | 2: 40
        0 lists 7: 7:40>47
        # A partner that is home cannot move further.
        at 0: 20 | 2: full
        0 lists 7: 7:20>27
        # It may capture the partner.
        at 0: 20 | 2: 22
        0 plays 7:20>27 => 0: 27
        0 plays 7:22>25,20>24 => 0: 24 | 2: 25
        0 is refused 7:20>24,22>25: the piece on field 22 was captured by an earlier part...
    "

    /// RULES §11.
    one_of_the_partners_pieces_takes_the_rest: "
        by dogspiel-it seven_rest=one_piece
        at 0: 60 g1 g2 g3 | 2: 40 g0
        0 plays 7:60>g0,p0>p1,p1>p2 => 0: full | 2: 40 g2
        0 is refused 7:60>g0,40>41,p0>p1: by these rules one of the partner's pieces takes the \
            rest of the seven...
        at 0: 20 60 g1 g2 | 2: 40
        0 plays 7:60>g0,20>21,g2>g3 => 0: 21 g0 g1 g3 | 2: 40
        # Each part of it ends on a free field.
        by dogspiel-it seven_rest=one_piece seven_landing=must_be_free
        at 0: 60 g1 g2 g3 | 1: 41 | 2: 40
        0 plays 7:60>g0,40>42 => 0: full | 2: 42
        0 is refused 7:60>g0,40>41,41>42: a part of a seven may not end on field 41...
        by hausregeln seven_rest=one_piece
        at 0: 58 g1 g2 g3 | 2: 28 g1 g2 g3
        0 plays 7:58>g0,28>p0 => 0: full | 2: full
    "

    /// RULES §11: the owner counts, not who plays.
    no_part_ends_on_another_piece_of_its_owners: "
        by dogspiel-it capture_own=false seven_partner=always
        at 0: 20 | 2: 13 27
        0 plays 7:13>20 => 2: 20 27
        0 plays 7:20>27 => 0: 27 | 2: 13
        at 0: 30 | 2: 13 20
        0 is refused 7:13>20: by these rules no piece ends on one of its own seat's...
        by dogspiel-it capture_own=false
        at 0: full | 2: 10 13
        0 is refused 3:10>13: by these rules no piece ends on one of its own seat's...
        at 0: full | 2: 32
        0 is refused K:out: by these rules no piece ends on one of its own seat's...
        # So a hand may have to be folded.
        at 0: 0 13 | 1: fresh
        0 lists K: fold
        by dogspiel-it
        0 lists K: K:out K:0>13
        by hausregeln capture_own=false
        at 0: 20 27
        0 is refused 7:20>27: a part of a seven may not end on field 27...
    "

    steps_lapse_only_when_the_whole_team_is_home: "
        by hausregeln
        # 3 steps home; the partner's piece needs 4 and nothing is left, or 1 and 3 are left.
        at 0: 57 g1 g2 g3 | 2: 26 g1 g2 g3
        0 plays 7:57>g0,26>p0 => 0: full | 2: full
        0 is refused 7:57>g0,26>29: the parts of a seven must add up to 7 steps, not 6
        at 0: 57 g1 g2 g3 | 2: 29 g1 g2 g3
        0 plays 7:57>g0,29>p0 => 0: full | 2: full
        at 0: 57 g1 g2 g3 | 2: g1 g2 g3
        0 is refused 7:57>g0: the parts of a seven must add up to 7 steps, not 3
        # They lapse for a seat that helps, but not on a won board.
        at 0: full | 2: 29 g1 g2 g3
        0 lists 7: 7:29>p0 7:29>36
        at 0: full | 2: full
        0 lists 7 joker: fold
        by hausregeln seven_surplus=must_be_used
        at 0: full | 2: 29 g1 g2 g3
        0 lists 7: 7:29>36
    "
}
