//! Random games in which people come, go, are away and come back: who sees what, what the record
//! keeps, and what a log is replayed to.

use std::collections::HashSet;

use dog_rules::{
    Action, Actor, By, Event, EventKind, Game, Person, Phase, Player, Seat, SeatKind, Seed, Setup,
    TableSettings,
    record::{RecordFormat, RecordHeaders, Replayed, ReplayedEntry},
};
use rand::{Rng, RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};

use super::{
    properties::rng,
    random,
    random_games::{Proposer, check_events, check_game, check_redaction, check_secrets, people},
    record::{exported, player, reads_and_replays},
};

/// A game is abandoned after this many actions.
const ACTIONS: usize = 2_000;

#[test]
fn people_come_and_go_in_random_games() {
    let mut rng = rng(31);
    let mut tally = Tally::default();
    for _ in 0..120 {
        let mut played = RandomGame::new(&mut rng);
        while played.game.phase() != Phase::Finished && played.log.len() < ACTIONS {
            played.act(&mut rng, &mut tally);
        }
        played.check_history();
        played.check_replay();
        tally.finished += usize::from(played.game.phase() == Phase::Finished);
        tally.format_2 += usize::from(played.check_record());
    }
    assert!(tally.finished > 60 && tally.format_2 > 50, "{tally:?}");
    assert!(
        tally.stand_ins > 1_000 && tally.away > 100 && tally.forfeited > 10,
        "{tally:?}"
    );
    assert!(tally.seating > 30 && tally.persons > 200, "{tally:?}");
    assert_eq!(tally.marks.len(), 4, "{:?}", tally.marks);
}

/// What has happened, so that the test does not pass for want of it.
#[derive(Debug, Default)]
struct Tally {
    finished: usize,
    format_2: usize,
    /// Versions with a stand-in, and in the seating.
    stand_ins: usize,
    seating: usize,
    /// Games in which a team has given up.
    forfeited: usize,
    /// Seats that were away, and people who took over.
    away: usize,
    persons: usize,
    marks: HashSet<Option<&'static str>>,
}

pub struct RandomGame {
    setup: Setup,
    game: Game,
    proposer: Proposer,
    log: Vec<ReplayedEntry>,
    /// To whom the hands of this round were dealt, after each version.
    holders: Vec<Vec<Option<Person>>>,
    /// Seats whose people have to ask for the rematch.
    missing: HashSet<Seat>,
    dealt: bool,
    /// How often somebody comes or goes, in actions of a thousand.
    restless: u32,
}

impl RandomGame {
    fn new(rng: &mut ChaCha8Rng) -> RandomGame {
        let rules = random::rules(rng);
        let seats = rules.seats;
        let players: Vec<Player> = (0..seats)
            .map(|_| Player {
                kind: any_kind(rng),
                ..player(rng)
            })
            .collect();
        // A bot has the seat of a person who had left the game before.
        let taken = Seat::all(seats).filter(|seat| !players[usize::from(seat.number())].is_open());
        let is_rematch = rng.random_bool(0.3);
        let must_confirm: Vec<Seat> = taken.filter(|_| is_rematch).collect();
        let setup = Setup {
            first_dealer: rng.random_bool(0.5).then(|| any_seat(rng, seats)),
            seed: Seed::new(rng.random()),
            seed_given: rng.random(),
            must_confirm,
            players,
            rules,
        };
        let restless = *[5, 50, 300].choose(rng).expect("a number");
        RandomGame::of(setup, restless)
    }

    /// A game of this set-up to its end.
    pub fn to_the_end(rng: &mut ChaCha8Rng, setup: Setup) -> Replayed {
        let mut played = RandomGame::of(setup, 40);
        while played.game.phase() != Phase::Finished {
            played.act(rng, &mut Tally::default());
        }
        let RandomGame { game, log, .. } = played;
        Replayed { game, log }
    }

