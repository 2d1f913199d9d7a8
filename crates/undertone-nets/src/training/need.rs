//! What training takes of memory, counted before anybody is gathered.

use super::Training;
use super::lane::{LANES, part, together};
use super::pieces::longest;
use crate::network::Network;

/// Vectors as long as all weights beside the gradients of the lanes: what training begins with, the weights, the last step, the best
/// weights, the latter three again as a checkpoint is written, and those of a network before it.
const VECTORS: usize = 8;
/// Places of people, in the data and in the order in which an epoch sees them.
const PLACES: usize = 3;

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Everybody's features and what their reports say, as plain numbers
    pub people: u64,
    /// What layers compute of the parts of a batch, and of as many people who judge, with the slopes
    pub batch: u64,
    /// Weights, steps and gradients
    pub weights: u64,
}

impl Need {
    /// To train a network on so many people, of whom those who judge are some.
    pub fn new(network: &Network, training: &Training, people: u64) -> Self {
        let numbers = network.inputs() + 2 * network.outputs();
        let of_person = size_of::<f32>() * numbers + size_of::<usize>() * PLACES;
        let batch = longest(people.max(1) as usize, training.batch);
        let lanes = LANES.saturating_mul(network.tape(longest(batch, part(network, batch))));
        let judges = rayon::current_num_threads() * network.tape(together(network, people as usize));
        let floats = |count: usize| (size_of::<f32>() as u64).saturating_mul(count as u64);
        Self {
            people: people.saturating_mul(of_person as u64),
            batch: floats(lanes.saturating_add(judges)),
            weights: floats((LANES + VECTORS).saturating_mul(network.weights())),
        }
    }

    /// Altogether.
    pub fn bytes(&self) -> u64 {
        self.people.saturating_add(self.batch).saturating_add(self.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Image, Mode};
    use crate::network::Tape;
    use crate::{Architecture, Loss};

    fn networks() -> [Network; 4] {
        let image = Image { height: 28, width: 28, channels: 1 };
        [
            Architecture::Mlp { inputs: 784, hidden: vec![256, 128] },
            Architecture::SmallCnn { image },
            Architecture::Inception { image, narrower: 4 },
            Architecture::Rating { people: 100, things: 50, width: 8 },
        ]
        .map(|architecture| architecture.network(10).unwrap())
    }

    #[test]
    fn a_tape_takes_what_was_counted() {
        for network in networks() {
            for examples in [1, 7, 64] {
                let (mut tape, weights) = (Tape::new(&network, examples), network.initial(1));
                network.forward(&weights, &mut tape, Mode::Training);
                network.backward(&weights, &mut tape, &mut vec![0.0; weights.len()]);
                assert_eq!(tape.numbers(), network.tape(examples), "{examples} of {network:?}");
            }
        }
    }

    #[test]
    fn a_need_grows_with_people_batch_and_weights() {
        let training = |batch| Training { batch, loss: Loss::Forward, ..Training::as_published(1, 1) };
        let [mlp, cnn, ..] = networks();
        let need = |network: &Network, batch, people| Need::new(network, &training(batch), people);
        let few = need(&mlp, 256, 1000);
        // 784 features, 10 numbers of the report, 10 probabilities where they judge, and three places
        assert_eq!(few.people, 1000 * (4 * (784 + 20) + 24));
        assert_eq!(few.weights, 4 * 12 * mlp.weights() as u64);
        assert_eq!(few.bytes(), few.people + few.batch + few.weights);
        assert!(need(&mlp, 256, 2000).people == 2 * few.people && need(&mlp, 16, 1000).batch < few.batch);
        assert!(need(&cnn, 256, 1000).batch > few.batch);
        assert_eq!(need(&mlp, 256, u64::MAX).bytes(), u64::MAX);
    }
}
