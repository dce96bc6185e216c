# Winnow's image: the web server and the worker are the same image with different commands (docker-compose.yml).
# --build-arg REQUIREMENTS=requirements/models.lock makes the image of a worker that scores with models, several GB.
FROM python:3.12-slim AS build
ARG REQUIREMENTS=requirements/remote.lock
COPY requirements /build/requirements
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /build/$REQUIREMENTS && \
    cd /venv/lib/python3.*/site-packages && rm -rf $(grep -o '^[A-Za-z][^ ]*' /build/requirements/unused.txt)

FROM python:3.12-slim
RUN useradd --system --uid 10001 --home-dir /app winnow && install -d -o winnow /data /static
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 WINNOW_VAR=/data WINNOW_STATIC=/static \
    HF_HOME=/data/models/hub XDG_CACHE_HOME=/data/models/cache
WORKDIR /app
COPY manage.py ./
COPY config config
COPY annotation annotation
COPY benchmarks benchmarks
COPY workers workers
COPY templates templates
COPY static static
COPY docs docs
COPY client client
USER winnow
# The secret key that this step makes is not used again: production takes it from the environment.
RUN python manage.py collectstatic --no-input && rm -rf /data/secret_key
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "config.wsgi", "--config", "python:config.draining", "--bind", "0.0.0.0:8000", "--worker-class", "config.buffering.Worker", "--workers", "4", "--threads", "8", \
     "--keep-alive", "15", "--timeout", "120", "--max-requests", "20000", "--max-requests-jitter", "2000", "--no-control-socket"]
