//! People who sit down, leave, come back and are away: who plays a seat, who sees a hand, and who did
//! what.

use dog_rules::{
    Action, ActionRefusal, Actor, By, Cards, Event, EventKind, Exchange, Game, Level, OfferedCard,
    Person, Phase, Player, Preset::*, Rules, Seat, SeatKind, Seed, Setup, TableSettings, Viewer,
};

use super::{
    position::{PositionExt, seat},
    properties::rng,
    random_games::Proposer,
    rounds::{lowest, refused},
};

/// Rules with an optional exchange, in which each seat deals in turn.
fn optional() -> Rules {
    Hausregeln.with(|options| options.exchange = Exchange::Optional)
}

/// A game and everything that has happened in it.
struct Table {
    game: Game,
    log: Vec<Event>,
}

impl Table {
    /// A table with these kinds of players, such as `"human open bot human"`. The first dealer is
    /// drawn.
    fn new(rules: impl PositionExt, kinds: &str) -> Table {
        Table::made_from(setup(rules, kinds))
    }

    fn made_from(setup: Setup) -> Table {
        let game = Game::new(setup);
        let log = vec![game.last_event().clone()];
        Table { game, log }
    }

    /// A dealt game of four people, in which each deals in turn.
    fn of_people() -> Table {
        let mut table = Table::new(optional(), "human human human human");
        table.deal();
        table
    }

    #[track_caller]
    fn act(&mut self, action: Action) -> Vec<Event> {
        self.act_by(Actor::Player, action)
    }

    #[track_caller]
    fn act_by(&mut self, actor: Actor, action: Action) -> Vec<Event> {
        let events = self.game.apply_by(&action, actor);
        let events = events.unwrap_or_else(|refusal| panic!("{action:?}: {refusal}"));
        self.log.extend(events.iter().cloned());
        events
    }

    fn join(&mut self, by: u8, name: &str) -> Vec<Event> {
        let name = name.to_owned();
        self.act(Action::Join {
            seat: seat(by),
            name,
        })
    }

    /// The seat's own person makes it another kind of seat.
    fn becomes(&mut self, by: u8, kind: SeatKind) -> Vec<Event> {
        self.act(Action::ChangeSeat {
            seat: seat(by),
            player: player(kind),
        })
    }

    /// The host hands a seat over.
    fn hand(&mut self, to: u8, kind: SeatKind) -> Vec<Event> {
        self.act(hand_over(to, kind))
    }

    /// The host has the round dealt.
    fn deal(&mut self) {
        self.act(Action::Deal { by: None });
    }

    /// The lowest seat that may act does so: it deals, offers its lowest card, or plays its first
    /// move.
    fn next_by(&mut self, actor: Actor) -> Vec<Event> {
        let action = next_action(&self.game);
        self.act_by(actor, action)
    }

    fn next(&mut self) -> Vec<Event> {
        self.next_by(Actor::Player)
    }

    /// Plays until this holds.
    fn play_until(&mut self, holds: impl Fn(&Game) -> bool) {
        while !holds(&self.game) {
            self.next();
        }
    }

    /// Plays the round to its end.
    fn play_round(&mut self) {
        let round = self.game.round();
        self.play_until(|game| game.round() > round);
    }

    /// The hand that a person sees at this seat.
    fn hand_seen_by(&self, by: u8, person: Person) -> Option<Cards> {
        let viewer = Viewer::Seat(seat(by), person);
        let seats = self.game.seats_visible_to(viewer);
        // Nobody sees another seat's hand.
        for other in &seats {
            assert!(other.own.is_none() || other.seat == seat(by));
        }
        seats[usize::from(by)].own.map(|own| own.hand)
    }

