//! A team gives up: who has to say so, who sees it, and what follows.

use dog_rules::{
    Action, Actor, Event, EventKind, Game, Phase,
    Preset::*,
    Rules, SeatKind, Viewer,
    record::{ParsedRecord, RecordHeaders, RecordStep, Transcript},
};

use super::{
    people::Table,
    position::seat,
    rounds::{exchange, optional, play_first, refused},
};

pub fn forfeit(by: u8, offered: bool) -> Action {
    let seat = seat(by);
    Action::Forfeit { seat, offered }
}

fn offered(by: u8, offered: bool) -> Event {
    let seat = seat(by);
    EventKind::ForfeitOffered { seat, offered }.into()
}

/// What ends the game if this team has given up.
fn given_up(game: &Game, team: u8) -> [Event; 2] {
    let shuffle_seed = game.seed_at_end().expect("the game is over");
    let won = EventKind::GameWon {
        team: 1 - team,
        shuffle_seed,
    };
    [EventKind::TeamForfeited { team }.into(), won.into()]
}

/// Whether each seat gives up, as this viewer sees it.
fn seen_by(game: &Game, viewer: Viewer) -> Vec<Option<bool>> {
    let seats = game.seats_visible_to(viewer).into_iter();
    seats.map(|seat| seat.gives_up).collect()
}

fn sheet(text: &str) -> Rules {
    text.parse().expect("a sheet")
}

fn at(by: u8) -> Viewer {
    Viewer::Seat(seat(by), 0)
}

#[test]
fn a_team_has_lost_once_both_partners_give_up() {
    for (first, last) in [(0, 2), (2, 0), (1, 3), (3, 1)] {
        let mut table = Table::with_people();
        exchange(&mut table.game);
        play_first(&mut table.game);
        let (before, team) = (table.game.clone(), first % 2);
        assert_eq!(table.act(forfeit(first, true)), [offered(first, true)]);
        assert_eq!(table.game.phase(), Phase::Play);
        assert_eq!(table.game.turn(), before.turn());
        // It may be said again, and is a version each time.
        assert_eq!(table.act(forfeit(first, true)), [offered(first, true)]);
        assert_eq!(table.act(forfeit(first, false)), [offered(first, false)]);
        assert_eq!(table.act(forfeit(last, true)), [offered(last, true)]);
        // One of the other team does not count.
        table.act(forfeit(1 - team, true));
        let events = table.act(forfeit(first, true));
        let game = &mut table.game;
        assert_eq!(events[0], offered(first, true));
        assert_eq!(events[1..], given_up(game, team));
        assert_eq!(game.version(), before.version() + 6);
        assert_eq!((game.phase(), game.turn()), (Phase::Finished, None));
        assert_eq!(game.winner(), Some(1 - team));
        assert_eq!(game.last_event(), &events[0]);
        assert_eq!(game.board(), before.board());
        refused(game, &forfeit(0, true), "the game is over");
        let stored = serde_json::to_string(game).expect("a game is stored");
        assert_eq!(serde_json::from_str::<Game>(&stored).unwrap(), *game);
    }
}

#[test]
fn only_one_of_two_teams_gives_up_and_not_before_the_first_deal() {
    let early = "a team may give up from the first deal to the end, the game is in the";
    for (kinds, phase) in [
        ("human human human human", "deal"),
        ("human human open human", "seating"),
    ] {
        let mut table = Table::new(DogspielIt, kinds);
        assert_eq!(seen_by(&table.game, at(0)), [None; 4]);
        for offered in [true, false] {
            let why = format!("{early} {phase} phase");
            refused(&mut table.game, &forfeit(0, offered), &why);
        }
    }
    let mut six = Table::new(sheet("dogspiel-it seats=6"), &["human"; 6].join(" "));
    let why = "of three teams none gives up: a person hands the seat over to a bot";
    refused(&mut six.game, &forfeit(0, true), why);
    six.deal();
    refused(&mut six.game, &forfeit(0, true), why);
    assert_eq!(seen_by(&six.game, at(0)), [None; 6]);
    // Between two rounds it may.
    let mut table = Table::with_people();
    table.play_round();
    assert_eq!(table.game.phase(), Phase::Deal);
    table.act(forfeit(0, true));
    table.act(forfeit(2, true));
    assert_eq!(table.game.winner(), Some(1));
}

#[test]
fn bots_and_people_who_are_away_agree() {
    // A bot, and an open seat.
    for kind in [SeatKind::Bot, SeatKind::Open] {
        let mut table = Table::with_people();
        table.hand(2, kind);
        let events = table.act(forfeit(0, true));
        assert_eq!(events[1..], given_up(&table.game, 0));
        // Or it becomes one later.
        let mut table = Table::with_people();
        table.act(forfeit(0, true));
        let events = table.becomes(2, kind);
        assert_eq!(events[1..], given_up(&table.game, 0));
        assert_eq!(table.game.last_event(), &events[0]);
    }
    // A person who is away, or goes away later.
    for is_late in [false, true] {
        let mut table = Table::with_people();
        exchange(&mut table.game);
        let mut events = Vec::new();
        if is_late {
            table.act(forfeit(0, true));
        }
        while !table.game.is_away(seat(2)) {
            let actor = match table.game.turn() == Some(seat(2)) {
                true => Actor::Clock,
                false => Actor::Player,
            };
            events = table.next_by(actor);
        }
        if !is_late {
            assert!(table.game.winner().is_none());
            events = table.act(forfeit(0, true));
        }
        assert!(events.ends_with(&given_up(&table.game, 0)), "{events:?}");
    }
    // Nobody but bots: what a bot's seat says does not count.
    let mut table = Table::with_people();
    table.hand(1, SeatKind::Bot);
    table.act(forfeit(1, true));
    table.hand(3, SeatKind::Bot);
    assert_eq!(table.game.winner(), None);
}

