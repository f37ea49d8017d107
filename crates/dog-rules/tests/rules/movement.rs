//! RULES §4: whose pieces move, what blocks them, the goal and its door, the kennel, four back.

use dog_rules::{
    Preset::{self, *},
    movement::{MoveBlocked, Walker},
};

use super::position::{PositionExt, seat};

/// The presets whose door is the start itself, on a ring of 64.
const DOOR_ON_START: [Preset; 4] = [Familienlager, DogspielDe, DogspielIt, Spielanleitung];
/// Those where only a fresh piece is a block.
const FRESH_BLOCKS: [Preset; 2] = [DogspielDe, DogspielIt];
/// Those where every piece on its own start is a block.
const START_BLOCKS: [Preset; 2] = [Familienlager, Spielanleitung];

mod blocks {
    use super::*;

    #[test]
    fn a_fresh_piece_stops_everyone_in_both_directions() {
        for preset in DOOR_ON_START {
            let blocked = "field 16 is blocked: seat 1's fresh piece";
            // An opponent lands, passes, walks back onto it, walks back over it.
            preset.at("0: 10 | 1: fresh").refuses(0, "6:10>16", blocked);
            preset.at("0: 10 | 1: fresh").refuses(0, "8:10>18", blocked);
            preset.at("0: 20 | 1: fresh").refuses(0, "4:20>16", blocked);
            preset.at("0: 18 | 1: fresh").refuses(0, "4:18>14", blocked);
            // So does the partner, and a piece of its own side.
            preset.at("3: 10 | 1: fresh").refuses(3, "8:10>18", blocked);
            preset.at("3: 18 | 1: fresh").refuses(3, "4:18>14", blocked);
            preset.at("1: fresh 10").refuses(1, "6:10>16", blocked);
            preset.at("1: fresh 10").refuses(1, "8:10>18", blocked);
            preset.at("1: fresh 18").refuses(1, "4:18>14", blocked);
            // The fields before it are free.
            preset
                .at("0: 10 | 1: fresh")
                .after(0, "5:10>15", "0: 15 | 1: fresh");
            preset
                .at("0: 21 | 1: fresh")
                .after(0, "4:21>17", "0: 17 | 1: fresh");
        }
    }

    #[test]
    fn a_piece_not_fresh_on_its_start_blocks_by_the_option() {
        for preset in FRESH_BLOCKS {
            preset.at("0: 0 | 1: 60").after(1, "4:60>0", "1: 0");
            preset.at("0: 0 | 1: 60").after(1, "5:60>1", "0: 0 | 1: 1");
            preset.at("0: 0 | 1: 4").after(1, "4:4>0", "1: 0");
            preset.at("0: 0 | 1: 2").after(1, "4:2>62", "0: 0 | 1: 62");
            preset.at("0: 0 62").after(0, "3:62>1", "0: 0 1");
        }
        let blocked = "field 0 is blocked: seat 0's piece on its start";
        for preset in START_BLOCKS {
            preset.at("0: 0 | 1: 60").refuses(1, "4:60>0", blocked);
            preset.at("0: 0 | 1: 60").refuses(1, "5:60>1", blocked);
            preset.at("0: 0 | 1: 4").refuses(1, "4:4>0", blocked);
            preset.at("0: 0 62").refuses(0, "3:62>1", blocked);
            preset.at("0: 0 62").refuses(0, "3:62>g0", blocked);
            preset.at("0: 0 2").refuses(0, "4:2>62", blocked);
        }
    }

    #[test]
    fn a_piece_on_another_seats_start_is_an_ordinary_piece() {
        for preset in DOOR_ON_START {
            let position = preset.at("0: 16 | 3: 10");
            position.after(3, "6:10>16", "3: 16");
            position.after(3, "8:10>18", "0: 16 | 3: 18");
            position.after(1, "K:out", "1: fresh | 3: 10");
        }
    }
}

mod landing {
    use super::*;

    #[test]
    fn the_piece_that_is_landed_on_returns_to_its_kennel() {
        for preset in Preset::ALL {
            let position = preset.at("0: 5 10 | 1: 13 | 2: 18");
            position
                .after(0, "3:10>13", "0: 5 13 | 2: 18")
                .captures(0, "3:10>13", ["1@13"]);
            position
                .after(0, "8:10>18", "0: 5 18 | 1: 13")
                .captures(0, "8:10>18", ["2@18"]);
            position
                .after(0, "5:5>10", "0: 10 | 1: 13 | 2: 18")
                .captures(0, "5:5>10", ["0@10"]);
            position.after(1, "4:13>9", "0: 5 10 | 1: 9 | 2: 18");
            preset.at("0: 14 | 1: 10").after(0, "4:14>10", "0: 10");
        }
    }

