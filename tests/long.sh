#!/usr/bin/env bash
# Runs some of the tests that take long each, which `cargo test` leaves out. Fails if one does not
# exist.
#
# usage: tests/long.sh http|browser
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
  http)
    targets=(--lib --test http)
    names=(
      tests::advice_depends_on_nothing_hidden_in_longer_games
      tests::advice_is_legal_in_very_many_positions
      tests::copying::a_source_is_locked_while_it_is_copied
      bots::six_bots_play_a_game_to_the_end_by_themselves
      example_bot::four_of_them_play_by_every_preset
      example_script::it_plays_a_whole_game_under_each_preset
      faults::a_locked_database_refuses_writes_until_it_is_free
      faults::games_alone_do_not_fill_a_disk
      leaks::with_an_optional_exchange
      metrics::games_are_counted_again
      nginx::a_whole_game_goes_through_it
      permuted::with_a_mandatory_exchange_of_six
      permuted::with_an_optional_exchange
      presence::a_long_poll_and_a_ticket_make_a_seat_present
      presence::a_seat_stays_present_for_a_moment
      quick_join::after_a_minute_ghosts_lose_their_seats_and_bots_come
      quick_join::nobody_loses_the_seat_by_a_restart
      quick_join::people_who_never_came_do_not_hold_up_the_game
      readme::the_curl_block_plays_a_whole_game
      readme::the_flows_of_tables_print_what_they_say
      reference_checker::it_finds_no_difference_in_whole_games
      review::a_review_goes_on_after_a_kill
      stream::a_broken_stream_is_resumed_to_the_end
      stream::a_quiet_stream_is_kept_alive
      wait::waiting_ends
      whole_games::dogspiel_de
      whole_games::six_seats_with_every_variant
    )
    ;;
  browser)
    targets=(--test browser_games)
    names=(
      games::hausregeln
      games::six_seats
    )
    ;;
  *) echo 'usage: tests/long.sh http|browser' >&2 && exit 2 ;;
esac

# tests OPTION…: those with these names.
tests() {
  cargo test --locked "${targets[@]}" -- --ignored --exact "${names[@]}" "$@"
}

diff <(printf '%s: test\n' "${names[@]}" | sort) <(tests --list | grep ': test$' | sort)
tests
