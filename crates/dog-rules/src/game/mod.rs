//! A game from set-up to victory (RULES §7). [`Game::apply`] is the only way to change it.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use crate::{
    Action, Actor, Board, By, BySeat, Card, Cards, Event, EventKind, ExchangeAnswer, Move, Person,
    Player, Refusal, Reshuffle, Rules, Seat, SeatKind, Seed,
    card::codes,
    event::{first_person, is_first_person},
    judge,
    round_history::{self, PastMove, RoundHistory},
    seating::Occupant,
};

mod queries;

crate::named! {
    /// Where a game stands: before its first deal while somebody is missing (`seating`), in a round, or over.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
    pub enum Phase {
        /// Before the first deal: a seat is open, or people have not asked for the rematch.
        Seating = "seating",
        /// The next round is to be dealt.
        Deal = "deal",
        /// Partners offer each other cards.
        Exchange = "exchange",
        /// Seats play cards in turn.
        Play = "play",
        /// A team has won.
        Finished = "finished",
    }
}

/// One seat's cards and what it did with them in this round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeatState {
    pub(super) hand: Cards,
    /// The person that the hand was dealt to; none for a bot.
    #[serde(default = "first_person", skip_serializing_if = "is_first_person")]
    pub(super) dealt_to: Option<Person>,
    pub(super) folded: bool,
    pub(super) asked: bool,
    pub(super) answer: Option<ExchangeAnswer>,
    /// The card it received from its partner, if the pair swapped.
    pub(super) received: Option<Card>,
    /// Whether it has played no card equal to the one it received, so its partner knows that it
    /// still holds one.
    pub(super) holds_received: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A whole game, with its secrets. What a viewer may see of it is a view (see [`super::view`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")] // `deserialize` checks what it reads
pub struct Game {
    rules: Rules,
    pub(super) players: Vec<Player>,
    seed: Seed,
    #[serde(rename = "seed_given")]
    seed_origin: SeedOrigin,
    version: u64,
    pub(super) phase: Phase,
    pub(super) round: u32,
    first_dealer: Seat,
    turn: Option<Seat>,
    board: Board,
    /// The number of shuffles so far, which is the number of the next one.
    shuffles: u64,
    /// The cards to deal; the next one is the last of the list.
    #[serde(with = "codes")]
    stock: Vec<Card>,
    discards: Cards,
    seats: Vec<SeatState>,
    winner: Option<u8>,
    last_event: Event,
    /// The moves of this round, once there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    round_history: Option<RoundHistory>,
    /// The players at set-up, once a seat has been handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_players: Option<Vec<Player>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) occupants: BySeat<Occupant>,
    /// Whether the first dealer is drawn when the seating ends, and not known before.
    #[serde(default, skip_serializing_if = "is_default")]
    draws_dealer: bool,
    /// The seats whose people must ask for the rematch; a bot has the seat of one who had left.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) must_confirm: Vec<Seat>,
    /// Those of them that have asked, or that are left to bots.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) confirmed: Vec<Seat>,
    /// Whether people came, went or were away, or settings were changed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) seats_changed: bool,
}

/// Where the seed comes from. Version 0.2.0 cannot read a game of a duplicate: it would publish the
/// seed at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum SeedOrigin {
    /// Whether the creator chose it.
    Given(bool),
    Shared(SharedSeed),
}

/// A seed that another table has too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SharedSeed {
    Duplicate,
}

/// What a game is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    pub rules: Rules,
    /// One per seat.
    pub players: Vec<Player>,
    /// Who deals the first round. If none, it is drawn from the seed.
    pub first_dealer: Option<Seat>,
    pub seed: Seed,
    /// Whether the creator chose the seed, and so knows every card.
    pub seed_given: bool,
    /// In a rematch, the seats whose people must ask for it before it begins. One that is a bot's is
    /// kept for a person who had left the game before.
    pub must_confirm: Vec<Seat>,
}

