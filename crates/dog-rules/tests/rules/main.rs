//! Tests of the rules: positions, cards, and the boards that the rule sheets expect.

mod attendance;
mod begun_sevens;
mod deal;
mod exchange;
mod game;
mod jacks;
mod lists;
mod movement;
mod naive;
mod options;
mod paths;
mod people;
mod playouts;
mod plays;
mod position;
mod properties;
mod random;
mod random_games;
mod random_people;
mod rare;
mod record;
mod refusals;
mod rounds;
mod sevens;
mod shuffle;
mod worked_cases;
