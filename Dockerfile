# PostgreSQL with pgchunk, from the distribution's own packages.
#
#   docker build --tag pgchunk .
#   docker run --detach --env POSTGRES_PASSWORD=... --publish 127.0.0.1:5432:5432 --volume pgchunk:/var/lib/postgresql/data pgchunk
#
# The first start makes the database with the extension and its tables. POSTGRES_USER (postgres) and POSTGRES_DB (the
# user's name) choose others, as in the official image.
FROM debian:trixie-slim

RUN export DEBIAN_FRONTEND=noninteractive \
 && apt-get update -qq \
 && apt-get install -qq -y --no-install-recommends ca-certificates make postgresql-common \
 && sed -i "s/^#*create_main_cluster.*/create_main_cluster = false/" /etc/postgresql-common/createcluster.conf \
 && rm -rf /var/lib/apt/lists/*

COPY tools /usr/local/src/pgchunk/tools
RUN /usr/local/src/pgchunk/tools/deps && rm -rf /var/lib/apt/lists/*

COPY . /usr/local/src/pgchunk
RUN cd /usr/local/src/pgchunk \
 && make install \
 && rm -rf .venv build /root/.cache \
 && install -d -o postgres -g postgres -m 0700 /var/lib/postgresql/data

USER postgres
VOLUME /var/lib/postgresql/data
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/local/src/pgchunk/docker/entrypoint"]
