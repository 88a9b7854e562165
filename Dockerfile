# One image with all six programs: ingest, extractor, consolidator, query, gateway, eunoe.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make build

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates wget \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin eunoe \
 && install -d -o eunoe -g eunoe /data
COPY --from=build /src/bin/ingest /src/bin/extractor /src/bin/consolidator /src/bin/query /src/bin/gateway /src/bin/eunoe /usr/local/bin/
COPY --from=build /src/LICENSE /src/pkg/text/class/LICENSES /usr/share/doc/eunoe/
USER eunoe
WORKDIR /data
ENV EUNOE_HEALTH=0.0.0.0:8080 EUNOE_DATA=/data
EXPOSE 8080
CMD ["eunoe", "help"]