    #[test]
    fn passing_is_free() {
        for preset in Preset::ALL {
            let position = preset.at("0: 5 10 | 1: 13 | 2: 8");
            position.after(0, "9:5>14", "0: 10 14 | 1: 13 | 2: 8");
            position.captures(0, "9:5>14", []);
            preset
                .at("0: 14 | 1: 13 | 2: 12")
                .after(0, "4:14>10", "0: 10 | 1: 13 | 2: 12");
        }
    }

    #[test]
    fn only_a_seven_captures_the_piece_on_the_door_in_passing() {
        DogspielIt
            .at("0: 62 | 1: 0")
            .after(0, "3:62>g0", "0: g0 | 1: 0");
        DogspielIt.at("0: 0 62").after(0, "3:62>g0", "0: 0 g0");
        Hausregeln
            .at("0: 57 | 1: 59")
            .after(0, "3:57>g0", "0: g0 | 1: 59");
    }

    #[test]
    fn each_card_moves_its_number_of_steps() {
        let position = DogspielIt.at("0: 20 g1 g2 g3");
        for (card, to) in [
            ("2", 22),
            ("3", 23),
            ("5", 25),
            ("6", 26),
            ("8", 28),
            ("9", 29),
            ("10", 30),
            ("Q", 32),
            ("K", 33),
        ] {
            let expected = format!("{card}:20>{to}");
            position.lists(0, card, [&expected]);
        }
        position.lists(0, "A", ["A:20>21", "A:20>31"]);
        position.lists(0, "4", ["4:20>24", "4:20>16"]);
        position.lists(0, "7", ["7:20>27"]);
    }
}

mod goal {
    use super::*;

    #[test]
    fn a_piece_may_enter_or_walk_past() {
        for preset in DOOR_ON_START {
            preset.at("0: 62").lists(0, "6", ["6:62>g3", "6:62>4"]);
            preset.at("1: 14").lists(1, "6", ["6:14>g3", "6:14>20"]);
            preset.at("0: 62").lists(0, "8", ["8:62>6"]);
        }
        Hausregeln.at("0: 57").lists(0, "6", ["6:57>g3", "6:57>3"]);
    }

    #[test]
    fn goal_fields_need_not_be_filled_in_order() {
        let position = DogspielIt.at("0: 62 63");
        let first = position.then(0, "5:62>g2", "0: 63 g2");
        let second = first.then(0, "2:63>g0", "0: g0 g2");
        second.after(0, "A:g0>g1", "0: g1 g2");
    }

    #[test]
    fn no_piece_passes_or_lands_on_another_in_the_goal() {
        let occupied = |field: u8| {
            format!(
                "goal field {field} is occupied: no piece lands on or passes another in the goal"
            )
        };
        let position = DogspielIt.at("0: 62 g1");
        position.refuses(0, "4:62>g1", &occupied(1));
        position.refuses(0, "5:62>g2", &occupied(1));
        position.after(0, "3:62>g0", "0: g0 g1");
        let inside = DogspielIt.at("0: g0 g2");
        inside
            .refuses(0, "2:g0>g2", &occupied(2))
            .refuses(0, "3:g0>g3", &occupied(2));
        inside.lists(0, "A", ["A:g0>g1", "A:g2>g3", "A:out"]);
    }

    #[test]
    fn there_is_nothing_beyond_the_innermost_field() {
        DogspielIt.at("0: g2").lists(0, "2", ["fold"]);
        DogspielIt.at("0: 63").lists(0, "6", ["6:63>5"]);
        DogspielIt.at("0: full").lists(0, "3 Q", ["fold"]);
    }

    #[test]
    fn no_piece_leaves_the_goal_or_moves_backward_in_it() {
        let stays = "no piece leaves the goal or moves backward in it";
        for preset in Preset::ALL {
            let position = preset.at("0: g3");
            position
                .refuses(0, "4:g3>g0", stays)
                .refuses(0, "A:g3>g3", stays);
            position
                .refuses(0, "4:g3>40", stays)
                .refuses(0, "A:g3>0", stays);
            position.lists(0, "4", ["fold"]);
        }
    }

