//! Any bytes are read as the headers that the service reads by hand, or refused.

#![no_main]

use dog_server::fuzz;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| fuzz::headers(value));
