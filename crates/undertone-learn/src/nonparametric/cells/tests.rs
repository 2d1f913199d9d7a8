//! What has to hold for cells of either sort.

use super::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// Uniform features, and a level that depends on the row.
fn rows(n: usize, numbers: usize, seed: u64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut unit = || rng.next_u64() as f64 / 2f64.powi(64);
    let mut values = Vec::new();
    for row in 0..n {
        values.extend((0..numbers).map(|axis| (unit() as f32).powi(1 + axis as i32)));
        values.push(f32::from(row % 3 == 0));
    }
    Rows::dense(numbers + 1, values)
}

fn sorts(rows: &Rows, mass: f64) -> [Partition; 2] {
    let axes = Axes::fit(rows).unwrap();
    [CellKind::Cubes, CellKind::EqualMass]
        .map(|kind| Partition::of_mass(kind, axes.clone(), rows, mass).unwrap())
}

/// How many rows lie in each node or below.
fn masses(partition: &Partition, rows: &Rows) -> Vec<usize> {
    let mut masses = vec![0; partition.nodes()];
    rows.iter().for_each(|row| masses[partition.locate(row)] += 1);
    for node in (1..partition.nodes()).rev() {
        masses[partition.parent(node)] += masses[node];
    }
    masses
}

#[test]
fn everybody_lies_in_a_leaf_and_parents_come_first() {
    let rows = rows(2000, 2, 1);
    for partition in sorts(&rows, 40.0) {
        let leaves = partition.leaves();
        assert!(rows.iter().all(|row| leaves[partition.locate(row)]));
        assert!((1..partition.nodes()).all(|node| partition.parent(node) < node));
        assert_eq!((partition.parent(0), partition.depth(0)), (0, 0));
        assert_eq!(masses(&partition, &rows)[0], 2000);
        assert!(masses(&partition, &rows).iter().all(|&mass| mass > 0));
    }
}

#[test]
fn cells_of_equal_mass_hold_at_least_the_mass_and_less_than_twice_as_much() {
    let rows = rows(3000, 5, 2);
    let partition = Partition::equal_mass(&rows, 50.0).unwrap();
    let masses = masses(&partition, &rows);
    for (leaf, &mass) in partition.leaves().iter().zip(&masses) {
        assert!(!leaf || (50..100).contains(&mass), "{mass}");
    }
}

#[test]
fn quartered_cubes_hold_a_quarter_of_an_axis_each_whatever_its_density() {
    let rows = rows(8000, 1, 3);
    let partition = Partition::cubes(&rows, 0.25).unwrap();
    let masses = masses(&partition, &rows);
    // Two levels of four parts: a third and two thirds of a quarter of 8000, within 5σ
    for (node, &mass) in masses.iter().enumerate().filter(|&(node, _)| partition.leaves()[node]) {
        let near = [667.0f64, 1333.0].iter().any(|expected| (mass as f64 - expected).abs() < 5.0 * 35.0);
        assert!(near, "{node}: {mass}");
    }
    assert_eq!(partition.leaves().iter().filter(|leaf| **leaf).count(), 8);
}

#[test]
fn truncating_gives_the_ancestors() {
    let rows = rows(2000, 2, 4);
    let cubes = Partition::cubes(&rows, 0.25).unwrap();
    for partition in sorts(&rows, 20.0).into_iter().chain([cubes]) {
        for depth in 0..=partition.deepest() {
            let coarse = partition.clone().truncated(depth);
            assert_eq!(coarse.deepest(), depth);
            // Two rows share a coarse cell if and only if they share the ancestor of that depth.
            let ancestor = |row| {
                let mut node = partition.locate(row);
                while partition.depth(node) > depth {
                    node = partition.parent(node);
                }
                node
            };
            let mut seen = std::collections::BTreeMap::new();
            for row in rows.iter() {
                assert_eq!(*seen.entry(coarse.locate(row)).or_insert(ancestor(row)), ancestor(row));
            }
        }
    }
}

#[test]
fn a_level_that_nobody_had_backs_off_to_an_ancestor() {
    let seen = Rows::dense(
        3,
        (0..300u16).flat_map(|i| [f32::from(i), f32::from(i % 2), f32::from(i % 2 == 0)]).collect(),
    );
    let partition = Partition::cubes(&seen, 0.1).unwrap();
    let stranger = Rows::dense(3, vec![150.0, 0.0, 0.0]);
    let found = partition.locate(stranger.get(0));
    let known = Rows::dense(3, vec![150.0, 0.0, 1.0]);
    let mut node = partition.locate(known.get(0));
    assert!(partition.depth(node) > 1);
    while partition.depth(node) > 1 {
        node = partition.parent(node);
    }
    // Those whose first level is the same
    assert_eq!((partition.depth(found), found), (1, node));
}

#[test]
fn cells_read_back_as_themselves_and_nonsense_is_refused() {
    let rows = rows(500, 2, 5);
    for partition in sorts(&rows, 20.0) {
        let text = serde_json::to_string(&partition).unwrap();
        let again: Partition = serde_json::from_str(&text).unwrap();
        assert_eq!((&again, serde_json::to_string(&again).unwrap()), (&partition, text));
    }
    let tree = serde_json::to_string(&sorts(&rows, 100.0)[1]).unwrap();
    let broken = tree.replacen("\"children\":1", "\"children\":4000", 1);
    assert!(serde_json::from_str::<Partition>(&broken).is_err());
}

#[test]
fn widths_and_grids_that_cannot_be_are_refused() {
    let rows = rows(100, 8, 6);
    assert!(Partition::cubes(&rows, 1.0).unwrap_err().to_string().contains("width of a cell is 1"));
    assert!(Partition::cubes(&rows, 0.001).unwrap_err().to_string().contains("bits"));
    assert!(Partition::equal_mass(&rows, 0.0).is_err());
}
