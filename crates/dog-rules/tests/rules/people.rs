//! People who sit down, leave, come back and are away: who plays a seat, who sees a hand, and who did
//! what.

use dog_rules::{
    Action, ActionRefusal, Actor, By, Event, EventKind, Game, Level, Person, Phase, Player,
    Preset::*, Seat, SeatKind, Seed, Setup, TableSettings, Viewer,
};

use super::{
    forfeit::forfeit,
    position::{PositionExt, seat},
    rounds::{exchange_action, optional, refused},
};

pub const SETTINGS: TableSettings = TableSettings {
    turn_seconds: Some(30),
    bot_pace_ms: 250,
    listed: true,
    reactions: true,
};

/// A game and everything that has happened in it.
pub struct Table {
    pub game: Game,
    pub log: Vec<Event>,
}

impl Table {
    /// A table with these kinds of players, such as `"human open bot human"`. The first dealer is
    /// drawn.
    pub fn new(rules: impl PositionExt, kinds: &str) -> Table {
        Table::made_from(setup(rules, kinds))
    }

    fn made_from(setup: Setup) -> Table {
        let game = Game::new(setup);
        let log = vec![game.last_event().clone()];
        Table { game, log }
    }

    /// A dealt game of four people, in which each deals in turn.
    pub fn with_people() -> Table {
        let mut table = Table::new(optional(), "human human human human");
        table.deal();
        table
    }

    #[track_caller]
    pub fn act(&mut self, action: Action) -> Vec<Event> {
        self.act_by(Actor::Player, action)
    }

    #[track_caller]
    pub fn act_by(&mut self, actor: Actor, action: Action) -> Vec<Event> {
        let events = self.game.apply_by(&action, actor);
        let events = events.unwrap_or_else(|refusal| panic!("{action:?}: {refusal}"));
        self.log.extend(events.iter().cloned());
        events
    }

    pub fn join(&mut self, by: u8, name: &str) -> Vec<Event> {
        let (seat, name) = (seat(by), name.to_owned());
        self.act(Action::Join { seat, name })
    }

    /// The seat's own person makes it another kind of seat.
    pub fn becomes(&mut self, by: u8, kind: SeatKind) -> Vec<Event> {
        let (seat, player) = (seat(by), player(kind));
        self.act(Action::ChangeSeat { seat, player })
    }

    /// The host hands a seat over.
    pub fn hand(&mut self, to: u8, kind: SeatKind) -> Vec<Event> {
        self.act(hand_over(to, kind))
    }

    /// The host has the round dealt.
    pub fn deal(&mut self) {
        self.act(Action::Deal { by: None });
    }

    /// The lowest seat that may act does so: it deals, offers its lowest card, or plays its first
    /// move.
    pub fn next_by(&mut self, actor: Actor) -> Vec<Event> {
        let action = next_action(&self.game);
        self.act_by(actor, action)
    }

    pub fn next(&mut self) -> Vec<Event> {
        self.next_by(Actor::Player)
    }

    /// Plays until this holds.
    pub fn play_until(&mut self, holds: impl Fn(&Game) -> bool) {
        while !holds(&self.game) {
            self.next();
        }
    }

    /// Plays the round to its end.
    pub fn play_round(&mut self) {
        let round = self.game.round();
        self.play_until(|game| game.round() > round);
    }

    /// Goes on until this seat is to move.
    pub fn play_until_turn_of(&mut self, by: u8) {
        self.play_until(|game| game.turn() == Some(seat(by)));
    }

    /// Plays the round to its end, and has the next one dealt.
    fn next_round(&mut self) {
        self.play_round();
        self.deal();
    }

    /// Whether a person sees the hand of this seat. Nobody sees another one.
    fn sees_hand(&self, by: u8, person: Person) -> bool {
        let seats = self.game.seats_visible_to(Viewer::Seat(seat(by), person));
        for seen in &seats {
            assert!(seen.own.is_none() || seen.seat == seat(by));
        }
        let own = seats[usize::from(by)].own;
        assert!(own.is_none_or(|own| own.hand == self.game.hand(seat(by))));
        own.is_some()
    }