    /// The rounds whose deal shows a person a hand.
    fn rounds_seen_by(&self, by: u8, person: Person) -> Vec<u32> {
        let viewer = Viewer::Seat(seat(by), person);
        let seen = self
            .log
            .iter()
            .map(|event| event.clone().redacted_for(viewer));
        let dealt = seen.filter_map(|event| match event.what {
            EventKind::CardsDealt { round, hands, .. } => Some((round, hands)),
            _ => None,
        });
        let shown = dealt.filter(|(_, hands)| hands.iter().any(Option::is_some));
        shown.map(|(round, _)| round).collect()
    }

    /// The cards of offers and swaps that a person sees in the history.
    fn exchanged_cards_seen_by(&self, by: u8, person: Person) -> usize {
        let viewer = Viewer::Seat(seat(by), person);
        let seen = self
            .log
            .iter()
            .map(|event| event.clone().redacted_for(viewer));
        let cards = seen.map(|event| match event.what {
            EventKind::CardOffered { card, .. } => usize::from(card.is_some()),
            EventKind::CardsSwapped { given } => given.iter().flat_map(|given| given.card).count(),
            _ => 0,
        });
        cards.sum()
    }
}

fn setup(rules: impl PositionExt, kinds: &str) -> Setup {
    let kinds = kinds.split(' ').map(SeatKind::by_name);
    Setup {
        rules: rules.sheet(),
        players: kinds.map(|kind| player(kind.expect("a kind"))).collect(),
        first_dealer: None,
        seed: Seed::new([7; 32]),
        seed_given: false,
        must_confirm: Vec::new(),
    }
}

fn player(kind: SeatKind) -> Player {
    Player {
        name: kind.name().to_owned(),
        kind,
        level: Level::Fast,
    }
}

fn hand_over(to: u8, kind: SeatKind) -> Action {
    Action::HandOver {
        seat: seat(to),
        player: player(kind),
    }
}

fn next_action(game: &Game) -> Action {
    let seat = game.seats_to_act().next().expect("a game that is on");
    match game.phase() {
        Phase::Exchange => Action::Offer {
            seat,
            card: lowest(game, seat),
        },
        _ => game.legal_actions(seat).swap_remove(0),
    }
}

fn by(events: &[Event]) -> Option<By> {
    events[0].by
}

// Open seats.

#[test]
fn before_the_first_deal_an_open_seat_keeps_the_game_in_the_seating() {
    let table = Table::new(DogspielIt, "human open bot human");
    let game = &table.game;
    assert_eq!((game.phase(), game.round()), (Phase::Seating, 1));
    assert_eq!(game.stock_size(), game.rules().deck().len());
    assert_eq!((game.turn(), game.seats_to_act().next()), (None, None));
    assert!(Seat::all(4).all(|seat| game.cards(seat) == 0 && game.exchange(seat).is_none()));
    assert_eq!(game.bot_to_act(), None, "a bot does not deal yet");
    assert!(game.has_open_seat() && game.seats_changed());
}

#[test]
fn the_first_dealer_is_drawn_when_the_seating_ends() {
    let mut table = Table::new(DogspielIt, "open human human human");
    assert!(!table.game.dealer_known());
    assert_eq!(table.log, [EventKind::GameCreated { dealer: None }.into()]);
    table.join(0, "Anna");
    assert!(table.game.dealer_known());
    let same_seed = Game::new(setup(DogspielIt, "human human human human"));
    assert_eq!(table.game.dealer(), same_seed.dealer());

    // A dealer that the creator has named is known from the beginning.
    let dealer = Some(seat(2));
    let table = Table::made_from(Setup {
        first_dealer: dealer,
        ..setup(DogspielIt, "open human human human")
    });
    assert!(table.game.dealer_known());
    assert_eq!(table.log, [EventKind::GameCreated { dealer }.into()]);
    assert_eq!(table.game.dealer(), seat(2));
}

