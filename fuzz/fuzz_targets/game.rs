//! Legal and illegal actions on a game: none panics, and a refused one changes nothing.

#![no_main]

use arbitrary::{Result, Unstructured};
use dog_rules::{Action, Game, Move, Phase, Player, Seed, Setup};
use dog_server_fuzz::{any_move, card, rules, seat};
use libfuzzer_sys::fuzz_target;

/// The number of actions after which a game is abandoned.
const ACTIONS: usize = 400;

fuzz_target!(|data: &[u8]| {
    // The game ends when the input is used up.
    let _ = play(&mut Unstructured::new(data));
});

fn play(u: &mut Unstructured) -> Result<()> {
    let rules = rules(u)?;
    let player = Player::human("");
    let mut game = Game::new(Setup {
        players: vec![player; usize::from(rules.seats)],
        first_dealer: match u.arbitrary()? {
            true => Some(seat(u, &rules)?),
            false => None,
        },
        rules,
        seed: Seed::new(u.arbitrary()?),
        seed_given: u.arbitrary()?,
        must_confirm: Vec::new(),
    });
    for _ in 0..ACTIONS {
        let in_order = game.phase() != Phase::Finished && u.ratio(3, 4)?;
        let action = match in_order {
            true => in_order_action(u, &game)?,
            false => any_action(u, &game)?,
        };
        let before = game.clone();
        match game.apply(&action) {
            Ok(events) => {
                assert!(!events.is_empty());
                assert_eq!(game.version(), before.version() + 1);
            }
            Err(refusal) => {
                assert!(!in_order, "{action:?} is refused: {refusal}");
                assert_eq!(game, before, "{refusal}, but the game has changed");
            }
        }
        if game.phase() == Phase::Finished && u.ratio(1, 4)? {
            break;
        }
    }
    Ok(())
}

/// An action that the phase asks for.
fn in_order_action(u: &mut Unstructured, game: &Game) -> Result<Action> {
    let seats: Vec<_> = game.seats_to_act().collect();
    let actions = game.legal_actions(*u.choose(&seats)?);
    u.choose(&actions).cloned()
}

fn any_action(u: &mut Unstructured, game: &Game) -> Result<Action> {
    let seat = seat(u, game.rules())?;
    Ok(match u.int_in_range(0..=8)? {
        0 => Action::Deal {
            by: Some(seat).filter(|_| seat.number() > 0),
        },
        1 => Action::Offer {
            seat,
            card: card(u)?,
        },
        2 => Action::Decline { seat },
        3 => Action::Ask { seat },
        8 => Action::Pass { seat },
        4 => Action::ReissueToken { seat },
        5 => Action::Play {
            seat,
            mv: Move::Fold,
        },
        _ => {
            let seat = game.turn().unwrap_or(seat);
            let mv = any_move(u, game.rules(), game.board())?;
            Action::Play { seat, mv }
        }
    })
}
