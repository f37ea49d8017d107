//! Every reason to refuse a move, in its words.
//!
//! There is one example of each here. The tests of the single rules have more.

use dog_rules::{Move, Preset::*, Refusal, notation::NotationError};

use super::position::{PositionExt, cards};

#[test]
fn what_is_no_move_at_all() {
    let words = [
        (
            "pass",
            "a move id is \"fold\" or CARD:WHAT, such as K:out or Q:17>29",
        ),
        (
            "1:0>1",
            "the card before the colon is none of A 2 3 4 5 6 7 8 9 10 J Q K joker",
        ),
        (
            "joker:out",
            "a joker is announced as one of the other ranks, such as joker=K:out",
        ),
        (
            "joker=joker:out",
            "a joker is announced as one of the other ranks, such as joker=K:out",
        ),
        ("A=K:out", "only a joker is announced as another rank"),
        (
            "Q:017>29",
            "a field is a track number, g0 to g3 or p0 to p3, with no blank or leading zero",
        ),
        (
            "5:62>g4",
            "a field is a track number, g0 to g3 or p0 to p3, with no blank or leading zero",
        ),
        ("Q:17-29", "a walk is FROM>TO, such as 17>29 or 62>g1"),
        ("Q:out", "the Q is not played like that"),
        ("joker=2:out", "the 2 is not played like that"),
        ("J:17>29", "the J is not played like that"),
        ("7:none", "a walk is FROM>TO, such as 17>29 or 62>g1"),
        ("5:1>2,3>7", "the 5 is not played like that"),
        (
            "7:0>1,1>2,2>3,3>4,4>5,5>6,6>7,7>8",
            "a seven has at most seven parts",
        ),
    ];
    for (id, why) in words {
        let error: NotationError = id.parse::<Move>().expect_err(id);
        assert_eq!(error.to_string(), why, "{id}");
        assert_eq!(
            Refusal::from(error).to_string(),
            format!("this is no move: {why}")
        );
    }
}

#[test]
fn what_the_hand_forbids() {
    let position = DogspielIt.at("0: 20");
    let refusal = |id, hand| {
        position
            .judge(0, id, cards(hand))
            .expect_err(id)
            .to_string()
    };
    assert_eq!(refusal("3:20>23", "2 4"), "there is no 3 in the hand");
    assert_eq!(
        refusal("joker=3:20>23", "3"),
        "there is no joker in the hand"
    );
    assert_eq!(refusal("3:20>23", "joker"), "there is no 3 in the hand");
    assert_eq!(
        refusal("fold", "3"),
        "a card in the hand can be played, so one must be played"
    );
    let stuck = DogspielIt.at("1: 20");
    assert!(stuck.judge(0, "fold", cards("3 J 7")).is_ok());
}

#[test]
fn what_stands_in_the_way() {
    DogspielIt.at("0: 14 | 1: fresh").refuses(
        0,
        "2:14>16",
        "field 16 is blocked: seat 1's fresh piece",
    );
    Familienlager.at("0: 14 | 1: 16").refuses(
        0,
        "2:14>16",
        "field 16 is blocked: seat 1's piece on its start",
    );
    DogspielIt.at("0: 63 g0").refuses(
        0,
        "2:63>g0",
        "goal field 0 is occupied: no piece lands on or passes another in the goal",
    );
    DogspielIt.at("0: fresh").refuses(
        0,
        "2:0>g1",
        "a fresh piece must leave its start before it may enter the goal",
    );
    Hausregeln.at("0: 3").refuses(
        0,
        "4:3>g0",
        "a piece walking back enters the goal only from beyond its start, over the door",
    );
    DogspielIt.at("0: 2").refuses(
        0,
        "4:2>g0",
        "by these rules no piece walks backward into the goal",
    );
}

