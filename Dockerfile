# The command and the Python package in an image: docker build -t flymc . && docker run --rm -v "$PWD":/data flymc fit ...
FROM debian:12-slim AS wheel
COPY . /flymc
WORKDIR /flymc
RUN bash .ci/setup && release/wheel

FROM python:3.13-slim
COPY --from=wheel /flymc/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl && useradd --create-home --uid 1000 flymc
USER 1000
WORKDIR /data
ENTRYPOINT ["flymc"]