    fn of(setup: Setup, restless: u32) -> RandomGame {
        let game = Game::new(setup.clone());
        RandomGame {
            log: vec![ReplayedEntry {
                version: game.version(),
                action: None,
                events: vec![game.last_event().clone()],
            }],
            holders: vec![vec![None; setup.players.len()]],
            missing: setup.must_confirm.iter().copied().collect(),
            dealt: false,
            proposer: Proposer::new(true),
            restless,
            setup,
            game,
        }
    }

    /// Takes a random action, which may be refused, and checks what follows from it.
    fn act(&mut self, rng: &mut ChaCha8Rng, tally: &mut Tally) {
        let before = self.game.clone();
        let seating = before.phase() == Phase::Seating;
        let (action, actor) = if seating || rng.random_ratio(self.restless, 1_000) {
            coming_or_going(rng, &before)
        } else {
            let action = self.proposer.in_order(rng, &before);
            let seat = action.seat().expect("a seat acts");
            let clock = if before.is_away(seat) { 0.7 } else { 0.15 };
            let by_clock = rng.random_bool(clock);
            (
                action,
                if by_clock {
                    Actor::Clock
                } else {
                    Actor::Player
                },
            )
        };
        let Ok(events) = self.game.apply_by(&action, actor) else {
            assert_eq!(self.game, before, "a refused action changes nothing");
            return;
        };
        let mut holders = self.holders.last().expect("one a version").clone();
        if matches!(action, Action::Deal { .. }) {
            holders = people(&before);
            self.dealt = true;
        }
        self.note_missing(&before, &events[0]);
        tally.marks.insert(events[0].by.map(By::name));
        tally.note(&self.game, &events);
        assert_eq!(
            events[0].by,
            expected_mark(&before, &action, actor),
            "{action:?}"
        );
        check_events(&self.game, &holders, &events);
        check_game(&self.game);
        self.check_phase();
        self.check_stand_ins(&holders);
        if rng.random_ratio(1, 40) {
            let stored = serde_json::to_string(&self.game).expect("a game is stored");
            let restored: Game = serde_json::from_str(&stored).expect("a game is restored");
            assert_eq!(restored, self.game);
            check_secrets(rng, &self.game, &holders);
        }
        self.holders.push(holders);
        self.log.push(ReplayedEntry {
            version: self.game.version(),
            action: Some(action),
            events,
        });
    }

    /// A person who asks, gives way to a bot, or takes the seat back from one, is not missing.
    fn note_missing(&mut self, before: &Game, event: &Event) {
        match &event.what {
            EventKind::RematchAsked { seat } => {
                assert!(!self.missing.remove(seat) || self.game.player(*seat).is_human());
            }
            EventKind::SeatHandedOver { seat, player }
                if !(before.player(*seat).is_human() && player.is_human()) =>
            {
                self.missing.remove(seat);
            }
            _ => {}
        }
    }

    /// Before the first deal the game is in the seating exactly as long as somebody is missing.
    fn check_phase(&self) {
        if !self.dealt {
            let missing = self.game.has_open_seat() || !self.missing.is_empty();
            let expected = if missing { Phase::Seating } else { Phase::Deal };
            assert_eq!(self.game.phase(), expected);
        }
        assert!(!self.dealt || self.game.phase() != Phase::Seating);
    }

    /// A person plays the hand that was dealt to that person, and no other.
    fn check_stand_ins(&self, holders: &[Option<Person>]) {
        if !matches!(self.game.phase(), Phase::Exchange | Phase::Play) {
            return;
        }
        for (seat, holder) in Seat::all(6).zip(holders) {
            let is_human = self.game.player(seat).is_human();
            let own = *holder == Some(self.game.person(seat));
            assert_eq!(self.game.has_stand_in(seat), is_human && !own, "{seat}");
            assert_eq!(self.game.bot_plays(seat), !(is_human && own), "{seat}");
        }
    }

    /// People who have come since see no cards in the history but their own.
    fn check_history(&self) {
        for (entry, holders) in self.log.iter().zip(&self.holders) {
            check_redaction(&self.game, holders, &entry.events);
        }
    }