#[test]
fn nobody_deals_or_plays_while_a_seat_is_open() {
    let mut table = Table::new(DogspielIt, "open human human human");
    let game = &mut table.game;
    for by in Seat::all(4).map(Some).chain([None]) {
        refused(
            game,
            &Action::Deal { by },
            "a seat is open, or its person has not asked for the rematch",
        );
        assert_eq!(game.check_deal(by), Err(ActionRefusal::SeatsOpen));
        let by_server = game.apply_by(&Action::Deal { by }, Actor::Server);
        assert_eq!(by_server, Err(ActionRefusal::SeatsOpen));
    }
    refused(
        game,
        &Action::Ask { seat: seat(1) },
        "this is for the exchange phase, the game is in the seating phase",
    );
}

#[test]
fn the_seating_ends_when_nobody_is_missing() {
    let mut table = Table::new(DogspielIt, "open open open human");
    table.join(2, "Carla");
    table.hand(0, SeatKind::Bot);
    assert_eq!(table.game.phase(), Phase::Seating);
    table.act_by(Actor::Server, hand_over(1, SeatKind::Bot));
    assert_eq!(table.game.phase(), Phase::Deal);

    // Before the first deal it begins again when a seat is opened.
    table.becomes(2, SeatKind::Open);
    assert_eq!(table.game.phase(), Phase::Seating);
    table.join(2, "Dora");
    assert_eq!(table.game.phase(), Phase::Deal);
    table.deal();
    table.hand(2, SeatKind::Open);
    assert_eq!(table.game.phase(), Phase::Exchange, "the game goes on");
    table.play_round();
    assert_eq!(table.game.phase(), Phase::Deal, "the host can deal");
    table.deal();
}

// Joining.

#[test]
fn a_join_is_public_and_takes_an_open_seat_only() {
    let mut table = Table::new(DogspielIt, "human open human bot");
    let join = |by, name: &str| Action::Join {
        seat: seat(by),
        name: name.to_owned(),
    };
    refused(&mut table.game, &join(0, "Eva"), "seat 0 is not open");
    refused(&mut table.game, &join(3, "Eva"), "seat 3 is not open");
    let events = table.join(1, "Eva");
    let (seat, name) = (seat(1), "Eva".to_owned());
    assert_eq!(events, [EventKind::SeatTaken { seat, name }.into()]);
    for viewer in [Viewer::Seat(Seat::default(), 0), Viewer::Spectator] {
        assert_eq!(events[0].clone().redacted_for(viewer), events[0]);
    }
    let eva = table.game.player(seat);
    assert_eq!((eva.name.as_str(), eva.kind), ("Eva", SeatKind::Human));
    assert_eq!(eva.level, Level::Fast, "the level of the open seat");
    refused(&mut table.game, &join(1, "Fritz"), "seat 1 is not open");
}

#[test]
fn nobody_comes_or_goes_when_the_game_is_over() {
    let mut over = Table::of_people().game;
    let (mut rng, mut proposer) = (rng(51), Proposer::new(true));
    while over.phase() != Phase::Finished {
        let action = proposer.in_order(&mut rng, &over);
        over.apply(&action).expect("a legal action");
    }
    let seat = seat(1);
    let name = String::new();
    let player = player(SeatKind::Open);
    let settings = SETTINGS;
    for action in [
        Action::Join { seat, name },
        Action::ChangeSeat {
            seat,
            player: player.clone(),
        },
        Action::HandOver { seat, player },
        Action::RenewToken { seat },
        Action::AskRematch { seat },
        Action::ChangeSettings { settings },
    ] {
        refused(&mut over, &action, "the game is over");
    }
}

// A hand belongs to a person.

