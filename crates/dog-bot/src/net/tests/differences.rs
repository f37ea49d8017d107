//! The differences of a list from a base, compared with a plain count of both.

use super::*;
use crate::net::evaluator::IncrementalSums;

/// How often each input is in a list.
fn counted(inputs: usize, list: &[Input]) -> Vec<f32> {
    let mut values = vec![0.0; inputs];
    for input in list {
        values[usize::from(input.index)] += input.value;
    }
    values
}

/// As [`random_inputs`], with values whose sums are exact, so that rounding does not matter.
fn exact_inputs(inputs: usize, rng: &mut impl Rng) -> Vec<Input> {
    let mut list = random_inputs(inputs, rng);
    for input in &mut list {
        input.value = (4.0 * input.value).round() / 4.0;
    }
    list
}

#[test]
fn base_and_differences_are_the_list() {
    let mut rng = rng(11);
    let mut differences = IncrementalSums::default();
    let mut fewer = 0;
    // Several bases, of nets of different sizes: nothing remains of earlier ones.
    for base in 0..200 {
        let inputs = [40, 90, 60][base % 3];
        let base = exact_inputs(inputs, &mut rng);
        differences.begin(inputs, &base);
        for _ in 0..5 {
            let mut list = base.clone();
            list.truncate(rng.random_range(0..=base.len()));
            list.extend(exact_inputs(inputs, &mut rng).into_iter().take(3));
            let found = differences.differences(&list);
            fewer += u32::from(found.len() < list.len());
            let mut sums = counted(inputs, &base);
            for (sum, more) in sums.iter_mut().zip(counted(inputs, found)) {
                *sum += more;
            }
            assert_eq!(sums, counted(inputs, &list));
        }
        assert!(differences.differences(&base).len() <= twice(&base));
    }
    assert!(fewer > 200, "{fewer}");
}

/// A long search uses more lists than there are list numbers. An old list is never taken for a new
/// one.
#[test]
fn lists_differ_after_their_numbers_wrap() {
    let list = [Input {
        index: 3,
        value: 1.0,
    }];
    let mut differences = IncrementalSums::default();
    differences.begin(10, &list);
    differences.lists = u32::MAX;
    assert!(differences.differences(&list).is_empty());
}

/// The number of entries in a list whose input occurs more than once.
fn twice(list: &[Input]) -> usize {
    let same = |input: &&Input| {
        list.iter()
            .filter(|other| other.index == input.index)
            .count()
            > 1
    };
    list.iter().filter(same).count()
}
