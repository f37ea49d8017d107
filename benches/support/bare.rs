//! What the HTTP library and SQLite allow: a server that sends a text from memory, or from a
//! row.

use std::{cell::RefCell, sync::mpsc, thread};

use actix_web::{
    App, HttpResponse, HttpServer,
    web::{self, Bytes, Data},
};
use rusqlite::{Connection, OpenFlags};

/// The row's id, as long as a game's.
const ID: &str = "06zgrb0wmrqk9y7ttx2vbkhq1r";

/// Starts the server in this process, with a thread a core; its address. `text` is JSON.
pub fn start(text: String) -> String {
    let file = std::env::temp_dir().join(format!("dog-bench-row-{}.db", std::process::id()));
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", file.display()));
    }
    let database = Connection::open(&file).expect("a database");
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE games (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, view TEXT);",
        )
        .expect("a table");
    database
        .execute("INSERT INTO games (id, view) VALUES (?1, ?2)", (ID, &text))
        .expect("a row");
    let (send, address) = mpsc::channel();
    thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let cores = thread::available_parallelism().map_or(2, usize::from);
            let text = Data::new(Bytes::from(text));
            let server = HttpServer::new(move || {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let reader = Connection::open_with_flags(&file, flags).expect("a reader");
                App::new()
                    .app_data(text.clone())
                    .app_data(Data::new(RefCell::new(reader)))
                    .route("/constant", web::get().to(constant))
                    .route("/row", web::get().to(row))
            })
            .workers(cores)
            .bind("127.0.0.1:0")
            .expect("a port");
            let address = server.addrs()[0].to_string();
            send.send(address).expect("somebody who asks");
            // The first connection keeps the write-ahead log in place.
            let _database = database;
            server.run().await
        })
    });
    address.recv().expect("an address")
}

async fn constant(text: Data<Bytes>) -> HttpResponse {
    let text = Bytes::clone(&text);
    HttpResponse::Ok()
        .content_type("application/json")
        .body(text)
}

async fn row(reader: Data<RefCell<Connection>>) -> HttpResponse {
    let sql = "SELECT view FROM games WHERE id = ?1";
    let reader = reader.borrow();
    let mut statement = reader.prepare_cached(sql).expect("a statement");
    let text: String = statement.query_row([ID], |row| row.get(0)).expect("a row");
    HttpResponse::Ok()
        .content_type("application/json")
        .body(text)
}