    /// The log is replayed to the same events and the same game.
    fn check_replay(&self) {
        let mut replayed = self.game.at_creation();
        assert_eq!(replayed, Game::new(self.setup.clone()));
        for entry in &self.log[1..] {
            let action = serde_json::to_value(&entry.action).expect("an action is stored");
            let action: Action = serde_json::from_value(action).expect("an action is restored");
            let events = replayed.apply_by(&action, entry.events[0].actor());
            assert_eq!(events.expect("it was accepted before"), entry.events);
        }
        assert_eq!(replayed, self.game);
    }

    /// The record of a finished game is read back to the same game. Returns whether it has format
    /// 2.
    fn check_record(self) -> bool {
        let format = RecordFormat::for_game(&self.game);
        if self.game.phase() == Phase::Finished && format == RecordFormat::Two {
            let (game, log) = (self.game, self.log);
            let played = Replayed { game, log };
            let record = exported(RecordHeaders::default(), &played);
            assert_eq!(
                (record.format, &record.setup.players),
                (format, &self.setup.players)
            );
            reads_and_replays(&record, &played);
            return true;
        }
        false
    }
}

impl Tally {
    fn note(&mut self, game: &Game, events: &[Event]) {
        let seats = Seat::all(game.rules().seats);
        self.stand_ins += seats.filter(|&seat| game.has_stand_in(seat)).count();
        self.seating += usize::from(game.phase() == Phase::Seating);
        for event in events {
            self.forfeited += usize::from(matches!(event.what, EventKind::TeamForfeited { .. }));
            self.away += usize::from(matches!(event.what, EventKind::SeatAway { .. }));
            self.persons += usize::from(matches!(event.what, EventKind::SeatTaken { .. }));
        }
    }
}

fn any_seat(rng: &mut impl Rng, seats: u8) -> Seat {
    Seat::new(rng.random_range(0..seats), seats).expect("a seat")
}

fn any_kind(rng: &mut impl Rng) -> SeatKind {
    use SeatKind::{Bot, Human, Open};
    *[Human, Human, Human, Bot, Open]
        .choose(rng)
        .expect("a kind")
}

/// An action of the host, of the server, or of somebody who comes or goes.
fn coming_or_going(rng: &mut impl Rng, game: &Game) -> (Action, Actor) {
    let seat = any_seat(rng, game.rules().seats);
    let player = Player {
        kind: any_kind(rng),
        ..player(rng)
    };
    let action = match rng.random_range(0..18) {
        0..4 => Action::Join {
            seat,
            name: player.name,
        },
        4..7 => Action::ChangeSeat { seat, player },
        7..9 => Action::HandOver { seat, player },
        9 => return (Action::HandOver { seat, player }, Actor::Server),
        10 => Action::Deal { by: None },
        11 => return (Action::Deal { by: None }, Actor::Server),
        12 => Action::AskRematch { seat },
        13 => Action::RenewToken { seat },
        14 => Action::ReissueToken { seat },
        15..17 => Action::Forfeit {
            seat,
            offered: rng.random(),
        },
        _ => Action::ChangeSettings {
            settings: TableSettings {
                turn_seconds: rng.random_bool(0.5).then(|| rng.random_range(1..=86_400)),
                bot_pace_ms: rng.random_range(0..=10_000),
                listed: rng.random(),
                reactions: rng.random(),
            },
        },
    };
    (action, Actor::Player)
}

/// Who, by the text of the interface, has taken an action that the seat's person did not take.
fn expected_mark(before: &Game, action: &Action, actor: Actor) -> Option<By> {
    match action {
        Action::HandOver { .. } | Action::Deal { by: None } => {
            (actor == Actor::Server).then_some(By::Server)
        }
        Action::Deal { by: Some(seat) }
        | Action::Offer { seat, .. }
        | Action::Decline { seat }
        | Action::Ask { seat }
        | Action::Pass { seat }
        | Action::Play { seat, .. } => {
            let is_human = before.player(*seat).is_human() && !before.has_stand_in(*seat);
            match (is_human, actor) {
                (false, _) => Some(By::Bot),
                (true, Actor::Clock) => Some(By::Clock),
                (true, _) => None,
            }
        }
        _ => None,
    }
}