#[test]
fn who_takes_over_in_the_middle_of_a_round_plays_from_the_next_deal_on() {
    let mut table = Table::of_people();
    let hand = table.game.hand(seat(1));
    assert_eq!(table.hand_seen_by(1, 0), Some(hand));
    table.hand(1, SeatKind::Open);
    assert_eq!(table.game.person(seat(1)), 1);
    assert!(table.game.bot_plays(seat(1)), "a bot plays an open seat");
    table.join(1, "Eva");
    assert_eq!(table.hand_seen_by(1, 1), None);
    assert!(table.game.has_stand_in(seat(1)) && table.game.bot_plays(seat(1)));
    // It makes no difference that the person says so.
    table.becomes(1, SeatKind::Human);
    assert!(table.game.has_stand_in(seat(1)));
    assert_eq!(table.hand_seen_by(1, 1), None);

    // The bot does everything that the seat has to do, the next deal included.
    while table.game.phase() != Phase::Deal {
        let action = next_action(&table.game);
        let expected = (action.seat() == Some(seat(1))).then_some(By::Bot);
        assert_eq!(by(&table.act(action)), expected);
        assert_eq!(table.hand_seen_by(1, 1), None);
    }
    while table.game.dealer() != seat(1) {
        table.act(next_action(&table.game));
        table.play_round();
    }
    assert_eq!(table.rounds_seen_by(1, 1).first(), Some(&2));
    let hand = |table: &Table| table.game.hand(seat(1));
    table.next();
    assert_eq!(table.hand_seen_by(1, 1), Some(hand(&table)));
    assert!(!table.game.bot_plays(seat(1)));
    table.play_until(|game| game.turn() == Some(seat(1)));
    assert_eq!(by(&table.next()), None, "the person plays");
}

#[test]
fn a_stand_in_makes_the_next_deal() {
    let mut table = Table::of_people();
    let next_dealer = table.game.dealer().next(4).number();
    table.hand(next_dealer, SeatKind::Open);
    table.join(next_dealer, "Eva");
    table.play_round();
    assert_eq!(table.game.dealer(), seat(next_dealer));
    assert_eq!(table.game.bot_to_act(), Some(seat(next_dealer)));
    assert_eq!(table.hand_seen_by(next_dealer, 1), None);
    assert_eq!(by(&table.next()), Some(By::Bot));
    assert_eq!(table.game.phase(), Phase::Exchange);
    let hand = table.game.hand(seat(next_dealer));
    assert_eq!(table.hand_seen_by(next_dealer, 1), Some(hand));
    assert!(!table.game.has_stand_in(seat(next_dealer)));
}

#[test]
fn who_joins_between_the_rounds_needs_no_stand_in() {
    let mut table = Table::of_people();
    table.play_round();
    let dealer = table.game.dealer();
    table.hand(dealer.number(), SeatKind::Open);
    assert_eq!(table.game.bot_to_act(), Some(dealer));
    table.join(dealer.number(), "Eva");
    assert_eq!(table.game.bot_to_act(), None);
    assert_eq!(by(&table.next()), None, "the new person deals");
}

#[test]
fn who_leaves_and_comes_back_in_the_same_round_has_the_hand() {
    let mut table = Table::of_people();
    let hand = table.game.hand(seat(2));
    table.becomes(2, SeatKind::Bot);
    // The token stays valid for viewing.
    assert_eq!(table.hand_seen_by(2, 0), Some(hand));
    table.play_until(|game| game.phase() == Phase::Play);
    assert!(
        table.exchanged_cards_seen_by(2, 0) > 0,
        "its own offer and swap"
    );
    table.becomes(2, SeatKind::Human);
    assert!(!table.game.has_stand_in(seat(2)) && !table.game.bot_plays(seat(2)));
    assert_eq!(table.hand_seen_by(2, 0), Some(table.game.hand(seat(2))));
    table.play_until(|game| game.turn() == Some(seat(2)));
    assert_eq!(by(&table.next()), None);
}

#[test]
fn who_comes_back_in_a_later_round_has_not_the_hand_that_a_bot_was_dealt() {
    let mut table = Table::of_people();
    table.becomes(2, SeatKind::Bot);
    table.play_round();
    table.deal();
    assert_eq!(table.hand_seen_by(2, 0), None);
    table.becomes(2, SeatKind::Human);
    assert!(table.game.has_stand_in(seat(2)));
    assert_eq!(table.hand_seen_by(2, 0), None);
    table.play_round();
    table.deal();
    assert_eq!(table.hand_seen_by(2, 0), Some(table.game.hand(seat(2))));
    assert_eq!(table.rounds_seen_by(2, 0), [1, 3]);
}