    #[test]
    fn nothing_in_a_goal_is_captured_from_the_ring() {
        // Seat 1 walks over seat 0's start and door, but not over its goal.
        DogspielIt
            .at("0: g0 g3 | 1: 62")
            .after(1, "3:62>1", "0: g0 g3 | 1: 1");
        DogspielIt
            .at("0: g0 g3 | 1: 62")
            .after(1, "7:62>5", "0: g0 g3 | 1: 5");
    }

    #[test]
    fn a_piece_enters_only_its_own_goal() {
        let foreign = "a piece may enter only its own goal";
        DogspielIt
            .at("0: 31")
            .refuses(0, "2:31>p0", foreign)
            .lists(0, "2", ["2:31>33"]);
        DogspielIt.at("0: 15").lists(0, "2", ["2:15>17"]);
        DogspielIt.at("0: g0").refuses(0, "2:g0>p2", foreign);
    }
}

mod door {
    use super::*;

    #[test]
    fn a_piece_that_came_to_its_start_another_way_is_not_fresh() {
        let walked = DogspielIt.at("0: 60").then(0, "4:60>0", "0: 0");
        walked.after(0, "2:0>g1", "0: g1");
        let back = DogspielIt.at("0: 4").then(0, "4:4>0", "0: 0");
        back.after(0, "2:0>g1", "0: g1");
        let swapped = DogspielIt
            .at("0: 20 | 1: 0")
            .then(0, "J:20<>0", "0: 0 | 1: 20");
        swapped.after(0, "2:0>g1", "0: g1 | 1: 20");
        let was_swapped = DogspielIt
            .at("0: 20 | 1: 0")
            .then(1, "J:0<>20", "0: 0 | 1: 20");
        was_swapped.after(0, "2:0>g1", "0: g1 | 1: 20");
    }

    #[test]
    fn before_the_start_the_start_itself_is_not_touched() {
        let position = Hausregeln.at("0: 59");
        position.lists(0, "2", ["2:59>g1", "2:59>1"]);
        let on_start = Hausregeln.at("0: 0");
        on_start.lists(0, "2", ["2:0>2"]);
        on_start.refuses(
            0,
            "A:0>g0",
            "the A does not carry a piece from field 0 to goal 0",
        );
    }

    #[test]
    fn the_start_that_is_walked_onto_before_the_goal_is_no_door_there() {
        // One before the door: 1 step to it, then goal 0; the start is one past it.
        Hausregeln.at("0: 58").lists(0, "2", ["2:58>g0", "2:58>0"]);
    }
}

mod kennel {
    use super::*;

    #[test]
    fn one_piece_goes_to_the_start_and_is_fresh() {
        for preset in Preset::ALL {
            preset
                .at("")
                .after(0, "K:out", "0: fresh")
                .after(1, "A:out", "1: fresh");
            preset
                .at("")
                .lists(0, "A 2 3 4 5 6 7 8 9 10 J Q K", ["A:out", "K:out"]);
            preset
                .at("")
                .lists(0, "joker", ["joker=A:out", "joker=K:out"]);
            preset
                .at("0: 5 6 7 8")
                .refuses(0, "K:out", "seat 0's kennel is empty");
        }
    }

    #[test]
    fn any_piece_there_that_is_no_block_is_captured() {
        for preset in Preset::ALL {
            for other in 1..4 {
                let position = preset.at(&format!("{other}: 0"));
                position.after(0, "K:out", "0: fresh");
                position.captures(0, "K:out", [&format!("{other}@0")]);
            }
        }
        for preset in [DogspielDe, DogspielIt, Hausregeln] {
            preset
                .at("0: 0")
                .after(0, "A:out", "0: fresh")
                .captures(0, "A:out", ["0@0"]);
        }
    }

    #[test]
    fn a_block_on_the_start_keeps_the_others_in_the_kennel() {
        for preset in Preset::ALL {
            let blocked = "field 0 is blocked: seat 0's fresh piece";
            preset.at("0: fresh").refuses(0, "K:out", blocked);
        }
        for preset in START_BLOCKS {
            let blocked = "field 0 is blocked: seat 0's piece on its start";
            preset.at("0: 0").refuses(0, "K:out", blocked);
        }
    }
}

mod backward_four {
    use super::*;

    #[test]
    fn it_may_pass_reach_or_leave_the_own_start() {
        for preset in DOOR_ON_START {
            preset.at("0: 2").lists(0, "4", ["4:2>6", "4:2>62"]);
            preset.at("0: 4").lists(0, "4", ["4:4>8", "4:4>0"]);
            preset.at("0: fresh").after(0, "4:0>60", "0: 60");
        }
    }

