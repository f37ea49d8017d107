//! RULES §4 (must play), §7.4, §7.5 and §9: turns, folding, the list of moves, the end.

use dog_rules::{
    Action, ActionRefusal, Dealer, Event, EventKind, Game, Level, Phase, Player,
    Preset::{self, *},
    Refusal, Viewer,
};
use rand::seq::IndexedRandom;

use super::{
    people::SETTINGS,
    position::{PositionExt, cards, read_move, seat, tables},
    properties::rng,
    rounds::{deal, exchange, play_all, play_first, play_refused, refused},
};

#[test]
fn what_a_seat_may_do_is_accepted_and_nobody_else_may_do_anything() {
    let mut rng = rng(9);
    for preset in Preset::ALL {
        let mut game = preset.game();
        for _ in 0..200 {
            for seat in game.rules().ring().seats() {
                let actions = game.legal_actions(seat);
                let acts = game.seats_to_act().any(|other| other == seat);
                assert_eq!(actions.is_empty(), !acts);
                for action in actions {
                    assert!(game.clone().apply(&action).is_ok(), "{action:?}");
                }
            }
            let choose = |game: &Game, seat| {
                let actions = game.legal_actions(seat);
                actions.choose(&mut rng).expect("an action").clone()
            };
            game.step(choose).expect("a legal action");
        }
    }
}

// Turns.

const MUST_PLAY: &str = "a card in the hand can be played, so one must be played";

#[test]
fn a_card_must_be_played_if_one_can_be() {
    let position = DogspielIt.at("0: 20 | 2: 22");
    let mut game = position.in_play(0, ["2 Q", "2", "2", "2"]);
    play_refused(&mut game, 0, "fold", MUST_PLAY);
    // However harmful: the partner is captured if nothing else can be played.
    play_all(&mut game, "0 2:20>22");
    assert_eq!(*game.board(), DogspielIt.at("0: 22").board);
    assert_eq!(game.discards(), cards("2"));
    // Even walking past one's own goal, or capturing one's own piece.
    let mut passing = DogspielIt.at("0: 63 1").in_play(0, ["2", "", "", ""]);
    play_refused(&mut passing, 0, "fold", MUST_PLAY);
}

#[test]
fn a_seat_that_can_play_nothing_folds_its_whole_hand() {
    let position = DogspielIt.at("1: 20");
    let mut game = position.in_play(0, ["2 9 J J", "2 3", "2", "2"]);
    play_refused(&mut game, 0, "J:20<>0", "no piece stands on field 0");
    let events = play_all(&mut game, "0 fold");
    let (seat, cards) = (seat(0), cards("2 9 J J"));
    assert_eq!(events, [EventKind::HandFolded { seat, cards }.into()]);
    // Everybody sees it.
    let seen = events[0].clone().redacted_for(Viewer::Spectator);
    assert_eq!(seen.as_ref(), events.first());
    assert_eq!(game.discards(), cards);
    assert_eq!((game.cards(seat), game.folded(seat)), (0, true));
    // It sits out the rest of the round.
    let events = play_all(&mut game, "1 2:20>22, 2 fold, 3 fold, 1 3:22>25");
    let ended = EventKind::RoundEnded { round: 1 };
    assert_eq!(events.last(), Some(&ended.into()));
    let now = (game.phase(), game.turn(), game.round());
    assert_eq!(now, (Phase::Deal, None, 2));
    assert!(!game.folded(seat));
}

#[test]
fn seats_take_turns_and_those_without_cards_are_skipped() {
    let position = DogspielIt.at("0: 20 | 1: 40 | 2: 50 | 3: 60");
    let mut game = position.in_play(2, ["2 3", "", "2 2 3", "2"]);
    play_refused(&mut game, 0, "2:20>22", "seat 2 is to move");
    play_all(&mut game, "2 2:50>52, 3 2:60>62, 0 2:20>22, 2 2:52>54");
    play_all(&mut game, "0 3:22>25, 2 3:54>57");
    assert_eq!(game.phase(), Phase::Deal);
}

#[test]
fn dealer_and_beginner_of_each_round() {
    for preset in Preset::ALL {
        let mut game = preset.game();
        for round in 0..9u8 {
            let deal = deal(&mut game);
            assert_eq!(deal.round, u32::from(round) + 1);
            let dealer = match game.rules().dealer {
                Dealer::Rotates => round % 4,
                Dealer::Fixed => 0,
            };
            let expected = (seat(dealer), seat((round + 1) % 4));
            assert_eq!((deal.dealer, deal.beginner), expected);
            exchange(&mut game);
            assert_eq!(game.turn(), Some(deal.beginner));
            while game.phase() == Phase::Play {
                play_first(&mut game);
            }
        }
    }
}

#[test]
fn a_joker_is_played_as_another_rank_and_discarded_as_a_joker() {
    let mut game = DogspielIt.at("-").in_play(0, ["joker 2", "", "", ""]);
    play_refused(&mut game, 0, "K:out", "there is no K in the hand");
    play_all(&mut game, "0 joker=K:out");
    assert_eq!(game.discards(), cards("joker"));
    assert_eq!(game.hand(seat(0)), cards("2"));
}

