//! Every listed move is legal, and every legal move leads to a board that is listed.

#![no_main]

use arbitrary::{Result, Unstructured};
use dog_rules::{
    Cards, Generator, LegalMove, Move, judge,
    notation::{CardUse, Parts},
};
use dog_server_fuzz::{any_move, board, hand, rules, seat};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // Bytes that give no position are skipped.
    let _ = position(&mut Unstructured::new(data));
});

fn position(u: &mut Unstructured) -> Result<()> {
    let rules = rules(u)?;
    let board = board(u, &rules)?;
    let seat = seat(u, &rules)?;
    let hand = hand(u)?;
    let mut generator = Generator::new();
    let listed = generator.legal_moves(&rules, &board, seat, hand);
    for LegalMove { mv, outcome } in &listed {
        let judged = judge::judge(&rules, &board, seat, hand, mv);
        assert_eq!(judged.as_ref(), Ok(outcome), "{mv}");
        assert_eq!(mv.to_string().parse().as_ref(), Ok(mv));
    }
    let every_card = Cards::deck(1);
    while !u.is_empty() {
        let mv = match u.ratio(1, 2)? {
            true => any_move(u, &rules, &board)?,
            false => {
                let listed = u.choose(&listed)?.mv;
                altered(u, listed)?
            }
        };
        let Ok(outcome) = judge::judge(&rules, &board, seat, every_card, &mv) else {
            continue;
        };
        let Move::Play { card, .. } = mv else {
            continue;
        };
        let mut leads_there = false;
        generator.each_of_card(&rules, &board, seat, card, |found| {
            let same = found.mv().announced() == mv.announced();
            leads_there |= same && *found.board == outcome.board;
        });
        assert!(leads_there, "nothing listed leads where {mv} leads");
    }
    Ok(())
}

/// A listed seven with two of its parts swapped; other moves unchanged.
fn altered(u: &mut Unstructured, mv: Move) -> Result<Move> {
    let Move::Play {
        card,
        rank,
        action: CardUse::Seven(parts),
    } = mv
    else {
        return Ok(mv);
    };
    let mut parts = parts.to_vec();
    let (one, other) = (u.choose_index(parts.len())?, u.choose_index(parts.len())?);
    parts.swap(one, other);
    let mut action = Parts::new();
    for part in parts {
        action.push(part);
    }
    Ok(Move::Play {
        card,
        rank,
        action: CardUse::Seven(action),
    })
}
