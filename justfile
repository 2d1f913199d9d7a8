# What one does here. `just` lists it.
_default:
    @just --list

# The whole story over HTTP
demo *ARGS:
    cargo run --release -- demo {{ARGS}}

# Everything that has to pass before a merge
test:
    ./test

# Formatting and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# What labels, noise, numbers and vectors cost, in words of the same generator
bench:
    cargo bench -p undertone-privacy --bench labels
    cargo bench -p undertone-privacy --bench samplers

# What privatizing a table costs, beside copying it
bench-privatize *ROWS:
    cargo bench -p undertone --bench privatize -- {{ROWS}}

# Our exact samplers beside those of other crates, in the same run
bench-peers:
    cd bench-peers && cargo run --release

# Our linear models beside scikit-learn and Vowpal Wabbit, in the same run
bench-linear:
    bench-peers/linear/run

# The documentation, opened
doc:
    cargo doc --workspace --no-deps --open
