//! RULES §6: the jack.

use super::position::tables;

tables! {
    it_swaps_an_own_piece_with_any_other_seats: "
        by familienlager, dogspiel-it, hausregeln
        at 0: 10 20 g0 | 1: 25 | 2: 40 g1 | 3: 5
        0 lists J: J:10<>25 J:10<>40 J:10<>5 J:20<>25 J:20<>40 J:20<>5
        0 plays J:10<>25 => 0: 20 25 g0 | 1: 10 | 2: 40 g1 | 3: 5
        0 plays J:20<>40 => 0: 10 40 g0 | 1: 25 | 2: 20 g1 | 3: 5
    "

    nobody_in_a_kennel_or_a_goal_is_swapped: "
        by all
        at 0: g0 g1 | 1: 20
        0 lists J: fold
        at 0: 10 | 1: 20
        0 is refused J:10<>30: no piece stands on field 30
        by dogspiel-it
        at 0: 10 | 1: full | 2: g0
        0 lists J: fold
    "

    a_fresh_piece_is_not_swapped: "
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        at 0: 10 | 1: fresh
        0 lists J: fold
        0 is refused J:10<>16: the piece on field 16 cannot be swapped: it is seat 1's fresh piece
        by all
        at 0: fresh | 1: 20
        0 lists J: fold
        0 is refused J:0<>20: the piece on field 0 cannot be swapped: it is seat 0's fresh piece
    "

    a_piece_on_its_start_is_swapped_by_the_option: "
        at 0: 10 | 1: 16
        by familienlager
        0 is refused J:10<>16: the piece on field 16 cannot be swapped: it is seat 1's piece on...
        1 is refused J:16<>10: the piece on field 16 cannot be swapped: it is seat 1's piece on...
        by dogspiel-de, dogspiel-it, spielanleitung
        0 plays J:10<>16 => 0: 16 | 1: 10
        1 plays J:16<>10 => 0: 16 | 1: 10
        # On another seat's start it is swapped by every option.
        by familienlager, dogspiel-it
        at 0: 16 | 1: 32
        0 plays J:16<>32 => 0: 32 | 1: 16
    "

    a_piece_that_is_swapped_onto_its_own_start_is_not_fresh: "
        by dogspiel-it, spielanleitung
        at 0: 16 | 1: 0 | 3: 62
        0 plays J:16<>0 => 0: 0 | 1: 16 | 3: 62
        # Both are on their own starts now, and a block by the option only.
        at 0: 0 | 1: 16 | 3: 62
        0 plays J:0<>16 => 0: 16 | 1: 0 | 3: 62
        by dogspiel-it
        3 plays 3:62>1 => 0: 0 | 1: 16 | 3: 1
        0 plays A:0>g0 => 0: g0 | 1: 16 | 3: 62
        by spielanleitung
        3 is refused 3:62>1: field 0 is blocked: seat 0's piece on its start
    "

    the_movers_piece_comes_first: "
        by dogspiel-it
        at 0: 10 | 1: 20 | 3: 30
        0 is refused J:20<>10: the piece on field 20 is seat 1's, this move takes seat 0's pieces
        0 is refused J:20<>30: the piece on field 20 is seat 1's, this move takes seat 0's pieces
        0 is refused J:10<>10: the two pieces of a swap must stand on different fields
    "

    two_own_pieces_are_swapped_by_the_option: "
        by dogspiel-de, spielanleitung
        # Nothing changes, so the list has one move for all pairs.
        at 0: 10 20 30
        0 reaches J: 0: 10 20 30
        0 plays J:20<>10 => 0: 10 20 30
        0 plays J:20<>30 => 0: 10 20 30
        at 0: 10 g1
        0 lists J: fold
        at 0: fresh 10
        0 is refused J:10<>0: the piece on field 0 cannot be swapped: it is seat 0's fresh piece
        at 0: 10 20 | 1: 25
        0 lists J: J:10<>25 J:20<>25 J:10<>20
        by familienlager, dogspiel-it, hausregeln
        at 0: 10 20
        0 is refused J:10<>20: by these rules a jack swaps with another seat's piece, not with \
            one's own
        at 0: 0 10
        by dogspiel-de
        0 lists J: J:0<>10
        by dogspiel-de start_swap_protection=always
        0 lists J: fold
    "

    without_effect_if_only_own_pieces_are_on_the_ring: "
        by hausregeln
        at 0: 10 20 | 1: g0 | 2: g1 g2
        0 lists J: J:none
        0 plays J:none => 0: 10 20 | 1: g0 | 2: g1 g2
        # Even if that piece is fresh, since nothing is swapped.
        at 0: fresh
        0 lists J: J:none
        at 0: g0
        0 is refused J:none: a jack is played without effect only with a piece of seat 0's on the \
            ring
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        at 0: 10
        0 is refused J:none: by these rules a jack is not played without effect
    "

    any_stranger_on_the_ring_rules_the_jack_without_effect_out: "
        by hausregeln
        # The partner's, and a protected one that cannot be swapped either.
        at 0: 10 | 2: 20
        0 is refused J:none: a jack is played without effect only while no other seat's piece is \
            on the ring, and seat 2's stands on field 20
        0 lists J: J:10<>20
        at 0: 10 | 1: fresh
        0 is refused J:none: a jack is played without effect only while no other seat's piece is...
        0 lists J: fold
    "

    both_ways_to_change_nothing_are_one_move_of_the_list: "
        by hausregeln jack_own_pair=true
        at 0: 10 20
        0 reaches J: 0: 10 20
        0 plays J:none => 0: 10 20
        0 plays J:20<>10 => 0: 10 20
        by hausregeln jack_own_pair=true jack_without_effect_when=no_swap_possible
        0 plays J:none => 0: 10 20
        0 plays J:20<>10 => 0: 10 20
    "

    /// RULES §11.
    without_effect_where_no_swap_is_possible: "
        by hausregeln jack_own_pair=true jack_without_effect_when=no_swap_possible
        at 0: fresh 9 | 1: fresh
        0 lists J: J:none
        at 1: fresh
        0 is refused J:none: a jack is played without effect only with a piece of seat 0's...
        by dogspiel-it jack_without_effect_when=no_swap_possible
        at 0: 4
        0 is refused J:none: by these rules a jack is not played without effect
    "

    a_seat_that_is_home_swaps_its_partners_pieces: "
        by dogspiel-de
        at 0: full | 1: 20 | 2: 40 50
        0 lists J: J:40<>20 J:50<>20 J:40<>50
        0 is refused J:20<>40: the piece on field 20 is seat 1's, this move takes seat 2's pieces
        by hausregeln
        at 0: full | 2: 40 50
        0 lists J: J:none
        0 is refused J:40<>50: by these rules a jack swaps with another seat's piece...
        at 0: full | 2: g0
        0 is refused J:none: a jack is played without effect only with a piece of seat 2's...
    "
}