#[test]
fn a_reissued_token_changes_only_the_version() {
    let mut game = DogspielIt.game();
    let before = game.version();
    let reissue = Action::ReissueToken { seat: seat(3) };
    let events = game.apply(&reissue).expect("at any time");
    assert_eq!(events, [EventKind::TokenReissued { seat: seat(3) }.into()]);
    assert_eq!(game.version(), before + 1);
    deal(&mut game);
    game.apply(&reissue).expect("at any time");
}

// The list.

tables! {
    two_ways_to_one_board_are_one_move: "
        by dogspiel-it
        # Whichever of its pieces is captured, the same three fields remain.
        at 0: 10 11 21 g3
        0 reaches A: 0: 11 21 g3; 0: 10 12 21 g3; 0: 10 11 22 g3; 0: 10 21 22 g3; 0: 10 11 32 g3
        0 plays A:10>11 => 0: 11 21 g3
        0 plays A:10>21 => 0: 11 21 g3
    "

    equal_cards_are_listed_once_and_a_fold_stands_alone: "
        by dogspiel-it
        at 0: 20 g1 g2 g3
        0 lists 2 2 3 3 J: 2:20>22 3:20>23
        0 lists J J: fold
    "
}

// The end.

#[track_caller]
fn won(game: &Game, events: &[Event], team: u8) {
    let shuffle_seed = game.seed_at_end().expect("the seed is published");
    let won = EventKind::GameWon { team, shuffle_seed };
    assert_eq!(events.last(), Some(&won.into()));
    let now = (game.phase(), game.turn(), game.winner());
    assert_eq!(now, (Phase::Finished, None, Some(team)));
}

#[test]
fn a_team_wins_in_the_middle_of_a_round() {
    let position = DogspielIt.at("0: full | 1: 20 | 2: 31 g1 g2 g3");
    let mut game = position.in_play(2, ["2 3", "2 3", "2 3", "2 3"]);
    assert_eq!(game.seed_at_end(), None);
    let events = play_all(&mut game, "2 2:31>g0");
    won(&game, &events, 0);
    play_refused(&mut game, 3, "fold", "the game is over");
    let seat = seat(0);
    let (name, player) = ("Eva".to_owned(), Player::bot("Bot", Level::Fast));
    let settings = SETTINGS;
    let given = player.clone();
    for action in [
        Action::Deal { by: None },
        Action::Ask { seat },
        Action::ReissueToken { seat },
        Action::RenewToken { seat },
        Action::HandOver { seat, player },
        Action::Join { seat, name },
        Action::AskRematch { seat },
        Action::Forfeit {
            seat,
            offered: true,
        },
        Action::ChangeSettings { settings },
        Action::ChangeSeat {
            seat,
            player: given,
        },
    ] {
        refused(&mut game, &action, "the game is over");
    }
    assert_eq!((game.bot_to_act(), game.timed_out_seat()), (None, None));
}

#[test]
fn a_team_wins_with_the_partners_card() {
    let position = DogspielIt.at("0: full | 1: 20 | 2: 31 g1 g2 g3");
    let mut game = position.in_play(0, ["2 3", "2 3", "2 3", "2 3"]);
    let events = play_all(&mut game, "0 2:31>p0");
    won(&game, &events, 0);
    let both = DogspielIt.at("1: 15 g1 g2 g3 | 3: 44 g1 g2 g3");
    let mut game = both.in_play(1, ["", "7", "", ""]);
    let events = play_all(&mut game, "1 7:15>g0,44>p0");
    won(&game, &events, 1);
}

#[test]
fn one_seat_that_is_home_has_not_won() {
    let position = DogspielIt.at("0: 63 g1 g2 g3 | 2: 20 g1 g2 g3");
    let mut game = position.in_play(0, ["2 3", "2 3", "2 3", "2 3"]);
    play_all(&mut game, "0 2:63>g0");
    assert_eq!((game.winner(), game.turn()), (None, Some(seat(1))));
}

#[test]
fn six_seats_are_three_teams() {
    let six = DogspielIt.with(|options| options.seats = 6);
    let position = six.at("1: full | 2: 1 | 4: 63 g1 g2 g3");
    let mut game = position.in_play(1, ["2", "2", "2", "2", "2", "2"]);
    let events = play_all(&mut game, "1 2:63>p0");
    won(&game, &events, 1);
}

/// The refusal of a move is passed on as it is.
#[test]
fn an_illegal_move_says_why() {
    let position = DogspielIt.at("0: 14 | 1: fresh");
    let mut game = position.in_play(0, ["2 3", "", "", ""]);
    let (seat, mv) = (seat(0), read_move("2:14>16"));
    let refusal = game.apply(&Action::Play { seat, mv });
    assert!(matches!(
        refusal,
        Err(ActionRefusal::IllegalMove(Refusal::Obstacle(_)))
    ));
    let blocked = "field 16 is blocked: seat 1's fresh piece";
    play_refused(&mut game, 0, "2:14>16", blocked);
}
