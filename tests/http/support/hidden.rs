//! Permutes the cards that a viewer cannot see, in a stored game.

use serde_json::{Value, json};

use super::{CARDS, Dice, ServerDatabase, TestViewer};

/// The stored codes of the cards, in the order of [`CARDS`], by which hands are sorted.
const CODES: &str = "A23456789TJQK*";

/// A stored game, secrets included.
#[derive(Clone, PartialEq)]
pub struct GameSecrets {
    pub snapshot: Value,
    /// What clients attached.
    pub data: Value,
    /// The version, the action or null, and the events, in order.
    pub log: Vec<(i64, Value, Value)>,
}

impl GameSecrets {
    pub fn read(database: &ServerDatabase, id: &str) -> GameSecrets {
        let json = |text: &str| serde_json::from_str(text).expect("JSON");
        let snapshot = database.sql(&format!("SELECT snapshot FROM games WHERE id = '{id}'"));
        let data = database.sql(&format!(
            "SELECT coalesce(data, 'null') FROM games WHERE id = '{id}'"
        ));
        let log = database.sql(&format!(
            "SELECT '[' || log.version || ',' || coalesce(action, 'null') || ',' || events || ']' \
             FROM log JOIN games ON games.row_id = log.game WHERE id = '{id}' ORDER BY log.version"
        ));
        let entry = |row: &String| serde_json::from_str(row).expect("an entry");
        GameSecrets {
            snapshot: json(&snapshot[0]),
            data: json(&data[0]),
            log: log.iter().map(entry).collect(),
        }
    }

    /// Stores it in a database that is not served.
    pub fn write(&self, database: &ServerDatabase, id: &str) {
        let literal = |json: &Value| match json {
            Value::Null => "NULL".to_owned(),
            json => format!("'{}'", json.to_string().replace('\'', "''")),
        };
        let (mut actions, mut events) = (String::new(), String::new());
        for (version, action, events_of_version) in &self.log {
            actions += &format!(" WHEN {version} THEN {}", literal(action));
            events += &format!(" WHEN {version} THEN {}", literal(events_of_version));
        }
        let change = |sql: &str, rows| assert_eq!(database.sql(sql).len(), rows);
        let [snapshot, data] = [&self.snapshot, &self.data].map(literal);
        let sql = format!(
            "UPDATE games SET snapshot = {snapshot}, data = {data} WHERE id = '{id}' RETURNING id"
        );
        change(&sql, 1);
        let sql = format!(
            "UPDATE log SET action = CASE version{actions} END, events = CASE version{events} END \
             WHERE game = (SELECT row_id FROM games WHERE id = '{id}') RETURNING version"
        );
        change(&sql, self.log.len());
    }

    /// Changes what was attached and this viewer cannot see.
    fn change_data(&mut self, viewer: TestViewer) {
        let own = match viewer {
            TestViewer::Host => return,
            TestViewer::Seat(seat) => Some(seat),
            TestViewer::Spectator => None,
        };
        let other = json!("{\"another\":\"text of another length\"}");
        if own.is_none() && self.data["game"].is_string() {
            self.data["game"] = other.clone();
        }
        let seats = self.data.get_mut("seats").and_then(Value::as_array_mut);
        let seats = seats.into_iter().flatten().enumerate();
        for (seat, data) in seats.filter(|(_, data)| data.is_object()) {
            if Some(seat) != own {
                data["text"] = other.clone();
            }
        }
    }

    /// Redeals all cards that this viewer cannot see: the other hands, the stock, and what others
    /// exchanged, in this round and in earlier ones. What is in the log is changed with them, so
    /// that the same game could have been played with these cards. What other teams say about giving
    /// up is changed, too.
    pub fn permute(&mut self, viewer: TestViewer, dice: &mut Dice) {
        let own = match viewer {
            TestViewer::Seat(seat) => Some(seat),
            TestViewer::Host | TestViewer::Spectator => None,
        };
        self.redeal(own, dice);
        self.change_data(viewer);
        let is_deal = |entry: &usize| what(&self.log[*entry].2[0]).0 == "cards_dealt";
        let mut starts: Vec<usize> = (0..self.log.len()).filter(is_deal).collect();
        starts.push(self.log.len());
        for round in starts.windows(2) {
            LoggedRound::new(self, round[0], round[1]).redeal_offers(self, own, dice);
        }
        let mut events = self.log.iter().rev().map(|(_, _, events)| &events[0]);
        let last = events.find(|event| what(event).0 != "forfeit_offered");
        self.snapshot["last_event"] = last.expect("a creation").clone();
        for team in (0..2).filter(|&team| own.is_none_or(|own| own % 2 != team)) {
            self.change_forfeits(team, dice);
        }
    }