#[test]
fn a_seat_given_up_is_open_for_another_person() {
    let mut table = Table::of_people();
    table.play_until(|game| game.phase() == Phase::Play);
    let events = table.becomes(3, SeatKind::Open);
    assert_eq!(
        events,
        [EventKind::SeatHandedOver {
            seat: seat(3),
            player: player(SeatKind::Open),
        }
        .into()]
    );
    table.join(3, "Eva");
    assert_eq!(
        (table.game.person(seat(3)), table.hand_seen_by(3, 1)),
        (1, None)
    );
    // No earlier hand, offer or swap is in the history of the new person.
    assert!(table.rounds_seen_by(3, 1).is_empty());
    assert_eq!(table.exchanged_cards_seen_by(3, 1), 0);
    assert_eq!(
        table.exchanged_cards_seen_by(3, 0),
        3,
        "an offer and a swap"
    );
    table.play_round();
    table.deal();
    table.play_until(|game| game.phase() == Phase::Play);
    assert_eq!(table.rounds_seen_by(3, 1), [2]);
    assert_eq!(table.exchanged_cards_seen_by(3, 1), 3);
    assert_eq!(
        table.rounds_seen_by(3, 0),
        [1],
        "the first person sees no new hand"
    );
    assert_eq!(table.hand_seen_by(3, 0), None);
}

#[test]
fn the_partner_of_a_seat_that_was_taken_over_sees_its_swap_and_the_new_person_does_not() {
    let mut table = Table::of_people();
    let offer = |game: &Game, by| Action::Offer {
        seat: seat(by),
        card: lowest(game, seat(by)),
    };
    table.act(offer(&table.game, 1));
    table.hand(3, SeatKind::Open);
    table.join(3, "Eva");
    // The stand-in offers a card of a hand that was dealt to the first person.
    let events = table.act(offer(&table.game, 3));
    assert_eq!(by(&events), Some(By::Bot));
    let EventKind::CardsSwapped { given } = &events[1].what else {
        panic!("a swap, not {events:?}");
    };
    let holders: Vec<_> = given.iter().map(|given| given.holder).collect();
    assert_eq!(holders, [Some(0), Some(0)]);
    let seen = |by, person| {
        let viewer = Viewer::Seat(seat(by), person);
        events[1].clone().redacted_for(viewer)
    };
    assert_eq!(seen(1, 0), events[1]);
    let hidden = |given: &OfferedCard| OfferedCard {
        card: None,
        ..*given
    };
    let given = given.iter().map(hidden).collect();
    let hidden = Event::from(EventKind::CardsSwapped { given });
    assert_eq!(seen(3, 1), hidden);
    assert_eq!((seen(0, 0), seen(2, 0)), (hidden.clone(), hidden));
}

#[test]
fn a_hand_dealt_to_a_bot_is_nobodys() {
    let mut table = Table::new(DogspielIt, "human bot human open");
    table.act_by(Actor::Server, hand_over(3, SeatKind::Bot));
    table.deal();
    let EventKind::CardsDealt { holders, .. } = &table.log[2].what else {
        panic!("a deal, not {:?}", table.log[2]);
    };
    assert_eq!(*holders, [Some(0), None, Some(0), None]);
    assert_eq!(
        (table.hand_seen_by(1, 0), table.hand_seen_by(3, 0)),
        (None, None)
    );
    // The host makes a token for a bot's seat: the person plays from the next deal on.
    table.act(Action::ReissueToken { seat: seat(1) });
    table.hand(1, SeatKind::Human);
    assert!(table.game.has_stand_in(seat(1)));
    assert_eq!(table.hand_seen_by(1, 0), None);
    table.play_round();
    table.deal();
    assert_eq!(table.rounds_seen_by(1, 0), [2]);
}