    #[test]
    fn it_goes_into_the_goal_from_the_two_fields_after_the_start() {
        Hausregeln
            .at("0: 1")
            .after(0, "4:1>g1", "0: g1")
            .after(0, "4:1>57", "0: 57");
        Hausregeln
            .at("0: 2")
            .after(0, "4:2>g0", "0: g0")
            .after(0, "4:2>58", "0: 58");
        Hausregeln.at("0: 3").lists(0, "4", ["4:3>59", "4:3>7"]);
        Hausregeln.at("1: 16").after(1, "4:16>g1", "1: g1");
        let over = "a piece walking back enters the goal only from beyond its start, over the door";
        Hausregeln.at("0: 3").refuses(0, "4:3>g0", over);
        Hausregeln.at("0: 0").refuses(0, "4:0>g2", over);
        Hausregeln.at("0: fresh").refuses(0, "4:0>g2", over);
    }

    /// RULES §11: the start is the door as well.
    #[test]
    fn it_goes_into_the_goal_over_a_start_that_is_the_door() {
        let rules = Familienlager.with(|options| options.backward_into_goal = true);
        rules
            .at("0: 1")
            .lists(0, "4", ["4:1>5", "4:1>61", "4:1>g2"]);
        rules
            .at("0: 3")
            .lists(0, "4", ["4:3>7", "4:3>63", "4:3>g0"]);
        rules.at("0: 4").lists(0, "4", ["4:4>8", "4:4>0"]);
        rules.at("1: 17").after(1, "4:17>g2", "1: g2");
        let over = "a piece walking back enters the goal only from beyond its start, over the door";
        rules.at("0: 4").refuses(0, "4:4>g0", over);
        // On its start, a piece that is not fresh is at the door.
        rules.at("0: 0").after(0, "4:0>g3", "0: g3");
        let fresh = "a fresh piece must leave its start before it may enter the goal";
        rules.at("0: fresh").refuses(0, "4:0>g3", fresh);
        // A block on the start stops it, and an unprotected piece there is passed.
        let blocked = "field 0 is blocked: seat 0's piece on its start";
        rules.at("0: 0 2").refuses(0, "4:2>g1", blocked);
        rules.at("0: 2 | 1: 0").after(0, "4:2>g1", "0: g1 | 1: 0");
        let occupied = "goal field 0 is occupied: no piece lands on or passes another in the goal";
        rules.at("0: 2 g0").refuses(0, "4:2>g1", occupied);
    }

    #[test]
    fn it_ends_on_no_other_goal_field_than_its_steps_reach() {
        Hausregeln.at("0: 1").refuses(
            0,
            "4:1>g0",
            "the 4 does not carry a piece from field 1 to goal 0",
        );
        Hausregeln.at("0: 2").refuses(
            0,
            "4:2>g1",
            "the 4 does not carry a piece from field 2 to goal 1",
        );
    }

    #[test]
    fn it_never_enters_the_goal_without_the_option() {
        let rules = Hausregeln.with(|options| options.backward_into_goal = false);
        let never = "by these rules no piece walks backward into the goal";
        rules.at("0: 2").refuses(0, "4:2>g0", never);
        DogspielIt.at("0: 2").refuses(0, "4:2>g0", never);
    }

    #[test]
    fn what_stands_in_the_way_stops_it() {
        let occupied = "goal field 0 is occupied: no piece lands on or passes another in the goal";
        Hausregeln.at("0: 1 g0").refuses(0, "4:1>g1", occupied);
        Hausregeln.at("0: 2 g0").refuses(0, "4:2>g0", occupied);
        Hausregeln.at("0: 2 g1").after(0, "4:2>g0", "0: g0 g1");
        let blocked = "field 0 is blocked: seat 0's fresh piece";
        Hausregeln
            .at("0: fresh 2")
            .refuses(0, "4:2>g0", blocked)
            .refuses(0, "4:2>58", blocked);
    }

    #[test]
    fn it_captures_where_it_lands_and_not_on_the_way_into_the_goal() {
        Hausregeln
            .at("0: 2 | 1: 58 | 2: 59")
            .after(0, "4:2>58", "0: 58 | 2: 59");
        Hausregeln
            .at("0: 2 | 1: 0 | 2: 59")
            .after(0, "4:2>g0", "0: g0 | 1: 0 | 2: 59");
    }
}

