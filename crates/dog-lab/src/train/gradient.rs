//! Back-propagation and the optimiser Adam.

use std::ops::Range;

use dog_bot::net::{
    HIDDEN, HIDDEN_2, Hidden, LEAKY_SLOPE, Net, activate, add_rows, inputs::Input, probability,
};
use fearless_simd::{Level, Simd, dispatch};

use super::selfplay::{ALTERNATIVES, Samples, TrainingTarget};

/// The sum over samples of the gradient of the loss, in the shape of a net.
#[derive(Clone)]
pub struct Gradient {
    pub slopes: Net,
    /// The sum of the groups' mean losses: cross entropies between target and probability, in nats.
    pub loss: f64,
    /// The forward passes of a group's samples.
    passes: Vec<Pass>,
}

/// The forward pass of a sample: its inputs, its head, and the activations of both hidden layers.
#[derive(Clone)]
struct Pass {
    inputs: Range<usize>,
    head: usize,
    hidden: Hidden,
    second: [f32; HIDDEN_2],
}

/// The extra weight of differences within a group. They decide between choices, and the samples had
/// the same luck.
const WITHIN_GROUP_WEIGHT: f32 = 4.0;

impl Gradient {
    pub fn new(inputs: usize) -> Gradient {
        Gradient {
            slopes: Net::zero(inputs),
            loss: 0.0,
            passes: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        for weights in self.slopes.blocks_mut() {
            weights.fill(0.0);
        }
        self.loss = 0.0;
    }

    /// Adds the gradients of these groups of samples.
    pub fn add_groups(&mut self, net: &Net, samples: &Samples, which: &[u32]) {
        dispatch!(Level::new(), simd => {
            for &group in which {
                self.add_group(simd, net, samples, samples.groups[group as usize].clone());
            }
        });
    }

    /// Adds the gradient of another thread.
    pub fn add(&mut self, other: &Gradient) {
        for (own, other) in self.slopes.blocks_mut().zip(other.slopes.blocks()) {
            for (own, other) in own.iter_mut().zip(other) {
                *own += other;
            }
        }
        self.loss += other.loss;
    }

    /// Adds the gradient of a group. What its samples have in common counts as one sample, their
    /// differences count [`WITHIN_GROUP_WEIGHT`] times as much.
    #[inline(always)]
    fn add_group<S: Simd>(&mut self, simd: S, net: &Net, samples: &Samples, group: Range<usize>) {
        let count = group.len() as f32;
        let (mut errors, mut sum) = ([0.0; ALTERNATIVES], 0.0);
        self.passes.clear();
        for (target, error) in samples.targets[group].iter().zip(&mut errors) {
            let TrainingTarget {
                inputs,
                head,
                chance: expected,
            } = target;
            let net_head = &net.heads[*head];
            let mut hidden = net.first_bias;
            add_rows(
                simd,
                &mut hidden,
                &net.first,
                &samples.inputs[inputs.clone()],
            );
            activate(simd, &mut hidden);
            let mut second = net_head.second_sums(simd, &hidden);
            activate(simd, &mut second);
            let chance = probability(net_head.output(&second));
            self.loss += loss(chance, *expected) / f64::from(count);
            *error = chance - expected;
            sum += *error;
            self.passes.push(Pass {
                inputs: inputs.clone(),
                head: *head,
                hidden,
                second,
            });
        }
        let mean = sum / count;
        let passes = std::mem::take(&mut self.passes);
        for (pass, error) in passes.iter().zip(errors) {
            let slope = mean / count + WITHIN_GROUP_WEIGHT * (error - mean);
            self.add_pass(simd, net, &samples.inputs[pass.inputs.clone()], pass, slope);
        }
        self.passes = passes;
    }

    #[inline(always)]
    fn add_pass<S: Simd>(&mut self, _: S, net: &Net, inputs: &[Input], pass: &Pass, slope: f32) {
        let Pass {
            head,
            hidden,
            second,
            ..
        } = pass;
        let (net_head, slopes) = (&net.heads[*head], &mut self.slopes);
        let head_slopes = &mut slopes.heads[*head];
        head_slopes.last_bias += slope;
        let mut second_slopes = [0.0; HIDDEN_2];
        for unit in 0..HIDDEN_2 {
            head_slopes.last[unit] += slope * second[unit];
            second_slopes[unit] = slope * net_head.last[unit] * through(second[unit]);
            head_slopes.second_bias[unit] += second_slopes[unit];
        }
        let mut hidden_slopes: Hidden = [0.0; HIDDEN];
        let rows = net_head.second.iter().zip(head_slopes.second.iter_mut());
        for ((unit_slope, &unit), (row, slopes)) in hidden_slopes.iter_mut().zip(hidden).zip(rows) {
            // Eight sums side by side fit vector registers.
            let mut sums = [0.0; 8];
            let parts = second_slopes.chunks_exact(8).zip(row.chunks_exact(8));
            for ((second_slopes, row), slopes) in parts.zip(slopes.chunks_exact_mut(8)) {
                for lane in 0..8 {
                    sums[lane] += second_slopes[lane] * row[lane];
                    slopes[lane] += second_slopes[lane] * unit;
                }
            }
            *unit_slope = sums.iter().sum::<f32>() * through(unit);
        }
        for (slope, unit_slope) in slopes.first_bias.iter_mut().zip(&hidden_slopes) {
            *slope += unit_slope;
        }
        for input in inputs {
            let row = &mut slopes.first[usize::from(input.index)];
            for (slope, unit_slope) in row.iter_mut().zip(&hidden_slopes) {
                *slope += input.value * unit_slope;
            }
        }
    }
}

/// The derivative of the activation, from its value.
#[inline(always)]
fn through(unit: f32) -> f32 {
    if unit > 0.0 { 1.0 } else { LEAKY_SLOPE }
}

fn loss(chance: f32, target: f32) -> f64 {
    let (chance, target) = (f64::from(chance).clamp(1e-6, 1.0 - 1e-6), f64::from(target));
    -(target * chance.ln() + (1.0 - target) * (1.0 - chance).ln())
}

/// The optimiser Adam: steps along the mean gradient, scaled by its size.
#[derive(Clone)]
pub struct Adam {
    pub mean: Net,
    pub square: Net,
    pub steps: u64,
}

impl Adam {
    const MEAN_DECAY: f32 = 0.9;
    const SQUARE_DECAY: f32 = 0.999;
    const EPSILON: f32 = 1e-8;