#[test]
fn a_seat_that_nobody_joined_keeps_its_hand_under_a_new_token() {
    let mut table = Table::of_people();
    table.act(Action::ReissueToken { seat: seat(1) });
    let hand = table.game.hand(seat(1));
    assert_eq!(
        (table.game.person(seat(1)), table.hand_seen_by(1, 0)),
        (0, Some(hand))
    );
    // So it does if the host hands it to a bot for a while, or names the person.
    table.hand(1, SeatKind::Bot);
    table.hand(1, SeatKind::Human);
    assert!(!table.game.has_stand_in(seat(1)));
    assert_eq!(table.hand_seen_by(1, 0), Some(hand));
    assert!(!table.game.seats_changed(), "the record has format 1");
}

#[test]
fn between_the_rounds_the_hand_is_empty() {
    let mut table = Table::of_people();
    table.play_round();
    assert_eq!(table.hand_seen_by(1, 0), Some(Cards::EMPTY));
    table.hand(1, SeatKind::Open);
    table.join(1, "Eva");
    assert_eq!(
        (table.hand_seen_by(1, 0), table.hand_seen_by(1, 1)),
        (None, Some(Cards::EMPTY))
    );
}

#[test]
fn renewing_a_token_changes_no_hand() {
    let mut table = Table::of_people();
    let hand = table.hand_seen_by(1, 0);
    let seat = seat(1);
    assert_eq!(
        table.act(Action::RenewToken { seat }),
        [EventKind::TokenRenewed { seat }.into()]
    );
    assert_eq!(table.hand_seen_by(1, 0), hand);
    assert!(hand.is_some() && table.game.seats_changed());
}

// Absence.

/// A game in play of four people of whom the clock has acted for this one so often in a row.
fn in_play_with_clock(by: u8, acts: usize) -> Table {
    let mut table = Table::of_people();
    table.play_until(|game| game.turn() == Some(seat(by)));
    for act in 1..=acts {
        let events = table.next_by(Actor::Clock);
        assert_eq!(self::by(&events), Some(By::Clock));
        let away = events.contains(&EventKind::SeatAway { seat: seat(by) }.into());
        assert_eq!(away, act == 2);
        if table.game.turn().is_some() {
            table.play_until(|game| game.turn() == Some(seat(by)) || game.turn().is_none());
        }
    }
    table
}

#[test]
fn the_second_act_of_the_clock_in_a_row_makes_a_seat_away() {
    let mut table = in_play_with_clock(1, 1);
    assert!(!table.game.is_away(seat(1)) && !table.game.seats_changed());
    // An action of its own breaks the row.
    assert_eq!(by(&table.next()), None);
    table.play_until(|game| game.turn() == Some(seat(1)));
    table.next_by(Actor::Clock);
    assert!(!table.game.is_away(seat(1)));

    let table = in_play_with_clock(1, 2);
    assert!(table.game.is_away(seat(1)) && table.game.seats_changed());
    assert!(table.game.server_plays(seat(1)) && !table.game.bot_plays(seat(1)));
    assert_eq!(
        table.game.bot_to_act(),
        Some(seat(1)),
        "the server does not wait"
    );
    assert_eq!(
        table.hand_seen_by(1, 0),
        Some(table.game.hand(seat(1))),
        "it is still its hand"
    );
}

#[test]
fn a_seat_that_is_away_is_back_when_it_acts_or_says_so() {
    let back = Event::from(EventKind::SeatBack { seat: seat(1) });
    let mut table = in_play_with_clock(1, 2);
    let mut other = in_play_with_clock(1, 2);
    let events = table.next();
    assert_eq!((by(&events), events.last()), (None, Some(&back)));
    assert!(!table.game.is_away(seat(1)));
    let events = other.becomes(1, SeatKind::Human);
    assert_eq!(events[1..], [back]);
    assert!(!other.game.is_away(seat(1)));

    // The clock goes on acting for a seat that is not back, and says nothing new.
    let mut table = in_play_with_clock(1, 2);
    let events = table.next_by(Actor::Clock);
    assert_eq!(by(&events), Some(By::Clock));
    assert!(
        !events
            .iter()
            .any(|event| matches!(event.what, EventKind::SeatAway { .. }))
    );
    // What the host does for the seat is not its own action.
    table.act(Action::ReissueToken { seat: seat(1) });
    table.act(hand_over(1, SeatKind::Human));
    assert!(table.game.is_away(seat(1)));
}