/// Why an action is refused. A refused action changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ActionRefusal {
    #[error("the game is over")]
    GameOver,
    #[error(
        "this is for the {needed} phase, the game is in the {phase} phase",
        needed = .needed.name(), phase = .phase.name()
    )]
    WrongPhase { phase: Phase, needed: Phase },
    #[error("a team may give up from the first deal to the end, the game is in the {} phase", .0.name())]
    NotDealt(Phase),
    #[error("of three teams none gives up: a person hands the seat over to a bot")]
    ThreeTeams(Phase),
    #[error("a seat is open, or its person has not asked for the rematch")]
    SeatsOpen,
    #[error("{0} is not open")]
    SeatTaken(Seat),
    #[error("{0} is to move")]
    NotYourTurn(Seat),
    #[error("{0} is to deal")]
    NotTheDealer(Seat),
    #[error("{0} has already answered in this exchange")]
    AlreadyAnswered(Seat),
    #[error("the exchange of {0}'s pair is over")]
    PairDone(Seat),
    #[error("by these rules the exchange is mandatory: each seat must offer a card")]
    ExchangeMandatory,
    #[error("{0} has already asked")]
    AlreadyAsked(Seat),
    #[error("{0} has asked for help: its partner offers a card or declines")]
    PartnerAsked(Seat),
    #[error("{0} is to answer: it offers a card or declines")]
    PartnerAnswers(Seat),
    #[error("the partner has not asked for help: a seat asks or passes")]
    NotAsked,
    #[error("the partner has laid down a card: the seat that asked must offer one")]
    MustOffer,
    #[error("by these rules no seat passes in the exchange")]
    NoPass,
    #[error("there is no {0} in the hand")]
    NotInHand(Card),
    #[error("{0}")]
    IllegalMove(#[from] Refusal),
}

impl Game {
    /// Sets up a game (RULES §7.1): full kennels, shuffled cards and a first dealer.
    ///
    /// # Panics
    /// If there is not one player per seat. The caller checks that.
    pub fn new(setup: Setup) -> Game {
        let seats = setup.rules.seats;
        let players = setup.players;
        assert_eq!(players.len(), usize::from(seats), "one player per seat");
        let first_dealer = setup
            .first_dealer
            .unwrap_or_else(|| setup.seed.first_dealer(seats));
        let seating = players.iter().any(Player::is_open) || !setup.must_confirm.is_empty();
        let draws_dealer = seating && setup.first_dealer.is_none();
        let mut game = Game {
            players,
            seed_origin: SeedOrigin::Given(setup.seed_given),
            version: 1,
            phase: if seating { Phase::Seating } else { Phase::Deal },
            round: 1,
            first_dealer,
            turn: None,
            board: Board::new(),
            shuffles: 0,
            stock: Vec::new(),
            discards: setup.rules.deck(),
            seats: vec![SeatState::default(); usize::from(seats)],
            winner: None,
            last_event: EventKind::GameCreated {
                dealer: (!draws_dealer).then_some(first_dealer),
            }
            .into(),
            round_history: None,
            first_players: None,
            occupants: BySeat::default(),
            draws_dealer,
            must_confirm: setup.must_confirm,
            confirmed: Vec::new(),
            seats_changed: seating,
            rules: setup.rules,
            seed: setup.seed,
        };
        game.shuffle_stock();
        game
    }

    /// The same game, whose seed stays a secret at the end, because another table plays the same
    /// cards: a duplicate.
    #[must_use]
    pub fn as_duplicate(self) -> Game {
        Game {
            seed_origin: SeedOrigin::Shared(SharedSeed::Duplicate),
            ..self
        }
    }

    /// Carries out an action of whoever plays the seat, or of the host.
    ///
    /// # Errors
    /// Why the action is refused. The game stays as it was.
    pub fn apply(&mut self, action: &Action) -> Result<Vec<Event>, ActionRefusal> {
        self.apply_by(action, Actor::Player)
    }

