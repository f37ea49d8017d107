# The commands of CONTRIBUTING.md, by just (https://just.systems).

_list:
    @just --list --unsorted

# runs the server
serve *OPTIONS:
    cargo run --release -- serve {{ OPTIONS }}

# runs all tests but the long suites, the long tests and those of dog-lab
test *OPTIONS:
    cargo test {{ OPTIONS }}

# runs the long suites too, in browsers, on PostgreSQL, of several nodes, and dog-lab
test-all *OPTIONS:
    cargo test-all {{ OPTIONS }}

# runs the long tests, and writes the generated files
test-long:
    cargo test-all -- --ignored

# runs those tests against a real server whose names contain NAME
http NAME:
    cargo test --test http {{ NAME }}

# checks the OpenAPI document and the examples, or some of them
clients *PARTS:
    tests/clients.sh {{ PARTS }}

# checks the page
page:
    tests/page.sh

# checks the files for operators and the workflows
deploy:
    tests/deploy.sh

# measures
bench NAME:
    cargo bench --bench {{ NAME }}

# runs what must pass before a change is merged, or parts of it: `just ci lint`
ci *PARTS:
    .ci/run {{ PARTS }}
