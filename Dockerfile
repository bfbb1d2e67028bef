# The service, without tables: these are mounted, and only read.
#
#   docker build --tag shashki .
#   docker run --publish 8000:8000 --volume "$PWD/data:/tables:ro" --volume shashki:/var/cache/shashki \
#     --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges shashki
FROM python:3.13-slim AS build
# Of the workers of a cluster: cluster,s3 (compose.yaml).
ARG EXTRAS=serve,fast
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY data/LICENSE data/LICENSE
COPY tablebase tablebase
COPY generator generator
COPY server server
RUN python -m venv /opt/shashki && /opt/shashki/bin/pip install --no-cache-dir ".[$EXTRAS]"

FROM python:3.13-slim
COPY --from=build /opt/shashki /opt/shashki
# Kernels are compiled when the first container starts, for the processor that it runs on, and kept in a volume.
RUN useradd --system --uid 10001 --no-create-home shashki && install --directory --owner shashki /var/cache/shashki
USER shashki
ENV SHASHKI_DATA=/tables SHASHKI_KERNEL_CACHE=/var/cache/shashki
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=120s CMD \
  ["/opt/shashki/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["/opt/shashki/bin/shashki", "serve", "--host", "0.0.0.0"]
CMD ["--workers", "2"]