    /// One of the team has said all that was said about giving up, and other things.
    fn change_forfeits(&mut self, team: usize, dice: &mut Dice) {
        let seat = team + 2 * dice.below(2);
        let mut gives_up = None;
        for (_, action, events) in &mut self.log {
            let is_forfeit = what(&events[0]).0 == "forfeit_offered";
            let by = action["seat"].as_u64().unwrap_or_default() as usize;
            if is_forfeit && by % 2 == team {
                let offered = dice.below(2) == 0;
                gives_up = Some(offered);
                for said in [action, what_mut(&mut events[0])] {
                    (said["seat"], said["offered"]) = (json!(seat), json!(offered));
                }
            }
        }
        if let Some(offered) = gives_up {
            let occupant = |one| {
                let gives_up = one == seat && offered;
                json!({"person": 0, "stand_in": false, "clock_acts": 0, "gives_up": gives_up})
            };
            if self.snapshot["occupants"].is_null() {
                self.snapshot["occupants"] = (0..6).map(occupant).collect();
            }
            for one in [team, team + 2] {
                self.snapshot["occupants"][one] = occupant(one);
            }
        }
    }

    pub fn seats(&self) -> usize {
        self.snapshot["seats"].as_array().expect("seats").len()
    }

    pub fn hand(&self, seat: usize) -> Vec<char> {
        cards(&self.snapshot["seats"][seat]["hand"])
    }

    fn set_hand(&mut self, seat: usize, hand: Vec<char>) {
        self.snapshot["seats"][seat]["hand"] = json!(sorted(hand));
    }

    /// Redeals the other hands and the stock. A seat knows where the card is that it gave its
    /// partner.
    fn redeal(&mut self, own: Option<usize>, dice: &mut Dice) {
        let mut pool = cards(&self.snapshot["stock"]);
        let mut known = vec![Vec::new(); self.seats()];
        let others = (0..self.seats()).filter(|&seat| Some(seat) != own);
        let others: Vec<usize> = others.collect();
        for &seat in &others {
            let mut hand = self.hand(seat);
            let state = &self.snapshot["seats"][seat];
            if own == Some(self.partner(seat)) && state["holds_received"] == true {
                let received = code(&state["received"]);
                take(&mut hand, received);
                known[seat].push(received);
            }
            pool.extend(hand);
        }
        shuffle(&mut pool, dice);
        for &seat in &others {
            let mut hand = std::mem::take(&mut known[seat]);
            let missing = self.hand(seat).len() - hand.len();
            hand.extend(pool.drain(..missing));
            self.set_hand(seat, hand);
        }
        self.snapshot["stock"] = json!(String::from_iter(pool));
    }

    fn partner(&self, seat: usize) -> usize {
        (seat + self.seats() / 2) % self.seats()
    }

    /// The members of the first event of this entry.
    fn first_event(&mut self, entry: usize) -> &mut Value {
        what_mut(&mut self.log[entry].2[0])
    }
}

/// What the log says about a round, seat by seat.
struct LoggedRound {
    /// The entry of its deal.
    deal: usize,
    /// Whether it is the last round, which the snapshot describes too.
    last: bool,
    /// The entry in which the seat offered a card to its partner.
    offer: Vec<Option<usize>>,
    /// The entry in which its pair swapped.
    swap: Vec<Option<usize>>,
    /// The cards it played or revealed.
    laid: Vec<Vec<char>>,
    /// Those cards, and the ones it still holds.
    all: Vec<Vec<char>>,
}

impl LoggedRound {
    fn new(game: &GameSecrets, deal: usize, end: usize) -> LoggedRound {
        let seats = game.seats();
        let mut round = LoggedRound {
            deal,
            last: end == game.log.len(),
            offer: vec![None; seats],
            swap: vec![None; seats],
            laid: vec![Vec::new(); seats],
            all: Vec::new(),
        };
        for entry in deal..end {
            for event in game.log[entry].2.as_array().expect("events") {
                let (kind, event) = what(event);
                let seat = event["seat"].as_u64().unwrap_or_default() as usize;
                match kind {
                    "card_offered" => round.offer[seat] = Some(entry),
                    "cards_swapped" => {
                        for given in event["given"].as_array().expect("a pair") {
                            let seat = given["seat"].as_u64().expect("a seat") as usize;
                            round.swap[seat] = Some(entry);
                        }
                    }
                    "card_played" => {
                        let id = event["move"].as_str().expect("a move's id");
                        let name = id.split([':', '=']).next().unwrap_or_default();
                        round.laid[seat].push(code(&json!(name)));
                    }
                    "hand_folded" => round.laid[seat].extend(cards(&event["cards"])),
                    _ => {}
                }
            }
        }
        round.all = round.laid.clone();
        if round.last {
            for (seat, all) in round.all.iter_mut().enumerate() {
                all.extend(game.hand(seat));
            }
        }
        round
    }

