//! RULES §4 (must play), §7.4, §7.5 and §9: turns, folding, the list of moves, the end.

use dog_rules::{
    Action, ActionRefusal, Dealer, Event, EventKind, Exchange, Game, Level, Phase, Player,
    Preset::{self, *},
    Refusal, Viewer,
};

use rand::seq::IndexedRandom;

use super::{
    position::{PositionExt, cards, read_card, read_move, seat},
    properties::rng,
    rounds::{deal, exchange, lowest, play, play_all, play_first, play_refused, refused},
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

mod turns {
    use super::*;

    #[test]
    fn a_card_must_be_played_if_one_can_be() {
        let position = DogspielIt.at("0: 20 | 2: 22");
        let mut game = position.in_play(0, ["2 Q", "2", "2", "2"]);
        play_refused(
            &mut game,
            0,
            "fold",
            "a card in the hand can be played, so one must be played",
        );
        play_refused(&mut game, 0, "3:20>23", "there is no 3 in the hand");
        play_refused(
            &mut game,
            0,
            "joker=3:20>23",
            "there is no joker in the hand",
        );
        // However harmful: the partner is captured if nothing else can be played.
        play_all(&mut game, &[(0, "2:20>22")]);
        assert_eq!(*game.board(), DogspielIt.at("0: 22").board);
        assert_eq!(game.discards(), cards("2"));
        // Even walking past the own goal, or capturing an own piece.
        let mut passing = DogspielIt.at("0: 63 1").in_play(0, ["2", "", "", ""]);
        play_refused(
            &mut passing,
            0,
            "fold",
            "a card in the hand can be played, so one must be played",
        );
        DogspielIt
            .at("0: 63 1 g0")
            .lists(0, "2", ["2:63>1", "2:1>3", "2:g0>g2"]);
        DogspielIt.at("0: 63 g0 g1 g3").lists(0, "2", ["2:63>1"]);
    }

    #[test]
    fn a_seat_that_can_play_nothing_folds_its_whole_hand() {
        let mut game = DogspielIt
            .at("1: 20")
            .in_play(0, ["2 9 J J", "2 3", "2", "2"]);
        play_refused(&mut game, 0, "J:20<>0", "no piece stands on field 0");
        let events = play(&mut game, 0, "fold").expect("nothing else can be played");
        assert_eq!(
            events,
            [EventKind::HandFolded {
                seat: seat(0),
                cards: cards("2 9 J J"),
            }
            .into()]
        );
        // Everybody sees it.
        assert_eq!(events[0].clone().redacted_for(Viewer::Spectator), events[0]);
        assert_eq!(game.discards(), cards("2 9 J J"));
        assert_eq!((game.cards(seat(0)), game.folded(seat(0))), (0, true));
        // It sits out the rest of the round.
        play_all(&mut game, &[(1, "2:20>22"), (2, "fold"), (3, "fold")]);
        assert_eq!(game.turn(), Some(seat(1)));
        let events = play(&mut game, 1, "3:22>25").expect("the last card");
        assert_eq!(
            events.last(),
            Some(&EventKind::RoundEnded { round: 1 }.into())
        );
        assert_eq!(
            (game.phase(), game.turn(), game.round()),
            (Phase::Deal, None, 2)
        );
        assert!(!game.folded(seat(0)));
    }

    #[test]
    fn seats_take_turns_and_those_without_cards_are_skipped() {
        let position = DogspielIt.at("0: 20 | 1: 40 | 2: 50 | 3: 60");
        let mut game = position.in_play(2, ["2 3", "", "2 2 3", "2"]);
        play_refused(&mut game, 0, "2:20>22", "seat 2 is to move");
        play_all(
            &mut game,
            &[
                (2, "2:50>52"),
                (3, "2:60>62"),
                (0, "2:20>22"),
                (2, "2:52>54"),
            ],
        );
        play_all(&mut game, &[(0, "3:22>25"), (2, "3:54>57")]);
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
                assert_eq!(
                    (deal.dealer, deal.beginner),
                    (seat(dealer), seat((round + 1) % 4))
                );
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
        let mut game = DogspielIt.at("").in_play(0, ["joker 2", "", "", ""]);
        play_refused(&mut game, 0, "K:out", "there is no K in the hand");
        play_all(&mut game, &[(0, "joker=K:out")]);
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
}

mod the_list {
    use super::*;

    #[test]
    fn a_joker_is_listed_once_for_each_rank() {
        let position = DogspielIt.at("0: 0 20 21 22");
        let ranks = |card: &str| position.ids(0, card);
        let as_joker: Vec<String> = "A 2 3 4 5 6 7 8 9 10 J Q K"
            .split(' ')
            .flat_map(ranks)
            .filter(|id| id != "fold")
            .map(|id| format!("joker={id}"))
            .collect();
        assert_eq!(ranks("joker"), as_joker);
        assert!(as_joker.contains(&"joker=A:0>g0".to_owned()));
    }

    #[test]
    fn two_ways_to_one_board_are_one_move() {
        // Whichever own piece is captured, the same three fields remain.
        let ace = DogspielIt.at("0: 10 11 21 g3");
        ace.leads_to(
            0,
            "A",
            [
                "0: 11 21 g3",
                "0: 10 12 21 g3",
                "0: 10 11 22 g3",
                "0: 10 21 22 g3",
                "0: 10 11 32 g3",
            ],
        );
        ace.after(0, "A:10>11", "0: 11 21 g3");
        ace.after(0, "A:10>21", "0: 11 21 g3");
        let four = DogspielIt.at("0: 10 14 18 g3");
        four.after(0, "4:14>10", "0: 10 18 g3");
        four.after(0, "4:14>18", "0: 10 18 g3");
        four.leads_to(
            0,
            "4",
            [
                "0: 14 18 g3",
                "0: 6 14 18 g3",
                "0: 10 18 g3",
                "0: 10 14 g3",
                "0: 10 14 22 g3",
            ],
        );
    }

    #[test]
    fn equal_cards_are_listed_once_and_a_fold_stands_alone() {
        let position = DogspielIt.at("0: 20");
        position.lists(
            0,
            "2 2 3 joker joker J",
            [
                "2:20>22",
                "3:20>23",
                "joker=A:20>21",
                "joker=A:20>31",
                "joker=A:out",
                "joker=2:20>22",
                "joker=3:20>23",
                "joker=4:20>24",
                "joker=4:20>16",
                "joker=5:20>25",
                "joker=6:20>26",
                "joker=7:20>27",
                "joker=8:20>28",
                "joker=9:20>29",
                "joker=10:20>30",
                "joker=Q:20>32",
                "joker=K:20>33",
                "joker=K:out",
            ],
        );
        DogspielIt.at("").lists(0, "2 3 J", ["fold"]);
    }
}

mod the_end {
    use super::*;

    fn won(game: &Game, events: &[Event], team: u8) {
        let shuffle_seed = game.published_seed().expect("the seed is published");
        assert_eq!(
            events.last(),
            Some(&EventKind::GameWon { team, shuffle_seed }.into())
        );
        assert_eq!(
            (game.phase(), game.turn(), game.winner()),
            (Phase::Finished, None, Some(team))
        );
    }

    #[test]
    fn a_team_wins_in_the_middle_of_a_round() {
        let position = DogspielIt.at("0: full | 1: 20 | 2: 31 g1 g2 g3");
        let mut game = position.in_play(2, ["2 3", "2 3", "2 3", "2 3"]);
        assert_eq!(game.published_seed(), None);
        let events = play(&mut game, 2, "2:31>g0").expect("a legal move");
        won(&game, &events, 0);
        play_refused(&mut game, 3, "fold", "the game is over");
        refused(&mut game, &Action::Deal { by: None }, "the game is over");
        refused(
            &mut game,
            &Action::Ask { seat: seat(0) },
            "the game is over",
        );
        refused(
            &mut game,
            &Action::ReissueToken { seat: seat(0) },
            "the game is over",
        );
        let hand_over = Action::HandOver {
            seat: seat(0),
            player: Player::bot("Bot", Level::Fast),
        };
        refused(&mut game, &hand_over, "the game is over");
        assert_eq!((game.bot_to_act(), game.timed_out_seat()), (None, None));
    }

    #[test]
    fn a_team_wins_with_the_partners_card() {
        let position = DogspielIt.at("0: full | 1: 20 | 2: 31 g1 g2 g3");
        let mut game = position.in_play(0, ["2 3", "2 3", "2 3", "2 3"]);
        let events = play(&mut game, 0, "2:31>p0").expect("a legal move");
        won(&game, &events, 0);
        let both = DogspielIt.at("1: 15 g1 g2 g3 | 3: 44 g1 g2 g3");
        let mut game = both.in_play(1, ["", "7", "", ""]);
        play_refused(
            &mut game,
            1,
            "7:15>g0",
            "the parts of a seven must add up to 7 steps, not 2",
        );
        let events = play(&mut game, 1, "7:15>g0,44>p0").expect("a legal move");
        won(&game, &events, 1);
    }

    #[test]
    fn one_seat_that_is_home_has_not_won() {
        let position = DogspielIt.at("0: 63 g1 g2 g3 | 2: 20 g1 g2 g3");
        let mut game = position.in_play(0, ["2 3", "2 3", "2 3", "2 3"]);
        play_all(&mut game, &[(0, "2:63>g0")]);
        assert_eq!((game.winner(), game.turn()), (None, Some(seat(1))));
    }

    #[test]
    fn six_seats_are_three_teams() {
        for preset in Preset::ALL {
            let six = preset.with(|options| options.seats = 6);
            let fields = six.fields_per_seat;
            let (door, start) = (six.ring().door(seat(4)), 4 * fields);
            assert!(start - door <= 1);
            let text = format!("1: full | 2: 1 | 4: {} g1 g2 g3", door - 1);
            let mut game = six.at(&text).in_play(1, ["2", "2", "2", "2", "2", "2"]);
            let id = format!("2:{}>p0", door - 1);
            let events = play(&mut game, 1, &id).expect("a legal move");
            won(&game, &events, 1);
        }
        let six = DogspielIt.with(|options| options.seats = 6);
        let mut game = six.game();
        deal(&mut game);
        // The pairs are 0 and 3, 1 and 4, 2 and 5.
        for by in [0, 3, 1, 4, 2, 5] {
            let action = Action::Offer {
                seat: seat(by),
                card: lowest(&game, seat(by)),
            };
            let events = game.apply(&action).expect("an offer");
            let swapped = events
                .iter()
                .any(|event| matches!(event.what, EventKind::CardsSwapped { .. }));
            assert_eq!(swapped, by >= 3);
        }
        let turns = (0..6).map(|_| play_first(&mut game).number());
        assert_eq!(turns.collect::<Vec<_>>(), [1, 2, 3, 4, 5, 0]);
    }

    #[test]
    fn an_optional_exchange_at_six_seats_waits_for_every_pair() {
        let six = DogspielIt.with(|options| {
            options.seats = 6;
            options.exchange = Exchange::Optional;
        });
        let mut game = six.game();
        deal(&mut game);
        for by in [3, 1] {
            game.apply(&Action::Decline { seat: seat(by) })
                .expect("it may decline");
            assert_eq!(game.phase(), Phase::Exchange);
        }
        game.apply(&Action::Decline { seat: seat(5) })
            .expect("it may decline");
        assert_eq!(game.phase(), Phase::Play);
    }
}

/// The refusal of a move is passed on as it is.
#[test]
fn an_illegal_move_says_why() {
    let mut game = DogspielIt
        .at("0: 14 | 1: fresh")
        .in_play(0, ["2 3", "", "", ""]);
    let mv = read_move("2:14>16");
    let refusal = game.apply(&Action::Play { seat: seat(0), mv });
    assert!(matches!(
        refusal,
        Err(ActionRefusal::IllegalMove(Refusal::Obstacle(_)))
    ));
    play_refused(
        &mut game,
        0,
        "2:14>16",
        "field 16 is blocked: seat 1's fresh piece",
    );
    let not_in_hand = ActionRefusal::IllegalMove(Refusal::NotInHand(read_card("K")));
    assert_eq!(play(&mut game, 0, "K:out"), Err(not_in_hand));
}
