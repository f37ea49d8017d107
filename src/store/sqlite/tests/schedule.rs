//! What the server has to do, what has changed, and tickets.

use std::time::{Duration, Instant};

use dog_rules::Level;
use jiff::{SignedDuration, Timestamp};

use super::*;

/// A game in which these seats are bots.
fn with_bots(bots: &[usize], tempo: Tempo) -> Record {
    let mut record = fresh();
    let players = (0..4).map(|number| Player {
        bot: bots.contains(&number),
        ..Player::human(format!("player {number}"))
    });
    record.game = Game::new(Setup {
        players: players.collect(),
        rules: Preset::DogspielIt.rules(),
        first_dealer: Some(Seat::default()),
        seed: Seed::new([7; 32]),
        seed_given: false,
    })
    .into();
    record.tempo = tempo;
    record
}

fn due(store: &Store, attended: bool, now: Timestamp) -> Vec<GameId> {
    let due = store.read(|reader| reader.due(attended, now, 10)).unwrap();
    due.into_iter().map(|(id, _)| id).collect()
}

fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

#[test]
fn games_are_due_when_a_bot_is_to_act_or_the_time_is_up() {
    let dir = Dir::new();
    let store = dir.store();
    let pace = Tempo {
        bot_pace_ms: 2_000,
        turn_seconds: None,
    };
    let clock = Tempo {
        bot_pace_ms: 0,
        turn_seconds: Some(5),
    };
    let idle = add(&store, with_bots(&[1], Tempo::default()));
    let bot = add(&store, with_bots(&[0], pace));
    let late = add(&store, with_bots(&[], clock));
    let alone = add(&store, with_bots(&[0, 1, 2, 3], Tempo::default()));
    let begun = idle.created_at;
    assert_eq!((idle.deadline, bot.deadline), (None, None));
    assert_eq!(late.deadline, Some(late.created_at + seconds(5)));

    assert_eq!(due(&store, false, alone.created_at), [alone.id]);
    assert_eq!(due(&store, true, begun + seconds(1)), []);
    assert_eq!(due(&store, true, begun + seconds(3)), [bot.id]);
    assert_eq!(due(&store, true, begun + seconds(60)), [bot.id, late.id]);
    let one = store.read(|reader| reader.due(true, begun + seconds(60), 1));
    assert_eq!(one.unwrap(), [(bot.id, None)]);
    let next = |after| store.read(|reader| reader.next_due(after)).unwrap();
    assert_eq!(next(begun + seconds(1)), Some(bot.created_at + seconds(2)));
    assert_eq!(next(begun + seconds(60)), None);
}

#[test]
fn a_game_of_each_creator_is_found_however_many_another_has() {
    let dir = Dir::new();
    let store = dir.store();
    let of = |creator: Option<u8>| {
        let mut record = with_bots(&[0], Tempo::default());
        record.creator = creator.map(|number| Creator([number; 16]));
        add(&store, record)
    };
    let many: Vec<Record> = (0..30).map(|_| of(Some(2))).collect();
    let others = [1, 3, 4].map(|creator| of(Some(creator)));
    let [one, another] = [of(None), of(None)];
    let now = another.created_at;
    let look = |now, after, limit| {
        store
            .read(|reader| reader.due_by_creator(true, now, after, limit))
            .unwrap()
    };
    let found = |record: &Record| (record.id, record.creator);
    let (games, after) = look(now, None, 10);
    let each = [&one, &another, &others[0], &many[0], &others[1], &others[2]];
    assert_eq!(games, each.map(found));
    assert_eq!(after, None);
    // In parts.
    let (games, after) = look(now, None, 2);
    assert_eq!(
        games,
        each[..4]
            .iter()
            .map(|record| found(record))
            .collect::<Vec<_>>()
    );
    assert_eq!(after, many[0].creator);
    let (games, after) = look(now, after, 3);
    assert_eq!(games, [&one, &another, &others[1], &others[2]].map(found));
    assert_eq!(after, None);
    // Before it was due.
    assert_eq!(look(many[0].created_at, None, 10).0, [found(&many[0])]);
    assert_eq!(look(many[0].created_at - seconds(1), None, 10).0, []);
}