#[test]
fn only_a_person_is_away() {
    for kind in [SeatKind::Bot, SeatKind::Open] {
        for own in [false, true] {
            let mut table = in_play_with_clock(1, 2);
            let events = match own {
                true => table.becomes(1, kind),
                false => table.hand(1, kind),
            };
            assert_eq!(events.len(), 1, "nobody is back: {events:?}");
            assert!(!table.game.is_away(seat(1)));
            if kind == SeatKind::Open {
                table.join(1, "Eva");
            } else {
                table.becomes(1, SeatKind::Human);
            }
            assert!(!table.game.is_away(seat(1)), "the count begins again");
        }
    }
    // When the time is up, the lowest seat acts, which may be a bot.
    let mut table = Table::new(DogspielIt, "human bot human human");
    table.deal();
    for _ in 0..3 {
        table.play_until(|game| game.turn() == Some(seat(1)));
        assert_eq!(by(&table.next_by(Actor::Clock)), Some(By::Bot));
    }
    assert_eq!(table.hand(1, SeatKind::Human).len(), 1);
    assert!(!table.game.is_away(seat(1)));
}

// Who did what.

#[test]
fn events_say_who_acted_if_not_the_seats_own_person() {
    let mut table = Table::new(optional(), "human human human bot");
    assert_eq!(by(&table.act(hand_over(3, SeatKind::Bot))), None);
    let filled = table.act_by(Actor::Server, hand_over(1, SeatKind::Bot));
    assert_eq!(by(&filled), Some(By::Server));
    assert_eq!(by(&table.becomes(0, SeatKind::Human)), None);

    let mut by_server = table.game.clone();
    let dealt = by_server.apply_by(&Action::Deal { by: None }, Actor::Server);
    assert_eq!(by(&dealt.expect("a deal")), Some(By::Server));
    assert_eq!(by(&table.act(Action::Deal { by: None })), None);

    assert_eq!(by(&table.act(Action::Ask { seat: seat(0) })), None);
    assert_eq!(by(&table.act(Action::Ask { seat: seat(1) })), Some(By::Bot));
    let declines = Action::Decline { seat: seat(0) };
    assert_eq!(by(&table.act_by(Actor::Clock, declines)), Some(By::Clock));
    assert_eq!(by(&table.act(next_action(&table.game))), Some(By::Bot));
    let actors = [
        (None, Actor::Player),
        (Some(By::Bot), Actor::Player),
        (Some(By::Clock), Actor::Clock),
        (Some(By::Server), Actor::Server),
    ];
    for (by, actor) in actors {
        let seat = seat(0);
        let what = EventKind::HelpAsked { seat };
        assert_eq!(Event { what, by }.actor(), actor);
    }
}

// Settings.

const SETTINGS: TableSettings = TableSettings {
    turn_seconds: Some(30),
    bot_pace_ms: 250,
    listed: true,
    reactions: true,
};

#[test]
fn changed_settings_are_public_and_change_nothing_else() {
    let mut table = Table::of_people();
    let settings = SETTINGS;
    let events = table.act(Action::ChangeSettings { settings });
    assert_eq!(events, [EventKind::SettingsChanged { settings }.into()]);
    assert_eq!(events[0].clone().redacted_for(Viewer::Spectator), events[0]);
    assert_eq!(table.game.phase(), Phase::Exchange);
    assert!(table.game.seats_changed());
}

// Rematches.

/// A rematch that awaits the people of seats 0, 2 and 3.
fn rematch() -> Table {
    Table::made_from(Setup {
        first_dealer: Some(seat(1)),
        must_confirm: [0, 2, 3].map(seat).to_vec(),
        ..setup(DogspielIt, "human bot human human")
    })
}

