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

# What a surrogate's value and gradient cost, as a share of the multiply-adds of this processor
bench-surrogate:
    cargo bench -p undertone-learn --bench surrogate

# What privatizing a table costs, beside copying it
bench-privatize *ROWS:
    cargo bench -p undertone --bench privatize -- {{ROWS}}

# How far tables over three attributes are off and what they cost, method by method; TABLE.csv [binary] for one's own
bench-marginals *TABLE:
    cargo bench -p undertone-learn --bench marginals -- {{TABLE}}

# What the collector stores in a second, beside appending the same bytes to a file; MILLIONS of reports for the memory
bench-collect *MILLIONS:
    cargo bench -p undertone --bench collect -- {{MILLIONS}}

# What public features cost as they are made, and what is solved on them, beside products of matrices
bench-features:
    cargo bench -p undertone-represent --bench features

# How many images a second networks are trained on, beside products of matrices and PyTorch, and which layers take how much; cnn, mlp or inception for one
bench-training *NETWORKS:
    cargo bench -p undertone-nets --bench training -- {{NETWORKS}}

# The collector killed a hundred times under load, and ten million bodies from strangers
harm:
    UNDERTONE_KILLS=100 cargo test -p undertone --test program kills -- --nocapture
    UNDERTONE_CASES=10000000 cargo test -p undertone-collect --test accept -- --nocapture

# Our exact samplers beside those of other crates, in the same run
bench-peers:
    cd bench-peers && cargo run --release

# Our linear models beside scikit-learn and Vowpal Wabbit, in the same run
bench-linear:
    bench-peers/linear/run

# The documentation, opened
doc:
    cargo doc --workspace --no-deps --open
