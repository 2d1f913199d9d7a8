//! Vectors of a ball: gradients, moments, histograms, under each of the promises.
//!
//! A vector is first put on a public integer grid ([`Ball::clamp`]), then randomized. Which mechanism is best
//! depends on the promise: under pure ε the [`Codebook`] (up to ε = 3 within two per cent of PrivUnit, the optimum),
//! under μ-GDP or (ε, δ) the rounded [`Gaussian`], under zCDP the [`DiscreteGaussian`]. The coordinate-wise
//! [`Laplace`] is what the literature uses most and pays for it by a factor that grows with the dimension. The
//! mechanisms of [`simulated`] are in floats, and stay where they are.

mod additive;
mod ball;
mod codebook;
mod copies;
mod direction;
mod discrete_gaussian;
mod gaussian;
mod laplace;
mod point;
pub mod simulated;
pub mod sphere;
pub mod stream;
#[cfg(test)]
mod testing;
mod top_sum;
mod vector_report;

pub use additive::{Additive, Noise};
pub use ball::{Ball, BallVector, STEPS};
pub use codebook::{Codebook, CodebookReport};
pub use copies::GaussianCopies;
pub use discrete_gaussian::DiscreteGaussian;
pub use gaussian::Gaussian;
pub use laplace::Laplace;
pub use point::{NoisyPoint, PublicPoints};
pub use vector_report::{LARGEST_STEP, VectorReport};

use crate::kinds::kinds;
use crate::{Guarantee, PrivacyError, Randomizer, Unbiased};
use simulated::{SimulatedDuchi, SimulatedL2Laplace, SimulatedPrivUnit};

/// A randomizer of the vectors of a ball, with what a plan wants to know of it.
pub trait VectorRandomizer: Unbiased<Input = BallVector> {
    /// The ball its inputs come from.
    fn ball(&self) -> Ball;

    /// E|estimate − g|², summed over coordinates, for an input g of length `norm`.
    fn variance_at_norm(&self, norm: f64) -> f64;

    /// The scale of additive noise in the units of the data: b of a Laplace law, σ of a Gaussian one.
    fn noise_scale(&self) -> Option<f64> {
        None
    }

    /// γ, the cosine at which the likelier cap of the sphere begins.
    fn cap(&self) -> Option<f64> {
        None
    }

    /// Bytes of a report, always the same; none if no report may leave a device.
    fn report_bytes(&self) -> Option<usize> {
        None
    }
}

