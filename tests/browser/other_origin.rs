//! A page of another site uses the API: with all origins allowed it can do what a program can.

use serde_json::json;

use crate::support::{italian, open_alone};

/// Plays the first move of the list, and whatever is asked for in the exchange, until the game is
/// over. Its arguments are the server and the body of the creation.
const PLAY: &str = "
const [server, body, done] = arguments;
const call = async (method, path, token, body) => {
  for (;;) {
    const headers = {};
    if (token) headers['Authorization'] = `Bearer ${token}`;
    if (body) headers['Content-Type'] = 'application/json';
    const answer = await fetch(server + path, {method, headers, body: body && JSON.stringify(body)});
    if (answer.status !== 429) return answer.json();
    const seconds = Number(answer.headers.get('Retry-After'));
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  }
};
const play = async () => {
  const {id, seat_tokens: tokens, host_token} = await call('POST', '/v1/games', null, body);
  const path = `/v1/games/${id}`;
  for (let wait = '';;) {
    const game = await call('GET', path + wait, tokens[0]);
    const choices = game.actions?.find((action) => action.route === 'swap')?.choices ?? [];
    wait = '';
    if (game.phase === 'finished') {
      return game.winner;
    } else if (game.phase === 'deal') {
      await call('POST', `${path}/deal`, host_token);
    } else if (choices.includes('card')) {
      const {hand} = game.seats[0];
      await call('POST', `${path}/swap`, tokens[0], {card: hand[0]});
    } else if (choices.includes('ask')) {
      await call('POST', `${path}/swap`, tokens[0], {ask: true});
    } else if (game.phase === 'play' && game.turn === 0) {
      const {moves} = await call('GET', `${path}/legal-moves`, tokens[0]);
      await call('POST', `${path}/play`, tokens[0], {move: moves[0].id});
    } else {
      wait = `?after_version=${game.version}`;
    }
  }
};
play().then((winner) => done(['won', winner]), (error) => done(['failed', String(error)]));
";

#[test]
fn a_page_of_another_origin_plays_a_game() {
    let (server, browser) = open_alone();
    // Both hosts are meant, so that no request is one to another host.
    let visitor = browser.another_at("http:/");
    let site = server.url().replace("127.0.0.1", "dog.home");
    // A document without the page's policy, which allows no other host.
    visitor.follow(&(site + "/healthz"));
    visitor.expect_message(&["favicon.ico"]);
    // On this machine such a page has the limits of an address.
    visitor.expect_message(&["429 (Too Many Requests)"]);
    let bot = json!({"kind": "bot", "level": "greedy"});
    let body = json!({
        "rules": italian(), "seats": [{"kind": "human"}, bot, bot, bot], "bot_pace_ms": 0,
        "first_dealer": 0,
    });
    let ended = visitor.script_async(PLAY, vec![json!(server.url()), body]);
    assert_eq!(ended[0], "won", "{ended}");
}
