# The container image from source: docker build -t andon . (30 minutes of one core; docs/docker.md). Same files, user and command as the
# image that ./dev release makes.
FROM docker.io/library/rust:1.93-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends cmake nasm libclang-dev python3 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# The linker takes the first libstdc++ that it finds, and in this folder is the static one only.
RUN mkdir /static && ln -s "$(c++ -print-file-name=libstdc++.a)" /static/
RUN cargo rustc --release --locked -p andon-cli --bin andon -- -C target-feature=+crt-static -L native=/static \
    && strip target/release/andon && packaging/image/root target/release/andon /root-of-image

FROM scratch
COPY --from=build /root-of-image/ /
USER 65532:65532
EXPOSE 8080 9180
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/andon"]
CMD ["serve", "--config", "/etc/andon/andon.toml"]