#[test]
fn who_is_away_and_gives_up_is_back() {
    let mut table = Table::with_people();
    exchange(&mut table.game);
    while !table.game.is_away(seat(2)) {
        table.next_by(match table.game.turn() == Some(seat(2)) {
            true => Actor::Clock,
            false => Actor::Player,
        });
    }
    let back = EventKind::SeatBack { seat: seat(2) };
    let before = table.game.last_event().clone();
    let events = table.act(forfeit(2, false));
    assert_eq!(events, [offered(2, false), back.into()]);
    assert_eq!(table.game.last_event(), &before);
    assert_eq!(table.act(forfeit(0, true)), [offered(0, true)]);
}

#[test]
fn another_person_has_not_given_up() {
    let gives_up = |table: &Table, by| seen_by(&table.game, at(by))[usize::from(by)];
    let mut table = Table::with_people();
    table.act(forfeit(0, true));
    assert_eq!(gives_up(&table, 0), Some(true));
    // The same person by another name, and in the next round.
    table.becomes(0, SeatKind::Human);
    table.play_round();
    table.deal();
    assert_eq!(gives_up(&table, 0), Some(true));
    table.becomes(0, SeatKind::Bot);
    table.becomes(0, SeatKind::Human);
    assert_eq!(gives_up(&table, 0), Some(false));
    table.act(forfeit(0, true));
    table.hand(0, SeatKind::Open);
    table.join(0, "Eva");
    assert_eq!(gives_up(&table, 0), Some(false));
    // A stand-in does not speak for the person.
    assert!(table.game.has_stand_in(seat(0)));
    table.act(forfeit(2, true));
    assert_eq!(table.game.winner(), None);
    table.act(forfeit(0, true));
    assert_eq!(table.game.winner(), Some(1));
}

#[test]
fn only_the_team_knows_before_the_end() {
    let mut table = Table::with_people();
    let before = table.game.last_event().clone();
    let events = table.act(forfeit(0, true));
    for viewer in [at(0), at(2)] {
        assert_eq!(
            events[0].clone().redacted_for(viewer),
            Some(events[0].clone())
        );
        let seen = [Some(true), None, Some(false), None];
        assert_eq!(seen_by(&table.game, viewer), seen);
    }
    for viewer in [at(1), at(3), Viewer::Spectator] {
        assert_eq!(events[0].clone().redacted_for(viewer), None);
        let own = (viewer != Viewer::Spectator).then_some(false);
        assert_eq!(seen_by(&table.game, viewer), [None, own, None, own]);
    }
    // All see the last event.
    assert_eq!(table.game.last_event(), &before);
    // It does not give anybody more time.
    assert!(!table.game.restarts_clock(&events));
    let events = table.act(forfeit(2, true));
    for viewer in [at(0), at(1), Viewer::Spectator] {
        for event in &events[1..] {
            assert_eq!(event.clone().redacted_for(viewer).as_ref(), Some(event));
        }
        assert_eq!(seen_by(&table.game, viewer), [None; 4]);
    }
}

#[test]
fn a_record_has_a_line_for_it() {
    let mut table = Table::new(optional(), "human human human human");
    let start = table.game.clone();
    let actions = [
        Action::Deal { by: None },
        forfeit(1, true),
        forfeit(1, false),
        forfeit(3, true),
        forfeit(1, true),
    ];
    let steps = actions.map(|action| {
        table.act(action.clone());
        RecordStep::from(action)
    });
    let transcript = Transcript {
        steps: steps.into(),
        ..Transcript::without_steps(&table.game, RecordHeaders::default()).unwrap()
    };
    let text = transcript.to_string();
    let lines = "deal 1 by host\n1 gives up\n1 plays on\n3 gives up\n1 gives up\n";
    assert!(
        text.starts_with("[Dog \"2\"]") && text.ends_with(lines),
        "{text}"
    );
    assert!(text.contains("[Winner \"0\"]"), "{text}");
    let replayed = ParsedRecord::read(&text).unwrap().replay().unwrap();
    assert_eq!((&replayed.game, replayed.log.len()), (&table.game, 6));
    assert_eq!(replayed.game.at_creation(), start);
    let early = text.replace("[Dog \"2\"]", "[Dog \"1\"]");
    differs(
        &early,
        "such a step is possible in records of format 2 only",
    );
    let short = text.trim_end().trim_end_matches("\n1 gives up");
    differs(short, "the record ends here, but no team has won yet");
}

/// Such a record cannot be replayed.
#[track_caller]
fn differs(text: &str, why: &str) {
    let replayed = ParsedRecord::read(text).and_then(|record| record.replay());
    let error = replayed.expect_err("a difference").to_string();
    assert!(error.contains(why), "{error}");
}