/// Declares the mechanisms: for each, its type, what people type, the promise it keeps and how it is built.
macro_rules! vector_mechanisms {
    ($($(#[$doc:meta])* $kind:ident($mechanism:ty) = $name:literal, $promise:pat => $new:expr;)*) => {
        kinds! {
            /// A vector mechanism by its name.
            VectorKind { $($(#[$doc])* $kind = $name,)* }
        }

        /// Any vector mechanism.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum VectorMechanism {
            $($(#[$doc])* $kind($mechanism),)*
        }

        impl VectorMechanism {
            /// The mechanism of this kind; an error if it keeps no promise of this currency.
            pub fn new(kind: VectorKind, ball: Ball, promise: Guarantee) -> Result<Self, PrivacyError> {
                match (kind, promise) {
                    $((VectorKind::$kind, $promise) => $new(ball).map(Self::$kind),)*
                    _ => Err(PrivacyError::WrongPromise { kind: kind.name(), given: promise.currency() }),
                }
            }

            /// Which one it is.
            pub fn kind(&self) -> VectorKind {
                match self { $(Self::$kind(_) => VectorKind::$kind,)* }
            }

            /// The promise it keeps.
            pub fn guarantee(&self) -> Guarantee {
                match self { $(Self::$kind(mechanism) => mechanism.guarantee(),)* }
            }

            /// See [`VectorRandomizer::ball`].
            pub fn ball(&self) -> Ball {
                match self { $(Self::$kind(mechanism) => mechanism.ball(),)* }
            }

            /// See [`VectorRandomizer::variance_at_norm`].
            pub fn variance_at_norm(&self, norm: f64) -> f64 {
                match self { $(Self::$kind(mechanism) => mechanism.variance_at_norm(norm),)* }
            }

            /// See [`VectorRandomizer::noise_scale`].
            pub fn noise_scale(&self) -> Option<f64> {
                match self { $(Self::$kind(mechanism) => mechanism.noise_scale(),)* }
            }

            /// See [`VectorRandomizer::cap`].
            pub fn cap(&self) -> Option<f64> {
                match self { $(Self::$kind(mechanism) => mechanism.cap(),)* }
            }

            /// See [`VectorRandomizer::report_bytes`].
            pub fn report_bytes(&self) -> Option<usize> {
                match self { $(Self::$kind(mechanism) => mechanism.report_bytes(),)* }
            }
        }
    };
}

vector_mechanisms! {
    /// Discrete Laplace noise on every coordinate
    Laplace(Laplace) = "laplace", Guarantee::Pure(epsilon) => (|ball| Laplace::new(ball, epsilon));
    /// Noise with density ∝ exp(-ε|z|/Δ): simulation only
    L2Laplace(SimulatedL2Laplace) = "l2-laplace",
        Guarantee::Pure(epsilon) => (|ball| Ok(SimulatedL2Laplace::new(ball, epsilon)));
    /// The exact Gaussian, rounded, calibrated to (ε, δ)
    Gaussian(Gaussian) = "gaussian",
        Guarantee::Approximate(epsilon, delta) => (|ball| Gaussian::analytic(ball, epsilon, delta));
    /// The exact Gaussian, rounded, calibrated to μ
    Gdp(Gaussian) = "gdp", Guarantee::Gaussian(mu) => (|ball| Gaussian::gdp(ball, mu));
    /// A half-sphere: simulation only
    Duchi(SimulatedDuchi) = "duchi", Guarantee::Pure(epsilon) => (|ball| Ok(SimulatedDuchi::new(ball, epsilon)));
    /// The best cap of the sphere: simulation only
    PrivUnit(SimulatedPrivUnit) = "privunit",
        Guarantee::Pure(epsilon) => (|ball| Ok(SimulatedPrivUnit::new(ball, epsilon)));
    /// The best codewords of a public codebook: the default under a pure promise
    Codebook(Codebook) = "codebook", Guarantee::Pure(epsilon) => (|ball| Codebook::new(ball, epsilon));
    /// The discrete Gaussian, calibrated to ρ
    DiscreteGaussian(DiscreteGaussian) = "discrete-gaussian",
        Guarantee::Concentrated(rho) => (|ball| DiscreteGaussian::new(ball, rho));
}

impl VectorMechanism {
    /// What a device runs unless a task says otherwise: of the kinds that keep this promise and may leave a device, the one
    /// with the least variance on the sphere. Under a pure promise that is the codebook until e^ε is far above the number
    /// of its codewords, where additive noise takes over.
    pub fn best(ball: Ball, promise: Guarantee) -> Result<Self, PrivacyError> {
        let safe = VectorKind::ALL.into_iter().filter(|kind| kind.is_device_safe());
        let built = safe.map(|kind| Self::new(kind, ball, promise));
        // Which kinds keep the promise is a matter of its currency; what else goes wrong is worth telling.
        let fits = built.filter(|built| !matches!(built, Err(PrivacyError::WrongPromise { .. })));
        let least = |best: Self, other: Self| {
            let on_sphere = |mechanism: &Self| mechanism.variance_at_norm(ball.radius());
            if on_sphere(&other) < on_sphere(&best) { other } else { best }
        };
        let wrong = Err(PrivacyError::WrongPromise { kind: "no mechanism", given: promise.currency() });
        fits.reduce(|best, other| match (best, other) {
            (Ok(best), Ok(other)) => Ok(least(best, other)),
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
            (Err(error), Err(_)) => Err(error),
        })
        .unwrap_or(wrong)
    }
}

impl VectorKind {
    /// Whether its reports may leave a device; the others are for simulation.
    pub fn is_device_safe(self) -> bool {
        match self {
            Self::Laplace | Self::Gaussian | Self::Gdp | Self::Codebook | Self::DiscreteGaussian => true,
            Self::L2Laplace | Self::Duchi | Self::PrivUnit => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{ball, delta, epsilon};
    use super::*;

    /// p, then ε, the variance of coordinate Laplace, l2-Laplace, Duchi, PrivUnit and the analytic Gaussian with
    /// δ = 10^-6 for a unit vector, then γ and P of PrivUnit, as printed in the specification.
    const PRINTED: [(usize, [f64; 8]); 20] = [
        (3, [0.5, 288.0, 192.0, 65.68, 63.67, 779.1, 0.1244, 0.5622]),
        (3, [1.0, 72.0, 48.0, 17.73, 15.67, 214.2, 0.2449, 0.6225]),
        (3, [2.0, 18.0, 12.0, 5.90, 3.68, 59.7, 0.4621, 0.7311]),
        (3, [3.0, 8.0, 5.3, 3.88, 1.48, 28.6, 0.6351, 0.8176]),
        (6, [0.5, 1152.0, 672.0, 143.61, 138.57, 1558.2, 0.0846, 0.5527]),
        (6, [1.0, 288.0, 168.0, 39.62, 34.48, 428.3, 0.1679, 0.6041]),
        (6, [2.0, 72.0, 42.0, 13.96, 8.46, 119.4, 0.3251, 0.6981]),
        (6, [3.0, 32.0, 18.7, 9.59, 3.64, 57.2, 0.4641, 0.7760]),
        (11, [0.5, 3872.0, 2112.0, 274.27, 264.20, 2856.7, 0.0614, 0.5491]),
        (11, [1.0, 968.0, 528.0, 76.32, 66.05, 785.3, 0.1221, 0.5969]),
        (11, [2.0, 242.0, 132.0, 27.47, 16.51, 218.9, 0.2390, 0.6848]),
        (11, [3.0, 107.6, 58.7, 19.15, 7.33, 104.9, 0.3465, 0.7580]),
        (21, [0.5, 14112.0, 7392.0, 535.98, 515.85, 5453.7, 0.0440, 0.5472]),
        (21, [1.0, 3528.0, 1848.0, 149.83, 129.31, 1499.2, 0.0876, 0.5932]),
        (21, [2.0, 882.0, 462.0, 54.53, 32.66, 417.9, 0.1724, 0.6777]),
        (21, [3.0, 392.0, 205.3, 38.32, 14.74, 200.2, 0.2521, 0.7482]),
        (101, [0.5, 326_432.0, 164_832.0, 2630.77, 2530.11, 26229.8, 0.0199, 0.5456]),
        (101, [1.0, 81608.0, 41208.0, 738.24, 635.68, 7210.6, 0.0396, 0.5901]),
        (101, [2.0, 20402.0, 10302.0, 271.17, 161.98, 2009.9, 0.0783, 0.6718]),
        (101, [3.0, 9067.6, 4578.7, 191.69, 74.13, 962.9, 0.1154, 0.7400]),
    ];

    #[test]
    fn the_variances_are_those_of_the_specification_to_its_last_digit() {
        for (p, [e, laplace, l2_laplace, duchi, priv_unit, gaussian, cap, probability]) in PRINTED {
            let (unit, e) = (ball(p), epsilon(e));
            let near = |what: &str, ours: f64, printed: f64, digit: f64| {
                // half a unit of the printed digit, and the rounding of noise scales to the grid
                let room = 0.5001 * digit + 2e-6 * printed;
                assert!((ours - printed).abs() <= room, "p = {p}, ε = {e}, {what}: {ours}, not {printed}");
            };
            near("laplace", Laplace::new(unit, e).unwrap().variance_at_norm(1.0), laplace, 0.1);
            near("l2-laplace", SimulatedL2Laplace::new(unit, e).variance_at_norm(1.0), l2_laplace, 0.1);
            near("duchi", SimulatedDuchi::new(unit, e).variance_at_norm(1.0), duchi, 0.01);
            let best = SimulatedPrivUnit::new(unit, e);
            near("privunit", best.variance_at_norm(1.0), priv_unit, 0.01);
            near("cap", best.cap().unwrap(), cap, 1e-4);
            near("probability", best.cap_probability(), probability, 1e-4);
            let analytic = Gaussian::analytic(unit, e, delta(1e-6)).unwrap();
            near("gaussian", analytic.variance_at_norm(1.0), gaussian, 0.1);
        }
    }

    #[test]
    fn the_codebook_stays_within_two_per_cent_of_the_optimum() {
        for (p, [e, ..]) in PRINTED {
            let best = SimulatedPrivUnit::new(ball(p), epsilon(e)).variance_at_norm(0.0);
            let ours = Codebook::new(ball(p), epsilon(e)).unwrap().variance_at_norm(0.0);
            assert!(ours > best && ours < best * 1.02, "p = {p}, ε = {e}: {ours} against {best}");
        }
    }

    #[test]
    fn the_best_mechanism_is_the_codebook_until_its_index_says_too_little() {
        let best = |promise| VectorMechanism::best(ball(6), promise).unwrap().kind();
        for e in [1e-6, 0.5, 1.0, 4.0, 8.0] {
            assert_eq!(best(Guarantee::Pure(epsilon(e))), VectorKind::Codebook, "{e}");
        }
        assert_eq!(best(Guarantee::Pure(epsilon(50.0))), VectorKind::Laplace);
        assert_eq!(best(Guarantee::Approximate(epsilon(1.0), delta(1e-6))), VectorKind::Gaussian);
        assert_eq!(best(Guarantee::Gaussian(crate::Mu::new(1.0).unwrap())), VectorKind::Gdp);
        assert_eq!(
            best(Guarantee::Concentrated(crate::Rho::new(1.0).unwrap())),
            VectorKind::DiscreteGaussian
        );
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in VectorKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("Laplace".parse::<VectorKind>().is_err());
        assert_eq!(VectorKind::ALL.iter().filter(|kind| kind.is_device_safe()).count(), 5);
    }
}