    /// Carries out an action. This is the only way to change a game.
    ///
    /// # Errors
    /// Why the action is refused. The game stays as it was.
    pub fn apply_by(&mut self, action: &Action, actor: Actor) -> Result<Vec<Event>, ActionRefusal> {
        let by = self.mark(action, actor);
        let mut events = match *action {
            Action::Deal { by: dealer } => self.deal(dealer)?,
            Action::Offer { seat, card } => self.offer(seat, card)?,
            Action::Decline { seat } => self.decline(seat)?,
            Action::Ask { seat } => self.ask(seat)?,
            Action::Pass { seat } => self.pass(seat)?,
            Action::Play { seat, ref mv } => self.play(seat, mv)?,
            Action::ReissueToken { seat } => {
                self.check_not_over()?;
                vec![EventKind::TokenReissued { seat }.into()]
            }
            Action::HandOver { seat, ref player } => {
                self.check_not_over()?;
                self.seats_changed |= player.kind == SeatKind::Open || actor == Actor::Server;
                self.change_player(seat, player)
            }
            Action::ChangeSeat { seat, ref player } => {
                self.check_not_over()?;
                self.seats_changed = true;
                self.change_player(seat, player)
            }
            Action::Join { seat, ref name } => self.join(seat, name)?,
            Action::RenewToken { seat } => {
                self.check_not_over()?;
                self.seats_changed = true;
                vec![EventKind::TokenRenewed { seat }.into()]
            }
            Action::AskRematch { seat } => self.ask_rematch(seat)?,
            Action::Forfeit { seat, offered } => self.forfeit(seat, offered)?,
            Action::ChangeSettings { settings } => {
                self.check_not_over()?;
                self.seats_changed = true;
                vec![EventKind::SettingsChanged { settings }.into()]
            }
        };
        if let Some(seat) = action.seat() {
            events.extend(self.note_absence(seat, action, by));
        }
        events.extend(self.end_if_given_up().into_iter().flatten());
        events[0].by = by;
        self.version += 1;
        let is_secret = matches!(events[0].what, EventKind::ForfeitOffered { .. });
        if !is_secret || self.phase == Phase::Finished && !self.is_duplicate() {
            self.last_event = events[0].clone();
        }
        Ok(events)
    }

    /// Who the first event of an action says has taken it; none for the seat's own person, and for
    /// actions that nobody can take in a person's place.
    fn mark(&self, action: &Action, actor: Actor) -> Option<By> {
        if !action.is_play() && !matches!(action, Action::HandOver { .. }) {
            return None;
        }
        let acting = action.seat().filter(|_| action.is_play());
        match actor {
            Actor::Server => Some(By::Server),
            // When the time is up, the lowest seat acts: that may be a bot that waits for its
            // partner.
            _ if acting.is_some_and(|seat| self.bot_plays(seat)) => Some(By::Bot),
            Actor::Clock => Some(By::Clock),
            Actor::Player => None,
        }
    }

    /// Checks that the phase and the turn allow a deal now, and that somebody has come to a rematch.
    ///
    /// # Errors
    /// The game is over, in another phase, or somebody else is to act.
    pub fn check_deal(&self, by: Option<Seat>) -> Result<(), ActionRefusal> {
        if self.awaits_first_person() {
            return Err(ActionRefusal::SeatsOpen);
        }
        self.check_dealer(by)
    }

    /// As [`Game::check_deal`], for a rematch to which nobody has come, too: in games of before, the
    /// host dealt it.
    fn check_dealer(&self, by: Option<Seat>) -> Result<(), ActionRefusal> {
        if self.phase == Phase::Seating {
            // The host need not wait for people who do not ask for the rematch.
            return match by {
                None if !self.has_open_seat() => Ok(()),
                _ => Err(ActionRefusal::SeatsOpen),
            };
        }
        self.check_phase(Phase::Deal)?;
        match by {
            Some(seat) if seat != self.dealer() => Err(ActionRefusal::NotTheDealer(self.dealer())),
            _ => Ok(()),
        }
    }

    /// As [`Game::check_deal`], for playing a card.
    ///
    /// # Errors
    /// The game is over, in another phase, or another seat is to move.
    pub fn check_play(&self, seat: Seat) -> Result<(), ActionRefusal> {
        self.check_phase(Phase::Play)?;
        match self.turn {
            Some(turn) if turn != seat => Err(ActionRefusal::NotYourTurn(turn)),
            _ => Ok(()),
        }
    }

    /// As [`Game::check_deal`], for actions that are possible at any time.
    ///
    /// # Errors
    /// The game is over.
    pub fn check_not_over(&self) -> Result<(), ActionRefusal> {
        if self.phase == Phase::Finished {
            Err(ActionRefusal::GameOver)
        } else {
            Ok(())
        }
    }

