//! What a list differs by from a base, against a plain count of both.

use super::*;
use crate::net::evaluator::IncrementalSums;

/// Inputs of a list, each as often as it is there; 0 of those that are not.
fn counted(inputs: usize, list: &[Input]) -> Vec<f32> {
    let mut values = vec![0.0; inputs];
    for input in list {
        values[usize::from(input.index)] += input.value;
    }
    values
}

/// As [`random_inputs`], with values of which sums are exact, so that nothing is a matter of
/// rounding.
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
    // Bases one after the other, of nets of different sizes: nothing stays of those before.
    for base in 0..200 {
        let inputs = [40, 90, 60][base % 3];
        let base = exact_inputs(inputs, &mut rng);
        differences.begin(inputs, &base);
        for _ in 0..5 {
            let mut list = base.clone();
            list.truncate(rng.random_range(0..=base.len()));
            list.extend(exact_inputs(inputs, &mut rng).into_iter().take(3));
            let found = differences.of(&list);
            fewer += u32::from(found.len() < list.len());
            let mut sums = counted(inputs, &base);
            for (sum, more) in sums.iter_mut().zip(counted(inputs, found)) {
                *sum += more;
            }
            assert_eq!(sums, counted(inputs, &list));
        }
        assert!(differences.of(&base).len() <= twice(&base));
    }
    assert!(fewer > 200, "{fewer}");
}

/// A thinker looks at more lists than can be counted: none is taken for one of long ago.
#[test]
fn lists_are_told_apart_when_their_numbers_come_again() {
    let list = [Input {
        index: 3,
        value: 1.0,
    }];
    let mut differences = IncrementalSums::default();
    differences.begin(10, &list);
    differences.lists = u32::MAX;
    assert!(differences.of(&list).is_empty());
}

/// How many entries of a list are of inputs that are there more than once.
fn twice(list: &[Input]) -> usize {
    let same = |input: &&Input| {
        list.iter()
            .filter(|other| other.index == input.index)
            .count()
            > 1
    };
    list.iter().filter(same).count()
}
