//! Nothing but the store is needed: a killed server's successor goes on.

use serde_json::json;

use crate::support::{Dice, Game, Server, Signal, Viewer::*};

#[test]
fn a_game_goes_on_with_another_process() {
    let server = Server::start();
    for signal in [Signal::Kill, Signal::Term] {
        let game = Game::fixed(&server);
        let restart = || {
            let before = game.snapshot();
            server.restart(signal);
            assert_eq!(game.snapshot(), before, "{signal:?}");
        };
        restart();
        game.deal();
        restart();
        game.swap(0, &json!({"card": game.hand(0)[0]}));
        restart();
        for seat in 1..4 {
            game.swap(seat, &json!({"card": game.hand(seat)[0]}));
        }
        for _ in 0..2 {
            restart();
            let (seat, id) = game.first_move();
            game.play(seat, &id);
        }
    }
}

#[test]
fn etags_and_guards_hold_across_a_restart() {
    let server = Server::start();
    let game = Game::in_play(&server);
    let answer = game.get(Seat(1), "").send();
    let etag = answer.header("etag").expect("an ETag").to_owned();
    server.restart(Signal::Kill);
    let again = game.get(Seat(1), "").header("If-None-Match", &etag).send();
    assert_eq!(again.status, 304);
    let (seat, id) = game.first_move();
    let request = game.post(Seat(seat), "/play").json(&json!({"move": id}));
    request.if_match(&etag).send().expect(200);
}

#[test]
fn a_game_interrupted_often_ends_like_one_that_was_not() {
    let server = Server::start();
    let play = |interrupted: bool| {
        let game = Game::in_play(&server);
        let mut dice = Dice::new(5);
        for step in 0..60 {
            if interrupted && step % 10 == 0 {
                server.restart(Signal::Kill);
            }
            game.step(&mut dice);
        }
        let mut view = game.view(Spectator);
        for name in ["id", "created_at", "updated_at"] {
            view[name].take();
        }
        view
    };
    assert_eq!(play(true), play(false));
}

#[test]
fn answered_writes_are_on_disk_when_the_power_goes() {
    let server = Server::start();
    for _ in 0..5 {
        let game = Game::in_play(&server);
        let (seat, id) = game.first_move();
        let played = game.play(seat, &id);
        server.restart(Signal::Kill);
        assert_eq!(game.view(Seat(seat)), played["game"]);
    }
}

/// What a process was given as its environment, and how it was called.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn begun_with(server: &Server, file: &str) -> Vec<String> {
    let path = format!("/proc/{}/{file}", server.process_id());
    let text = std::fs::read(path).expect("a process");
    let parts = text
        .split(|&byte| byte == 0)
        .filter(|part| !part.is_empty());
    parts
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}

/// Else its memory grows for hours. It is the same process, so that whoever started it can end it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_server_keeps_its_heap_small_unless_told_otherwise() {
    let told = |server: &Server| {
        let mut environment = begun_with(server, "environ");
        environment.retain(|variable| variable.contains("MALLOC") || variable.contains("TUNABLES"));
        environment.sort();
        environment
    };
    let server = Server::start();
    let cores = std::thread::available_parallelism().expect("cores").get();
    let arenas = format!("MALLOC_ARENA_MAX={}", cores + 2);
    assert_eq!(told(&server), [&arenas, "MALLOC_MMAP_THRESHOLD_=131072"]);
    assert_eq!(begun_with(&server, "cmdline")[1], "serve");
    for (name, value) in [
        ("MALLOC_ARENA_MAX", "1"),
        ("MALLOC_MMAP_THRESHOLD_", "65536"),
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=4"),
    ] {
        let server = Server::start_with(&[(name, value)]);
        assert_eq!(told(&server), [format!("{name}={value}")]);
    }
}