    /// Checks that the game is in this phase.
    ///
    /// # Errors
    /// It is over, or in another phase.
    pub fn check_phase(&self, needed: Phase) -> Result<(), ActionRefusal> {
        self.check_not_over()?;
        let phase = self.phase;
        if phase == needed {
            Ok(())
        } else {
            Err(ActionRefusal::WrongPhase { phase, needed })
        }
    }

    /// RULES §7.2, and §11 for `reshuffle`.
    fn deal(&mut self, by: Option<Seat>) -> Result<Vec<Event>, ActionRefusal> {
        self.check_dealer(by)?;
        let (dealer, beginner, size) = (self.dealer(), self.beginner(), self.deal_size());
        let shuffles = self.shuffles;
        self.seats.fill(SeatState::default());
        for seat in Seat::all(self.rules.seats) {
            let is_human = self.player(seat).is_human();
            let occupant = &mut self.occupants[seat];
            occupant.stand_in = false;
            let person = occupant.person;
            self.state_mut(seat).dealt_to = is_human.then_some(person);
        }
        let needed = usize::from(size) * usize::from(self.rules.seats);
        if self.rules.reshuffle == Reshuffle::BeforeDeal && self.stock.len() < needed {
            self.shuffle_stock();
        }
        for _ in 0..size {
            for offset in 0..self.rules.seats {
                if self.stock.is_empty() {
                    self.shuffle_stock();
                }
                let card = self.stock.pop().expect("the deck holds the largest deal");
                let seat = beginner.plus(offset, self.rules.seats);
                self.state_mut(seat).hand.add(card);
            }
        }
        self.phase = Phase::Exchange;
        let holders: Vec<_> = self.seats.iter().map(|state| state.dealt_to).collect();
        let dealt = EventKind::CardsDealt {
            round: self.round,
            dealer,
            beginner,
            size,
            reshuffled: self.shuffles > shuffles,
            hands: self.seats.iter().map(|state| Some(state.hand)).collect(),
            holders: if holders.iter().all(is_first_person) {
                Vec::new()
            } else {
                holders
            },
        };
        let mut events = vec![dealt.into()];
        events.append(&mut self.release_kept());
        Ok(events)
    }

    /// Shuffles the discard pile and what is left of the stock, which become the stock (RULES §7.2,
    /// §8 and §11).
    fn shuffle_stock(&mut self) {
        let mut cards = std::mem::replace(&mut self.discards, Cards::EMPTY);
        self.stock.iter().for_each(|&card| cards.add(card));
        self.stock = self.seed.shuffle(self.shuffles, cards);
        self.stock.reverse();
        self.shuffles += 1;
    }

    /// Play begins with this seat.
    pub(super) fn begin_turns(&mut self, turn: Seat) {
        self.phase = Phase::Play;
        self.turn = Some(turn);
    }

    /// RULES §7.4: the seat to move plays a card or folds.
    fn play(&mut self, seat: Seat, mv: &Move) -> Result<Vec<Event>, ActionRefusal> {
        self.check_play(seat)?;
        let hand = self.state(seat).hand;
        let outcome = judge::judge(&self.rules, &self.board, seat, hand, mv)?;
        self.round_history
            .get_or_insert_with(|| RoundHistory::new(self.board))
            .push(seat, *mv, hand);
        let mut events = Vec::with_capacity(2);
        match *mv {
            Move::Fold => {
                self.discards.add_all(hand);
                let state = self.state_mut(seat);
                state.hand = Cards::EMPTY;
                state.folded = true;
                state.holds_received = false;
                events.push(Event::from(EventKind::HandFolded { seat, cards: hand }));
            }
            Move::Play { card, .. } => {
                let state = self.state_mut(seat);
                state.hand.remove(card);
                state.holds_received &= state.received != Some(card);
                self.discards.add(card);
                self.board = outcome.board;
                events.push(Event::from(EventKind::CardPlayed {
                    seat,
                    mv: *mv,
                    kind: outcome.kind,
                    parts: outcome.parts,
                    captures: outcome.captures,
                    board: outcome.board,
                }));
            }
        }
        if self.board.team_home(&self.rules, seat) {
            events.push(self.win(seat.team(self.rules.seats)));
        } else {
            events.extend(self.next_turn(seat));
        }
        Ok(events)
    }