#[test]
fn which_piece_and_which_field() {
    let position = DogspielIt.at("0: 20 g1 | 1: 30 | 2: g2");
    position.refuses(
        0,
        "2:20>65",
        "there is no track field 65, the last one is 63",
    );
    position.refuses(
        0,
        "2:64>2",
        "there is no track field 64, the last one is 63",
    );
    position.refuses(
        0,
        "J:20<>64",
        "there is no track field 64, the last one is 63",
    );
    position.refuses(
        0,
        "J:255<>20",
        "there is no track field 255, the last one is 63",
    );
    position.refuses(0, "2:21>23", "no piece stands on field 21");
    position.refuses(0, "2:g0>g2", "no piece stands on goal 0");
    position.refuses(
        0,
        "7:20>26,p1>p2",
        "no piece stands on the partner's goal 1",
    );
    position.refuses(
        0,
        "2:30>32",
        "the piece on field 30 is seat 1's, this move takes seat 0's pieces",
    );
    position.refuses(
        0,
        "A:p2>p3",
        "the piece on the partner's goal 2 is seat 2's, this move takes seat 0's pieces",
    );
    DogspielIt.at("0: full | 2: 40").refuses(
        0,
        "A:g2>g3",
        "the piece on goal 2 is seat 0's, this move takes seat 2's pieces",
    );
    position.refuses(0, "2:20>p1", "a piece may enter only its own goal");
    position.refuses(0, "2:30>g1", "a piece may enter only its own goal");
    position.refuses(
        0,
        "2:g1>20",
        "no piece leaves the goal or moves backward in it",
    );
    DogspielIt
        .at("0: 1 2 3 4")
        .refuses(0, "A:out", "seat 0's kennel is empty");
}

#[test]
fn how_far_a_card_carries() {
    let position = DogspielIt.at("0: 20 63 g0");
    position.refuses(
        0,
        "2:20>23",
        "the 2 does not carry a piece from field 20 to field 23",
    );
    position.refuses(
        0,
        "3:20>16",
        "the 3 does not carry a piece from field 20 to field 16",
    );
    position.refuses(
        0,
        "joker=Q:20>33",
        "the Q does not carry a piece from field 20 to field 33",
    );
    position.refuses(
        0,
        "5:63>g1",
        "the 5 does not carry a piece from field 63 to goal 1",
    );
    position.refuses(
        0,
        "3:g0>g2",
        "the 3 does not carry a piece from goal 0 to goal 2",
    );
    position.refuses(
        0,
        "4:20>20",
        "the 4 does not carry a piece from field 20 to field 20",
    );
    position.refuses(
        0,
        "A:20>22",
        "the A does not carry a piece from field 20 to field 22",
    );
}

#[test]
fn what_a_jack_does_not_swap() {
    let position = DogspielIt.at("0: 10 20 | 1: fresh 30");
    position.refuses(
        0,
        "J:10<>10",
        "the two pieces of a swap must stand on different fields",
    );
    position.refuses(
        0,
        "J:10<>20",
        "by these rules a jack swaps with another seat's piece, not with one's own",
    );
    position.refuses(
        0,
        "J:10<>16",
        "the piece on field 16 cannot be swapped: it is seat 1's fresh piece",
    );
    Familienlager.at("0: 0 | 1: 30").refuses(
        0,
        "J:0<>30",
        "the piece on field 0 cannot be swapped: it is seat 0's piece on its start",
    );
    position.refuses(
        0,
        "J:none",
        "by these rules a jack is not played without effect",
    );
    Hausregeln.at("0: g0").refuses(
        0,
        "J:none",
        "a jack is played without effect only with a piece of seat 0's on the ring",
    );
    Hausregeln.at("0: 10 | 1: 30").refuses(
        0,
        "J:none",
        "a jack is played without effect only while no other seat's piece is on the ring, \
         and seat 1's stands on field 30",
    );
}

#[test]
fn what_is_no_seven() {
    DogspielIt.at("0: 10 20").refuses(
        0,
        "7:10>12,20>29",
        "a part of a seven takes 1 to 7 steps forward: field 20 to field 29 is not",
    );
    DogspielIt.at("0: 10 20").refuses(
        0,
        "7:10>12,20>24",
        "the parts of a seven must add up to 7 steps, not 6",
    );
    Hausregeln.at("0: 10 20 | 1: 12").refuses(
        0,
        "7:20>25,10>12",
        "a part of a seven may not end on field 12: it must be free",
    );
}