#[test]
fn a_deadline_moves_with_the_turn_and_not_with_anything_else() {
    let dir = Dir::new();
    let store = dir.store();
    let clock = Tempo {
        bot_pace_ms: 0,
        turn_seconds: Some(5),
    };
    let record = add(&store, with_bots(&[], clock));
    let (id, first) = (record.id, record.deadline.unwrap());
    let act = |action| {
        store
            .write_blocking(move |tx| act(tx, &id, action))
            .unwrap()
    };
    assert_eq!(act(reissue()).deadline, Some(first));
    let player = Player::bot("Bot", Level::Fast);
    let seat = Seat::default();
    assert_eq!(act(Action::HandOver { seat, player }).deadline, Some(first));
    let dealt = act(Action::Deal { by: None });
    assert_eq!(dealt.deadline, Some(dealt.updated_at + seconds(5)));
    assert_eq!(store.game(&id).unwrap(), Some(dealt));
}

#[test]
fn changes_are_told_since_the_one_that_is_known() {
    let dir = Dir::new();
    let (here, there) = (dir.store(), dir.store());
    let last = || there.read(|reader| reader.last_change()).unwrap();
    let since = |change| there.read(|reader| reader.changes(change)).unwrap();
    let before = last();
    let (one, two) = (create(&here), create(&there));
    let created = last();
    let change = |record: &Record, version| Change {
        id: record.id,
        version,
    };
    assert_eq!(
        since(before),
        Changes::Of(vec![change(&one, Some(1)), change(&two, Some(1))])
    );
    let id = one.id;
    here.write_blocking(move |tx| act(tx, &id, reissue()))
        .unwrap();
    assert_eq!(since(created), Changes::Of(vec![change(&one, Some(2))]));
    let acted = last();
    let fresh = tokens("fresh");
    here.write_blocking(move |tx| tx.set_tokens(&id, &fresh))
        .unwrap();
    assert_eq!(
        since(acted),
        Changes::Of(vec![change(&one, Some(2))]),
        "its tokens"
    );
    let replaced = last();
    here.write_blocking(move |tx| tx.delete(&id)).unwrap();
    assert_eq!(since(replaced), Changes::Of(vec![change(&one, None)]));
    assert_eq!(since(last()), Changes::Of(Vec::new()));
    assert_eq!(since(-1_000_000), Changes::Any);
}

#[test]
fn who_waits_is_woken_by_a_commit_of_any_process() {
    let dir = Dir::new();
    let (here, there) = (dir.store(), dir.store());
    let mut watch = here.watch().unwrap();
    let begun = Instant::now();
    assert!(!watch.wait(Duration::from_millis(40)).unwrap());
    assert!(begun.elapsed() >= Duration::from_millis(40));
    for store in [&here, &there] {
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                create(store);
            });
            assert!(watch.wait(Duration::from_secs(30)).unwrap());
        });
    }
}

#[test]
fn a_ticket_is_taken_once_and_in_time() {
    let dir = Dir::new();
    let store = dir.store();
    let (id, other) = (create(&store).id, create(&store).id);
    let (ticket, token) = (TokenHash::of("ticket"), TokenHash::of("token"));
    let until = now() + seconds(30);
    let keep = move |tx: &mut Transaction<'_>| tx.add_ticket(&id, &ticket, &token, until);
    let take = |game: GameId, at: Timestamp| {
        let taken = store.write_blocking(move |tx| tx.take_ticket(&game, &ticket, at));
        taken.unwrap()
    };
    store.write_blocking(keep).unwrap();
    assert_eq!(take(other, now()), None);
    assert_eq!(take(id, until), None, "it has expired");
    let look = |at| store.read(|reader| reader.ticket(&id, &ticket, at));
    assert_eq!(look(now()).unwrap(), Some(token), "looking takes nothing");
    assert_eq!(look(until).unwrap(), None);
    assert_eq!(take(id, now()), Some(token));
    assert_eq!(look(now()).unwrap(), None);
    assert_eq!(take(id, now()), None, "it was taken");
    store.write_blocking(keep).unwrap();
    store.write_blocking(move |tx| tx.delete(&id)).unwrap();
    assert_eq!(take(id, now()), None, "it went with its game");
}
