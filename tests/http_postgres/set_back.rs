//! A database that is set back to an earlier state while it is served. A file never is: its server
//! has it.

use crate::support::{TestGame, TestServer, TestViewer::*};

#[test]
fn a_stream_ends_when_its_game_is_set_back() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let (database, version) = (server.database(), game.version());
    let columns = "version, snapshot, updated_at, deadline, due_at, phase";
    let backup = "CREATE TABLE backup AS SELECT";
    database.sql(&format!("{backup} {columns} FROM games"));
    let stream = game.events(Spectator, "");
    let (seat, id) = game.first_move();
    game.play(seat, &id);
    assert_eq!(stream.take(2)[1].data["version"], version + 1);
    database.sql(&format!("DELETE FROM log WHERE version > {version}"));
    database.change_game(
        &game.id,
        &format!("({columns}) = (SELECT {columns} FROM backup)"),
    );
    assert!(stream.rest().is_empty());
    // Resumed, it begins anew.
    let resumed = game.events_after(Spectator, version + 1);
    assert_eq!(resumed.take(1)[0].data["version"], version);
}
