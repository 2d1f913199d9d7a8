//! People of a design who report with Gaussian noise, in floats: for simulation only.

use super::Normals;
use crate::online::laws::{Design, DesignKind};

/// A stream of people, each with a record and a report.
pub(in crate::online) struct People {
    design: Design,
    optimum: Vec<f64>,
    normals: Normals,
    x: Vec<f64>,
    y: f64,
    noise: Vec<f64>,
}

impl People {
    pub(in crate::online) fn new(design: Design, seed: u64) -> Self {
        let optimum = design.optimum();
        let (x, noise) = (vec![1.0; design.dimension() + 1], vec![0.0; optimum.len()]);
        Self { design, optimum, normals: Normals::new(seed), x, y: 0.0, noise }
    }

    /// Another person, whose promise is `mu`.
    pub(in crate::online) fn next(&mut self, mu: f64) {
        let normals = &mut self.normals;
        self.x[1..].iter_mut().for_each(|x| *x = normals.next());
        let score: f64 = self.x.iter().zip(&self.optimum).map(|(x, b)| x * b).sum();
        self.y = match self.design.kind() {
            DesignKind::Linear => score + Design::SCALE * normals.next(),
            DesignKind::Logistic => f64::from(u8::from(normals.unit() * (1.0 + (-score).exp()) < 1.0)),
        };
        let scale = 2.0 * self.design.model().radius() / mu;
        if scale > 0.0 {
            self.noise.iter_mut().for_each(|noise| *noise = scale * normals.next());
        }
    }

    /// What that person reports at `theta`.
    pub(in crate::online) fn report(&self, theta: &[f64], gradient: &mut [f64]) {
        self.signed_report(theta, 1.0, gradient);
    }

    /// The same with the noise times `sign`, 1 or -1: as likely a report.
    pub(in crate::online) fn signed_report(&self, theta: &[f64], sign: f64, gradient: &mut [f64]) {
        self.design.model().gradient(theta, &self.x, self.y, gradient);
        gradient.iter_mut().zip(&self.noise).for_each(|(g, noise)| *g += sign * noise);
    }

    /// Uniform on [0, 1), for whoever has to be drawn otherwise.
    pub(in crate::online) fn unit(&mut self) -> f64 {
        self.normals.unit()
    }

    /// Where the published simulations begin: zero, and one for the scale.
    pub(in crate::online) fn start(&self) -> Vec<f64> {
        self.design.model().start()
    }

    pub(in crate::online) fn optimum(&self) -> &[f64] {
        &self.optimum
    }
}

pub(in crate::online) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}