    /// Changes the offers of the other seats, and the deal with them.
    fn redeal_offers(&self, game: &mut GameSecrets, own: Option<usize>, dice: &mut Dice) {
        let pick = |cards: &[char], dice: &mut Dice| cards[dice.below(cards.len())];
        let others = (0..game.seats()).filter(|&seat| Some(seat) != own);
        // The cards that each seat received and offered, if any.
        let mut got: Vec<Option<char>> = vec![None; game.seats()];
        let mut laid_down = got.clone();
        for seat in 0..game.seats() {
            let partner = game.partner(seat);
            if let Some(entry) = self.swap[seat] {
                let seen = own.is_some_and(|own| own == seat || own == partner);
                let card = match seen {
                    true => given(&game.log[entry].2, partner),
                    false => pick(&self.all[seat], dice),
                };
                (got[seat], laid_down[partner]) = (Some(card), Some(card));
            } else if self.offer[seat].is_some() {
                laid_down[seat] = Some(pick(&self.all[seat], dice));
            }
        }
        for seat in others {
            let mut dealt = self.all[seat].clone();
            if let (Some(got), Some(gave)) = (got[seat], laid_down[seat]) {
                take(&mut dealt, got);
                dealt.push(gave);
            }
            game.first_event(self.deal)["hands"][seat] = json!(sorted(dealt));
            let Some(card) = laid_down[seat] else {
                continue;
            };
            let offer = self.offer[seat].expect("who laid down a card did so in an entry");
            game.first_event(offer)["card"] = name(card);
            game.log[offer].1["card"] = name(card);
            if let Some(entry) = self.swap[seat] {
                *given_mut(&mut game.log[entry].2, seat) = name(card);
            }
            if self.last && game.snapshot["phase"] != "deal" {
                let state = &mut game.snapshot["seats"][seat];
                state["answer"] = json!({"offered": name(card)});
                if let Some(got) = got[seat] {
                    state["received"] = name(got);
                    state["holds_received"] = json!(!self.laid[seat].contains(&got));
                }
            }
        }
    }
}

/// The kind of a stored event, and its members.
fn what(event: &Value) -> (&str, &Value) {
    let kinds = event["what"].as_object().expect("a stored event");
    let (kind, members) = kinds.iter().next().expect("a kind");
    (kind, members)
}

fn what_mut(event: &mut Value) -> &mut Value {
    let kinds = event["what"].as_object_mut().expect("a stored event");
    kinds.values_mut().next().expect("a kind")
}

/// The card that this seat gave, in the events of a swap.
fn given(events: &Value, seat: usize) -> char {
    code(given_mut(&mut events.clone(), seat))
}

fn given_mut(events: &mut Value, seat: usize) -> &mut Value {
    let mut events = events.as_array_mut().expect("events").iter_mut();
    let swap = events.find(|event| what(event).0 == "cards_swapped");
    let pair = what_mut(swap.expect("a swap"))["given"].as_array_mut();
    let mut pair = pair.expect("a pair").iter_mut();
    let given = pair.find(|given| given["seat"] == seat);
    &mut given.expect("one of the pair")["card"]
}

fn cards(text: &Value) -> Vec<char> {
    text.as_str().expect("a text of cards").chars().collect()
}

fn sorted(mut cards: Vec<char>) -> String {
    cards.sort_by_key(|&card| CODES.find(card));
    cards.into_iter().collect()
}

/// The stored code of a card's name.
fn code(name: &Value) -> char {
    let place = CARDS.iter().position(|card| name == card);
    CODES.chars().nth(place.expect("a card")).expect("its code")
}

fn name(code: char) -> Value {
    json!(CARDS[CODES.find(code).expect("a card's code")])
}

fn take(cards: &mut Vec<char>, card: char) {
    let place = cards.iter().position(|&other| other == card);
    cards.swap_remove(place.expect("the card is there"));
}

fn shuffle(cards: &mut [char], dice: &mut Dice) {
    for last in (1..cards.len()).rev() {
        cards.swap(last, dice.below(last + 1));
    }
}