    /// What has happened, as a person sees it.
    fn history_seen_by(&self, by: u8, person: Person) -> impl Iterator<Item = EventKind> {
        let viewer = Viewer::Seat(seat(by), person);
        let events = self.log.iter();
        events.filter_map(move |event| Some(event.clone().redacted_for(viewer)?.what))
    }

    /// The rounds whose deal shows a person a hand.
    fn rounds_seen_by(&self, by: u8, person: Person) -> Vec<u32> {
        let dealt = self
            .history_seen_by(by, person)
            .filter_map(|what| match what {
                EventKind::CardsDealt { round, hands, .. } => Some((round, hands)),
                _ => None,
            });
        let shown = dealt.filter(|(_, hands)| hands.iter().any(Option::is_some));
        shown.map(|(round, _)| round).collect()
    }

    /// The cards of offers and swaps that a person sees in the history.
    fn exchanged_cards_seen_by(&self, by: u8, person: Person) -> usize {
        let cards = self.history_seen_by(by, person).map(|what| match what {
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
    let (seat, player) = (seat(to), player(kind));
    Action::HandOver { seat, player }
}

fn next_action(game: &Game) -> Action {
    let seat = game.seats_to_act().next().expect("a game that is on");
    game.legal_actions(seat).swap_remove(0)
}

fn by(events: &[Event]) -> Option<By> {
    events[0].by
}

const SEATS_OPEN: &str = "a seat is open, or its person has not asked for the rematch";

#[test]
fn before_the_first_deal_an_open_seat_keeps_the_game_in_the_seating() {
    let mut table = Table::new(DogspielIt, "human open bot human");
    let game = &mut table.game;
    assert_eq!((game.phase(), game.round()), (Phase::Seating, 1));
    assert_eq!(game.stock_size(), game.rules().deck().len());
    assert_eq!((game.turn(), game.seats_to_act().next()), (None, None));
    assert!(Seat::all(4).all(|seat| game.cards(seat) == 0 && game.exchange(seat).is_none()));
    assert_eq!(game.bot_to_act(), None, "a bot does not deal yet");
    assert!(game.has_open_seat() && game.seats_changed());
    for by in Seat::all(4).map(Some).chain([None]) {
        refused(game, &Action::Deal { by }, SEATS_OPEN);
        assert_eq!(game.check_deal(by), Err(ActionRefusal::SeatsOpen));
        let by_server = game.apply_by(&Action::Deal { by }, Actor::Server);
        assert_eq!(by_server, Err(ActionRefusal::SeatsOpen));
    }
    let ask = Action::Ask { seat: seat(1) };
    let phase = "this is for the exchange phase, the game is in the seating phase";
    refused(game, &ask, phase);
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
fn a_join_takes_an_open_seat_only() {
    let mut table = Table::new(DogspielIt, "human open human bot");
    let is_refused = |table: &mut Table, by| {
        let (seat, name) = (seat(by), "Eva".to_owned());
        let why = format!("{seat} is not open");
        refused(&mut table.game, &Action::Join { seat, name }, &why);
    };
    is_refused(&mut table, 0);
    is_refused(&mut table, 3);
    let events = table.join(1, "Eva");
    let (seat, name) = (seat(1), "Eva".to_owned());
    assert_eq!(events, [EventKind::SeatTaken { seat, name }.into()]);
    let eva = table.game.player(seat);
    assert_eq!((eva.name.as_str(), eva.kind), ("Eva", SeatKind::Human));
    assert_eq!(eva.level, Level::Fast, "the level of the open seat");
    is_refused(&mut table, 1);
}

// A hand belongs to a person.

#[test]
fn a_person_who_takes_over_in_the_middle_of_a_round_plays_from_the_next_deal_on() {
    let mut table = Table::with_people();
    assert!(table.sees_hand(1, 0));
    table.hand(1, SeatKind::Open);
    assert_eq!(table.game.person(seat(1)), 1);
    assert!(table.game.bot_plays(seat(1)), "a bot plays an open seat");
    table.join(1, "Eva");
    // It makes no difference that the person says so.
    table.becomes(1, SeatKind::Human);
    assert!(table.game.has_stand_in(seat(1)) && table.game.bot_plays(seat(1)));

    // The bot does everything that the seat has to do, the next deal included.
    while table.game.phase() != Phase::Deal {
        assert!(!table.sees_hand(1, 1));
        let action = next_action(&table.game);
        let expected = (action.seat() == Some(seat(1))).then_some(By::Bot);
        assert_eq!(by(&table.act(action)), expected);
    }
    while table.game.dealer() != seat(1) {
        table.next();
        table.play_round();
    }
    assert_eq!(table.rounds_seen_by(1, 1).first(), Some(&2));
    table.next();
    assert!(table.sees_hand(1, 1) && !table.game.bot_plays(seat(1)));
    table.play_until_turn_of(1);
    assert_eq!(by(&table.next()), None, "the person plays");
}

#[test]
fn a_stand_in_makes_the_next_deal() {
    let mut table = Table::with_people();
    let dealer = table.game.dealer().next(4);
    let number = dealer.number();
    table.hand(number, SeatKind::Open);
    table.join(number, "Eva");
    table.play_round();
    assert_eq!(table.game.dealer(), dealer);
    assert_eq!(table.game.bot_to_act(), Some(dealer));
    assert!(!table.sees_hand(number, 1));
    assert_eq!(by(&table.next()), Some(By::Bot));
    assert_eq!(table.game.phase(), Phase::Exchange);
    assert!(table.sees_hand(number, 1) && !table.game.has_stand_in(dealer));
}

#[test]
fn a_person_who_joins_between_the_rounds_needs_no_stand_in() {
    let mut table = Table::with_people();
    table.play_round();
    let dealer = table.game.dealer();
    table.hand(dealer.number(), SeatKind::Open);
    assert_eq!(table.game.bot_to_act(), Some(dealer));
    table.join(dealer.number(), "Eva");
    assert_eq!(table.game.bot_to_act(), None);
    assert_eq!(by(&table.next()), None, "the new person deals");
}

#[test]
fn a_person_who_leaves_and_comes_back_has_the_hand_dealt_to_that_person() {
    let mut table = Table::with_people();
    table.becomes(2, SeatKind::Bot);
    // The token stays valid for viewing.
    assert!(table.sees_hand(2, 0));
    table.play_until(|game| game.phase() == Phase::Play);
    // Its own offer and the swap.
    assert_eq!(table.exchanged_cards_seen_by(2, 0), 3);
    table.becomes(2, SeatKind::Human);
    assert!(!table.game.has_stand_in(seat(2)) && table.sees_hand(2, 0));
    table.play_until_turn_of(2);
    assert_eq!(by(&table.next()), None);
    // The next hand is dealt to a bot.
    table.becomes(2, SeatKind::Bot);
    table.next_round();
    assert!(!table.sees_hand(2, 0));
    table.becomes(2, SeatKind::Human);
    assert!(table.game.has_stand_in(seat(2)) && !table.sees_hand(2, 0));
    table.next_round();
    assert!(table.sees_hand(2, 0));
    assert_eq!(table.rounds_seen_by(2, 0), [1, 3]);
}

#[test]
fn a_seat_given_up_is_open_for_another_person() {
    let mut table = Table::with_people();
    table.play_until(|game| game.phase() == Phase::Play);
    let events = table.becomes(3, SeatKind::Open);
    let (seat, player) = (seat(3), player(SeatKind::Open));
    assert_eq!(events, [EventKind::SeatHandedOver { seat, player }.into()]);
    table.join(3, "Eva");
    assert_eq!(table.game.person(seat), 1);
    assert!(!table.sees_hand(3, 1));
    // No earlier hand, offer or swap is in the history of the new person.
    assert!(table.rounds_seen_by(3, 1).is_empty());
    assert_eq!(table.exchanged_cards_seen_by(3, 1), 0);
    // The first person sees an offer and a swap.
    assert_eq!(table.exchanged_cards_seen_by(3, 0), 3);
    table.next_round();
    table.play_until(|game| game.phase() == Phase::Play);
    assert_eq!(table.rounds_seen_by(3, 1), [2]);
    assert_eq!(table.exchanged_cards_seen_by(3, 1), 3);
    // The first person sees no new hand.
    assert_eq!(table.rounds_seen_by(3, 0), [1]);
    assert!(!table.sees_hand(3, 0));
}

#[test]
fn the_partner_of_a_seat_that_was_taken_over_sees_its_swap_and_the_new_person_does_not() {
    let mut table = Table::with_people();
    table.act(exchange_action(&table.game, "1 offers"));
    table.hand(3, SeatKind::Open);
    table.join(3, "Eva");
    // The stand-in offers a card of a hand that was dealt to the first person.
    let events = table.act(exchange_action(&table.game, "3 offers"));
    assert_eq!(by(&events), Some(By::Bot));
    let EventKind::CardsSwapped { given } = &events[1].what else {
        panic!("a swap, not {events:?}");
    };
    assert!(given.iter().all(|given| given.holder == Some(0)));
    let mut hidden = given.clone();
    hidden.iter_mut().for_each(|given| given.card = None);
    let hidden = Event::from(EventKind::CardsSwapped { given: hidden });
    for (by, person, sees) in [(1, 0, true), (3, 1, false), (0, 0, false), (2, 0, false)] {
        let viewer = Viewer::Seat(seat(by), person);
        let seen = events[1].clone().redacted_for(viewer).unwrap();
        assert_eq!(&seen, if sees { &events[1] } else { &hidden });
    }
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
    assert!(!table.sees_hand(1, 0) && !table.sees_hand(3, 0));
    // The host makes a token for a bot's seat: the person plays from the next deal on.
    table.act(Action::ReissueToken { seat: seat(1) });
    table.hand(1, SeatKind::Human);
    assert!(table.game.has_stand_in(seat(1)) && !table.sees_hand(1, 0));
    table.next_round();
    assert_eq!(table.rounds_seen_by(1, 0), [2]);
}

#[test]
fn a_seat_that_nobody_joined_keeps_its_hand_under_a_new_token() {
    let mut table = Table::with_people();
    table.act(Action::ReissueToken { seat: seat(1) });
    assert!(table.game.person(seat(1)) == 0 && table.sees_hand(1, 0));
    // So it does if the host hands it to a bot for a while, or names the person.
    table.hand(1, SeatKind::Bot);
    table.hand(1, SeatKind::Human);
    assert!(!table.game.has_stand_in(seat(1)) && table.sees_hand(1, 0));
    // Or if the person renews the token.
    let seat = seat(1);
    let events = table.act(Action::RenewToken { seat });
    assert_eq!(events, [EventKind::TokenRenewed { seat }.into()]);
    assert!(table.sees_hand(1, 0));
}

#[test]
fn between_the_rounds_a_new_person_sees_the_empty_hand() {
    let mut table = Table::with_people();
    table.play_round();
    assert!(table.sees_hand(1, 0));
    table.hand(1, SeatKind::Open);
    table.join(1, "Eva");
    assert!(!table.sees_hand(1, 0) && table.sees_hand(1, 1));
}

// Absence.

/// A game of four people, in play, in which the clock has acted this often in a row for seat 1.
fn in_play_with_clock(acts: usize) -> Table {
    let mut table = Table::with_people();
    table.play_until_turn_of(1);
    for act in 1..=acts {
        let events = table.next_by(Actor::Clock);
        assert_eq!(by(&events), Some(By::Clock));
        let away = events.contains(&EventKind::SeatAway { seat: seat(1) }.into());
        assert_eq!(away, act == 2);
        if table.game.turn().is_some() {
            table.play_until(|game| game.turn() == Some(seat(1)) || game.turn().is_none());
        }
    }
    table
}

#[test]
fn the_second_act_of_the_clock_in_a_row_makes_a_seat_away() {
    let seat = seat(1);
    let mut table = in_play_with_clock(1);
    assert!(!table.game.is_away(seat) && !table.game.seats_changed());
    // An action of its own starts the count again.
    assert_eq!(by(&table.next()), None);
    table.play_until_turn_of(1);
    table.next_by(Actor::Clock);
    assert!(!table.game.is_away(seat));

    let table = in_play_with_clock(2);
    assert!(table.game.is_away(seat) && table.game.seats_changed());
    assert!(table.game.server_plays(seat) && !table.game.bot_plays(seat));
    // The server does not wait, but it is still the person's hand.
    assert_eq!(table.game.bot_to_act(), Some(seat));
    assert!(table.sees_hand(1, 0));
}

#[test]
fn a_seat_that_is_away_is_back_when_it_acts_or_says_so() {
    let back = Event::from(EventKind::SeatBack { seat: seat(1) });
    let mut table = in_play_with_clock(2);
    let events = table.next();
    assert_eq!((by(&events), events.last()), (None, Some(&back)));
    assert!(!table.game.is_away(seat(1)));
    let mut table = in_play_with_clock(2);
    let events = table.becomes(1, SeatKind::Human);
    assert_eq!(events[1..], [back]);
    assert!(!table.game.is_away(seat(1)));

    // The clock goes on acting for a seat that is not back, and says nothing new.
    let mut table = in_play_with_clock(2);
    let events = table.next_by(Actor::Clock);
    assert_eq!(by(&events), Some(By::Clock));
    let says_away = |event: &Event| matches!(event.what, EventKind::SeatAway { .. });
    assert!(!events.iter().any(says_away));
    // What the host does for the seat is not its own action.
    table.act(Action::ReissueToken { seat: seat(1) });
    table.hand(1, SeatKind::Human);
    assert!(table.game.is_away(seat(1)));
}

#[test]
fn only_a_person_is_away() {
    for kind in [SeatKind::Bot, SeatKind::Open] {
        for own in [false, true] {
            let mut table = in_play_with_clock(2);
            let events = match own {
                true => table.becomes(1, kind),
                false => table.hand(1, kind),
            };
            assert_eq!(events.len(), 1, "nobody is back: {events:?}");
            assert!(!table.game.is_away(seat(1)));
            match kind {
                SeatKind::Open => table.join(1, "Eva"),
                _ => table.becomes(1, SeatKind::Human),
            };
            assert!(!table.game.is_away(seat(1)), "the count begins again");
        }
    }
    // When the time is up, the lowest seat acts, which may be a bot.
    let mut table = Table::new(DogspielIt, "human bot human human");
    table.deal();
    for _ in 0..3 {
        table.play_until_turn_of(1);
        assert_eq!(by(&table.next_by(Actor::Clock)), Some(By::Bot));
    }
    assert_eq!(table.hand(1, SeatKind::Human).len(), 1);
    assert!(!table.game.is_away(seat(1)));
}

#[test]
fn changed_settings_are_public_and_change_nothing_else() {
    let mut table = Table::with_people();
    let settings = SETTINGS;
    let events = table.act(Action::ChangeSettings { settings });
    assert_eq!(events, [EventKind::SettingsChanged { settings }.into()]);
    assert_eq!(table.game.phase(), Phase::Exchange);
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

#[test]
fn a_rematch_begins_when_all_people_have_asked() {
    let mut table = rematch();
    let awaited = |game: &Game| [0, 1, 2, 3].map(|by| game.awaits_confirmation(seat(by)));
    assert_eq!(table.game.phase(), Phase::Seating);
    assert!(table.game.needs_confirmations() && table.game.dealer_known());
    assert_eq!(awaited(&table.game), [true, false, true, true]);
    let [first, second, last] = [2, 0, 3].map(|by| Action::AskRematch { seat: seat(by) });
    let events = table.act(first.clone());
    assert_eq!(events, [EventKind::RematchAsked { seat: seat(2) }.into()]);
    assert_eq!(awaited(&table.game), [true, false, false, true]);
    table.act(first);
    table.act(second);
    let deal = Action::Deal { by: Some(seat(1)) };
    refused(&mut table.game, &deal, SEATS_OPEN);
    table.act(last.clone());
    assert_eq!(table.game.phase(), Phase::Deal);
    table.act(deal);
    let phase = "this is for the seating phase, the game is in the exchange phase";
    refused(&mut table.game, &last, phase);
}

#[test]
fn the_host_deals_a_rematch_without_those_who_have_not_asked() {
    let mut table = rematch();
    table.act(Action::AskRematch { seat: seat(0) });
    table.hand(2, SeatKind::Open);
    refused(&mut table.game, &Action::Deal { by: None }, SEATS_OPEN);
    table.hand(2, SeatKind::Bot);
    table.deal();
    assert_eq!(table.game.phase(), Phase::Exchange);
    assert!(table.sees_hand(3, 0));
}

#[test]
fn a_bot_has_a_kept_seat_unless_its_person_comes() {
    let kinds = |table: &Table| [0, 1, 2, 3].map(|by| table.game.kind(seat(by)));
    let kept = || {
        Table::made_from(Setup {
            first_dealer: Some(seat(0)),
            must_confirm: [0, 1, 3].map(seat).to_vec(),
            ..setup(DogspielIt, "human bot bot bot")
        })
    };
    let mut table = kept();
    use SeatKind::{Bot, Human};
    assert_eq!(kinds(&table), [Human, Human, Bot, Human]);
    assert!(table.game.awaits_first_person());
    assert_eq!(table.game.check_deal(None), Err(ActionRefusal::SeatsOpen));
    // Another name is no answer; the person who takes the seat back, or asks, is there.
    table.becomes(0, Human);
    assert!(table.game.awaits_confirmation(seat(0)));
    table.becomes(1, Human);
    assert!(!table.game.awaits_first_person() && !table.game.is_kept(seat(1)));
    table.act(Action::AskRematch { seat: seat(3) });
    assert!(table.game.player(seat(3)).is_human());
    table.act(Action::AskRematch { seat: seat(0) });
    assert_eq!(table.game.phase(), Phase::Deal);

    let mut table = kept();
    table.act(Action::AskRematch { seat: seat(1) });
    let events = table.act(Action::Deal { by: None });
    let player = table.game.player(seat(3)).clone();
    let seat = seat(3);
    assert_eq!(
        events[1..],
        [EventKind::SeatHandedOver { seat, player }.into()]
    );
    assert_eq!(kinds(&table), [Human, Human, Bot, Bot]);
    // The hand was dealt to the bot.
    table.becomes(3, Human);
    assert!(table.game.has_stand_in(seat) && !table.sees_hand(3, 0));
}

#[test]
fn format_2_is_for_games_in_which_people_came_went_or_were_away() {
    let seat = seat(1);
    let mut table = Table::with_people();
    table.act(Action::ReissueToken { seat });
    table.hand(1, SeatKind::Bot);
    table.hand(1, SeatKind::Human);
    table.next_by(Actor::Clock);
    table.next();
    assert!(!table.game.seats_changed());

    let settings = SETTINGS;
    let player = player(SeatKind::Bot);
    for (actor, action) in [
        (Actor::Player, hand_over(1, SeatKind::Open)),
        (Actor::Server, hand_over(1, SeatKind::Bot)),
        (Actor::Player, Action::ChangeSeat { seat, player }),
        (Actor::Player, Action::RenewToken { seat }),
        (Actor::Player, Action::ChangeSettings { settings }),
        (Actor::Player, forfeit(1, true)),
    ] {
        let mut table = Table::with_people();
        table.act_by(actor, action);
        assert!(table.game.seats_changed());
    }
    let open = Table::new(DogspielIt, "open bot bot bot");
    assert!(open.game.seats_changed() && rematch().game.seats_changed());
}
