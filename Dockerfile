# The wheel and its environment. Compiler (ziglang, for want of cc), pip and caches stay in this stage.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/build && /opt/build/bin/pip install --no-cache-dir hatchling fmpy ziglang
COPY pyproject.toml .
# Dependencies have a layer of their own, which a change of the sources leaves alone. Of those, cmake and nbformat
# serve parts of fmpy that are not used, its remoting runs Windows FMUs, and matplotlib draws the picture of
# `jounce demo`.
RUN python -m venv /opt/venv \
    && python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
print(*p['dependencies'], *p['optional-dependencies']['metrics'], sep='\n')" > /opt/requirements.txt \
    && /opt/venv/bin/pip install --no-cache-dir --no-compile --requirement /opt/requirements.txt \
    && /opt/venv/bin/pip uninstall --yes --quiet cmake contourpy fonttools kiwisolver matplotlib nbformat pillow tzdata \
    && rm -r /opt/venv/lib/python3*/site-packages/fmpy/remoting \
    && find /opt/venv -type d \( -name tests -o -name __pycache__ \) -prune -exec rm -r {} + \
    && find /opt/venv \( -name "*.dll" -o -name "*.dylib" -o -name "*.exe" -o -name "*.pyi" \) -delete
COPY . .
RUN /opt/build/bin/pip wheel --no-cache-dir --no-build-isolation --no-deps --wheel-dir /opt/wheels . \
    && /opt/venv/bin/pip install --no-cache-dir --no-compile --no-deps /opt/wheels/*.whl \
    && /opt/venv/bin/pip uninstall --yes --quiet setuptools pip

FROM python:3.12-slim-bookworm
# The socket's folder is a volume, so that the rest of the file system may be read-only.
RUN groupadd --gid 10001 jounce \
    && useradd --uid 10001 --gid jounce --no-create-home --home-dir /nonexistent jounce \
    && install -d -o jounce -g jounce -m 0750 /run/jounce /var/lib/jounce
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 MPLCONFIGDIR=/tmp
USER 10001:10001
VOLUME ["/run/jounce", "/var/lib/jounce"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=20s CMD ["jounce", "health", "unix:/run/jounce/jounce.sock"]
ENTRYPOINT ["jounce"]
# A unix socket only: to listen on an address, give it with a certificate (docs/operations.md).
CMD ["serve", "--address=", "--socket-path=/run/jounce/jounce.sock"]