fn ask(by: u8) -> Action {
    Action::AskRematch { seat: seat(by) }
}

#[test]
fn a_rematch_begins_when_all_people_have_asked() {
    let mut table = rematch();
    let must_confirm =
        |table: &Table| [0, 1, 2, 3].map(|by| table.game.awaits_confirmation(seat(by)));
    assert_eq!(
        (table.game.phase(), table.game.dealer()),
        (Phase::Seating, seat(1))
    );
    assert!(table.game.needs_confirmations() && table.game.dealer_known());
    assert_eq!(must_confirm(&table), [true, false, true, true]);
    let version = table.game.version();
    assert_eq!(
        table.act(ask(2)),
        [EventKind::RematchAsked { seat: seat(2) }.into()]
    );
    assert_eq!(table.game.version(), version + 1);
    assert_eq!(must_confirm(&table), [true, false, false, true]);
    table.act(ask(2));
    table.act(ask(0));
    let deal = Action::Deal { by: Some(seat(1)) };
    let missing = "a seat is open, or its person has not asked for the rematch";
    refused(&mut table.game, &deal, missing);
    table.act(ask(3));
    assert_eq!(table.game.phase(), Phase::Deal);
    table.act(deal);
    refused(
        &mut table.game,
        &ask(3),
        "this is for the seating phase, the game is in the exchange phase",
    );
}

#[test]
fn a_rematch_does_not_wait_for_seats_that_are_handed_over() {
    let mut table = rematch();
    table.act(ask(0));
    table.act_by(Actor::Server, hand_over(2, SeatKind::Bot));
    assert_eq!(table.game.phase(), Phase::Seating);
    table.becomes(3, SeatKind::Bot);
    assert_eq!(table.game.phase(), Phase::Deal);

    let mut table = rematch();
    table.act(ask(0));
    table.act(ask(2));
    table.hand(3, SeatKind::Open);
    assert_eq!(table.game.phase(), Phase::Seating, "the seat is open");
    table.join(3, "Eva");
    assert_eq!(table.game.phase(), Phase::Deal, "who joins need not ask");
}

#[test]
fn the_host_deals_a_rematch_without_those_who_have_not_asked() {
    let mut table = rematch();
    table.act(ask(0));
    table.hand(2, SeatKind::Open);
    let deal = Action::Deal { by: None };
    let missing = "a seat is open, or its person has not asked for the rematch";
    refused(&mut table.game, &deal, missing);
    table.hand(2, SeatKind::Bot);
    table.act(deal);
    assert_eq!(table.game.phase(), Phase::Exchange);
    assert_eq!(table.hand_seen_by(3, 0), Some(table.game.hand(seat(3))));
}

// Records.

#[test]
fn format_2_is_for_games_in_which_people_came_went_or_were_away() {
    let changed = |change: &dyn Fn(&mut Table)| {
        let mut table = Table::of_people();
        change(&mut table);
        table.game.seats_changed()
    };
    let seat = seat(1);
    let settings = SETTINGS;
    assert!(!changed(&|table| {
        table.act(Action::ReissueToken { seat });
        table.hand(1, SeatKind::Bot);
        table.hand(1, SeatKind::Human);
        table.next_by(Actor::Clock);
        table.next();
    }));
    assert!(changed(&|table| drop(table.hand(1, SeatKind::Open))));
    assert!(changed(&|table| drop(table.becomes(1, SeatKind::Bot))));
    assert!(changed(&|table| drop(
        table.act(Action::RenewToken { seat })
    )));
    assert!(changed(&|table| drop(
        table.act(Action::ChangeSettings { settings })
    )));
    assert!(changed(&|table| {
        table.act_by(Actor::Server, hand_over(1, SeatKind::Bot));
    }));
    assert!(
        Table::new(DogspielIt, "open bot bot bot")
            .game
            .seats_changed()
    );
    assert!(rematch().game.seats_changed());
}
