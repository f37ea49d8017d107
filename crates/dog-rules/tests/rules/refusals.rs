//! Every reason to refuse a move, in its words.
//!
//! There are those here that the tests of the single rules lack.

use dog_rules::{Move, Preset::*, Refusal, notation::NotationError};

use super::position::{PositionExt, cards, tables};

#[test]
fn what_is_no_move_at_all() {
    let no_id = r#"a move id is "fold" or CARD:WHAT, such as K:out or Q:17>29"#;
    let no_card = "the card before the colon is none of A 2 3 4 5 6 7 8 9 10 J Q K joker";
    let no_rank = "a joker is announced as one of the other ranks, such as joker=K:out";
    let no_field = "a field is a track number, g0 to g3 or p0 to p3, with no blank or leading zero";
    let no_walk = "a walk is FROM>TO, such as 17>29 or 62>g1";
    for (id, why) in [
        ("pass", no_id),
        ("1:0>1", no_card),
        ("joker:out", no_rank),
        ("joker=joker:out", no_rank),
        ("A=K:out", "only a joker is announced as another rank"),
        ("Q:017>29", no_field),
        ("5:62>g4", no_field),
        ("Q:17-29", no_walk),
        ("7:none", no_walk),
        ("Q:out", "the Q is not played like that"),
        ("joker=2:out", "the 2 is not played like that"),
        ("J:17>29", "the J is not played like that"),
        ("5:1>2,3>7", "the 5 is not played like that"),
        (
            "7:0>1,1>2,2>3,3>4,4>5,5>6,6>7,7>8",
            "a seven has at most seven parts",
        ),
    ] {
        let error: NotationError = id.parse::<Move>().expect_err(id);
        assert_eq!(error.to_string(), why, "{id}");
        let refusal = Refusal::from(error).to_string();
        assert_eq!(refusal, format!("this is not a move: {why}"));
    }
}

#[test]
fn what_the_hand_forbids() {
    let position = DogspielIt.at("0: 20");
    for (id, hand, why) in [
        ("3:20>23", "2 4", "there is no 3 in the hand"),
        ("3:20>23", "joker", "there is no 3 in the hand"),
        ("joker=3:20>23", "3", "there is no joker in the hand"),
        (
            "fold",
            "3",
            "a card in the hand can be played, so one must be played",
        ),
    ] {
        let refusal = position.judge(0, id, cards(hand)).expect_err(id);
        assert_eq!(refusal.to_string(), why, "{id}");
    }
}

tables! {
    which_piece_and_which_field: "
        by dogspiel-it
        at 0: 20 g1 | 1: 30 | 2: g2
        0 is refused 2:20>65: there is no track field 65, the last one is 63
        0 is refused 2:64>2: there is no track field 64, the last one is 63
        0 is refused J:20<>64: there is no track field 64, the last one is 63
        0 is refused J:255<>20: there is no track field 255, the last one is 63
        0 is refused 2:21>23: no piece stands on field 21
        0 is refused 2:g0>g2: no piece stands on goal 0
        0 is refused 7:20>26,p1>p2: no piece stands on the partner's goal 1
        0 is refused A:p2>p3: the piece on the partner's goal 2 is seat 2's, this move takes \
            seat 0's pieces
        0 is refused 2:30>g1: a piece may enter only its own goal
        at 0: full | 2: 40
        0 is refused A:g2>g3: the piece on goal 2 is seat 0's, this move takes seat 2's pieces
    "

    how_far_a_card_carries: "
        by dogspiel-it
        at 0: 20 63 g0
        0 is refused 2:20>23: the 2 does not carry a piece from field 20 to field 23
        0 is refused 3:20>16: the 3 does not carry a piece from field 20 to field 16
        0 is refused joker=Q:20>33: the Q does not carry a piece from field 20 to field 33
        0 is refused 5:63>g1: the 5 does not carry a piece from field 63 to goal 1
        0 is refused 3:g0>g2: the 3 does not carry a piece from goal 0 to goal 2
        0 is refused 4:20>20: the 4 does not carry a piece from field 20 to field 20
        0 is refused A:20>22: the A does not carry a piece from field 20 to field 22
    "
}
