# Builds the server, then keeps only the binary.
FROM rust:1-slim-bookworm@sha256:f5b930229aa3a991d2ad65e358fc460719ddc404e5af6cb044d57215abce933e AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The dependencies and the libraries first: this layer lasts until they change. Cargo wants the files
# of the tests that the manifest names.
COPY .cargo .cargo
COPY Cargo.toml Cargo.lock build.rs ./
COPY benches benches
COPY crates crates
RUN mkdir src tests \
    && echo 'fn main() {}' > src/main.rs \
    && touch src/lib.rs \
    && touch tests/browser.rs tests/browser_games.rs tests/http_postgres.rs tests/nodes.rs \
    && cargo build --release --locked --package dog-server
COPY docs docs
COPY CHANGELOG.md ./
COPY examples examples
COPY openapi openapi
# The commit, for `dog --version`.
ARG DOG_REVISION
COPY src src
COPY web web
RUN touch src/main.rs src/lib.rs && cargo build --release --locked --package dog-server

FROM debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
LABEL org.opencontainers.image.title="dog-server" \
    org.opencontainers.image.description="The board and card game DOG as an HTTP JSON service" \
    org.opencontainers.image.licenses="MIT OR Apache-2.0"
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin dog \
    && mkdir /data \
    && chown dog:dog /data
COPY --from=build /src/target/release/dog /usr/local/bin/dog
USER dog
VOLUME /data
# The last two keep the heap small: docs/performance.md, memory.
ENV DOG_LISTEN=0.0.0.0:8080 \
    DOG_DATABASE=/data/dog.db \
    MALLOC_ARENA_MAX=4 \
    MALLOC_MMAP_THRESHOLD_=131072
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s CMD ["dog", "healthcheck"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["dog"]
CMD ["serve"]