    pub fn new(inputs: usize) -> Adam {
        Adam {
            mean: Net::zero(inputs),
            square: Net::zero(inputs),
            steps: 0,
        }
    }

    /// One step of this length against the mean gradient over this many samples.
    pub fn step(&mut self, net: &mut Net, gradient: &Gradient, samples: usize, length: f32) {
        self.steps += 1;
        let age = self.steps.min(1_000_000) as i32;
        let mean_share = 1.0 - Adam::MEAN_DECAY.powi(age);
        let square_share = 1.0 - Adam::SQUARE_DECAY.powi(age);
        let scale = 1.0 / samples as f32;
        let blocks = net
            .blocks_mut()
            .zip(gradient.slopes.blocks())
            .zip(self.mean.blocks_mut().zip(self.square.blocks_mut()));
        for ((weights, slopes), (means, squares)) in blocks {
            dispatch!(Level::new(), _simd => {
                let moments = means.iter_mut().zip(squares.iter_mut());
                for ((weight, slope), (mean, square)) in weights.iter_mut().zip(slopes).zip(moments) {
                    let slope = slope * scale;
                    *mean = Adam::MEAN_DECAY * *mean + (1.0 - Adam::MEAN_DECAY) * slope;
                    *square = Adam::SQUARE_DECAY * *square + (1.0 - Adam::SQUARE_DECAY) * slope * slope;
                    let size = (*square / square_share).sqrt() + Adam::EPSILON;
                    *weight -= length * (*mean / mean_share) / size;
                }
            });
        }
    }
}