mod freshness {
    use super::*;

    #[test]
    fn it_ends_when_the_piece_moves() {
        for preset in Preset::ALL {
            let moved = preset.at("0: fresh").then(0, "2:0>2", "0: 2");
            let length = preset.rules().ring().length();
            moved.after(0, "2:2>4", "0: 4");
            preset.at("0: fresh").after(0, "4:0>4", "0: 4");
            let back = format!("4:0>{}", length - 4);
            preset
                .at("0: fresh")
                .after(0, &back, &format!("0: {}", length - 4));
        }
    }

    #[test]
    fn other_moves_leave_it() {
        for preset in Preset::ALL {
            let position = preset.at("0: fresh 10 | 1: 20 | 2: fresh");
            position.after(0, "2:10>12", "0: fresh 12 | 1: 20 | 2: fresh");
            position.after(0, "J:10<>20", "0: fresh 20 | 1: 10 | 2: fresh");
            position.after(1, "2:20>22", "0: fresh 10 | 1: 22 | 2: fresh");
            position.after(1, "K:out", "0: fresh 10 | 1: fresh 20 | 2: fresh");
        }
    }

    /// RULES §9: fresh is compared even where it changes nothing else.
    #[test]
    fn it_is_tracked_where_every_piece_on_its_start_blocks() {
        for preset in START_BLOCKS {
            let position = preset.at("0: 60 | 2: 20");
            let came = position.then(0, "4:60>0", "0: 0 | 2: 20");
            assert_ne!(came.board, preset.at("0: fresh | 2: 20").board);
        }
    }
}

mod whose_pieces {
    use super::*;

    #[test]
    fn a_seat_moves_its_own() {
        let position = DogspielIt.at("0: 10 | 1: 20 | 2: 40 g0");
        position.lists(0, "2", ["2:10>12"]);
        let not = |place, owner| {
            format!("the piece on {place} is seat {owner}'s, this move takes seat 0's pieces")
        };
        position.refuses(0, "2:20>22", &not("field 20", 1));
        position.refuses(0, "2:40>42", &not("field 40", 2));
        position.refuses(0, "2:p0>p2", &not("the partner's goal 0", 2));
    }

    #[test]
    fn a_seat_that_is_home_moves_its_partners_with_every_card() {
        for preset in Preset::ALL {
            let start = preset.rules().ring().start(seat(2));
            let position = preset.at("0: full | 1: 20 | 2: 10 g1");
            position.lists(0, "2", ["2:10>12", "2:p1>p3"]);
            position.after(0, "2:p1>p3", "0: full | 1: 20 | 2: 10 g3");
            position.after(0, "K:out", "0: full | 1: 20 | 2: fresh 10 g1");
            position.lists(0, "J", ["J:10<>20"]);
            position.after(0, "J:10<>20", "0: full | 1: 10 | 2: 20 g1");
            position.after(0, "4:10>6", "0: full | 1: 20 | 2: 6 g1");
            position.after(0, "Q:10>22", "0: full | 1: 20 | 2: 22 g1");
            position.after(0, "7:10>15,p1>p3", "0: full | 1: 20 | 2: 15 g3");
            // The door, and what is fresh, are the partner's too.
            let at_start = preset.at("0: full | 2: fresh");
            at_start.refuses(
                0,
                "K:out",
                &format!("field {start} is blocked: seat 2's fresh piece"),
            );
        }
        DogspielIt
            .at("0: full | 2: 30")
            .lists(0, "3", ["3:30>p0", "3:30>33"]);
        DogspielIt
            .at("0: full | 2: fresh")
            .lists(0, "2", ["2:32>34"]);
        Hausregeln
            .at("0: full | 2: 32")
            .lists(0, "4", ["4:32>p0", "4:32>28", "4:32>36"]);
    }

    #[test]
    fn at_a_table_of_six_the_partner_is_three_seats_on() {
        let six = DogspielIt.with(|options| options.seats = 6);
        let position = six.at("1: full | 4: 62 | 2: 20");
        position.lists(1, "3", ["3:62>p0", "3:62>65"]);
        position.refuses(
            1,
            "2:20>22",
            "the piece on field 20 is seat 2's, this move takes seat 4's pieces",
        );
    }
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
    let inside = walker.inside_goal(2, 2);
    assert_eq!(inside, Err(MoveBlocked::BeyondGoal));
    assert_eq!(
        MoveBlocked::BeyondGoal.to_string(),
        "there is nothing beyond goal 3"
    );
}