    /// The game ends, and this team has won.
    pub(super) fn win(&mut self, team: u8) -> Event {
        self.phase = Phase::Finished;
        self.turn = None;
        self.winner = Some(team);
        let shuffle_seed = self.seed.hex();
        match self.is_duplicate() {
            true => EventKind::TableWon { team }.into(),
            false => EventKind::GameWon { team, shuffle_seed }.into(),
        }
    }

    /// Passes the turn to the next seat with cards. If there is none, the round is over.
    fn next_turn(&mut self, seat: Seat) -> Option<Event> {
        self.turn = seat.next_of(self.rules.seats, |seat| self.cards(seat) > 0);
        if self.turn.is_some() {
            return None;
        }
        let round = self.round;
        self.phase = Phase::Deal;
        self.seats.fill(SeatState::default());
        self.round_history = None;
        self.round += 1;
        Some(EventKind::RoundEnded { round }.into())
    }

    pub(super) fn state(&self, seat: Seat) -> &SeatState {
        &self.seats[usize::from(seat.number())]
    }

    pub(super) fn state_mut(&mut self, seat: Seat) -> &mut SeatState {
        &mut self.seats[usize::from(seat.number())]
    }

    /// What the game was made from, including its seed.
    pub(super) fn setup(&self) -> Setup {
        Setup {
            rules: self.rules.clone(),
            players: self.first_players().to_vec(),
            first_dealer: (!self.draws_dealer).then_some(self.first_dealer),
            seed: self.seed.clone(),
            seed_given: self.seed_given(),
            must_confirm: self.must_confirm.clone(),
        }
    }

    /// The moves of this round so far, which everybody saw.
    pub(super) fn past_moves(&self) -> Vec<PastMove> {
        let Some(history) = &self.round_history else {
            return Vec::new();
        };
        history
            .moves(&self.rules)
            .expect("every move was checked when it was played or read")
    }
}

impl Serialize for Game {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Game::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Game {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Game, D::Error> {
        let game = Game::deserialize(deserializer)?;
        if game.is_consistent() {
            Ok(game)
        } else {
            Err(de::Error::custom("the stored game is not consistent"))
        }
    }
}

impl Game {
    /// Whether the game can go on, and its round history can have led to it.
    fn is_consistent(&self) -> bool {
        let seats = self.rules.seats;
        self.players.len() == usize::from(seats)
            && self.first_players().len() == usize::from(seats)
            && self.seats.len() == usize::from(seats)
            && self.first_dealer.number() < seats
            && self.turn.is_none_or(|turn| turn.number() < seats)
            && self.turn.is_some() == (self.phase == Phase::Play)
            && self.round > 0
            && self.board.fits(&self.rules)
            && self.has_the_deck()
            && self.has_what_is_laid_down()
            && self
                .round_history
                .as_ref()
                .is_none_or(|history| self.fits(history))
    }

    /// Whether stock, discard pile and hands are the deck (RULES §3), card by card.
    fn has_the_deck(&self) -> bool {
        let mut left = self.rules.deck();
        let hands = self.seats.iter().flat_map(|state| state.hand.sorted());
        let mut cards = hands
            .chain(self.discards.sorted())
            .chain(self.stock.iter().copied());
        cards.all(|card| left.remove(card)) && left.is_empty()
    }

    /// Whether each card that is laid down in the exchange is in its seat's hand (RULES §7.3).
    fn has_what_is_laid_down(&self) -> bool {
        self.phase != Phase::Exchange
            || self.seats.iter().all(|state| match state.answer {
                Some(ExchangeAnswer::Offered(card)) if state.received.is_none() => {
                    state.hand.contains(card)
                }
                _ => true,
            })
    }

    fn fits(&self, history: &RoundHistory) -> bool {
        let has_plays = [Phase::Play, Phase::Finished].contains(&self.phase);
        let Some(plays) = history.moves(&self.rules).filter(|_| has_plays) else {
            return false;
        };
        let cards = BySeat::of_seats(self.rules.seats, |seat| self.cards(seat));
        plays.last().is_some_and(|last| last.after == self.board)
            && round_history::are_revealed(&plays, self.discards)
            && round_history::are_contiguous(&plays, self.rules.seats, cards, self.turn)
    }
}
