# The wheel and its environment. Compiler (ziglang, for want of cc), pip and caches stay in this stage.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
# The base's pip serves both environments: one of their own takes longer to install than what follows.
RUN python -m pip install --no-cache-dir --no-compile --target /opt/build hatchling ziglang
COPY pyproject.toml .
# Dependencies have a layer of their own, which a change of the sources leaves alone. CasADi emits the C of new kinds of
# vehicles, which nothing compiles in a container. Matplotlib draws the picture of
# `jounce demo`, mcap writes recordings, pytest tests servers; cmake, nbformat with all that it needs, and the folders serve parts of fmpy and numpy that are not used.
RUN python -m venv --without-pip /opt/venv \
    && python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
print(*(d for d in p['dependencies'] if not d.startswith(('casadi', 'matplotlib', 'mcap', 'pytest'))), sep='\n')" > /opt/requirements.txt \
    && python -m pip --python /opt/venv install --no-cache-dir --no-compile --requirement /opt/requirements.txt \
    && python -m pip --python /opt/venv uninstall --yes --quiet cmake nbformat fastjsonschema jsonschema \
        jsonschema-specifications jupyter-core platformdirs referencing rpds-py traitlets \
    && cd /opt/venv/lib/python3*/site-packages \
    && rm -rf fmpy/container_fmu fmpy/gui fmpy/remoting numpy/distutils numpy/f2py \
    && find . -type d -name tests -prune -exec rm -r {} + \
    && find . \( -name "*.dll" -o -name "*.dylib" -o -name "*.exe" -o -name "*.py[ix]" -o -name "*.px[di]" \) -delete
COPY . .
# The import keeps the bytecode of what a container loads: the probe would compile it every time.
RUN PYTHONPATH=/opt/build:$(echo /opt/venv/lib/python3*/site-packages) \
        python -m pip wheel --no-cache-dir --no-build-isolation --no-deps --wheel-dir /opt/wheels . \
    && python -m pip --python /opt/venv install --no-cache-dir --no-compile --no-deps /opt/wheels/*.whl \
    && rm -rf /root/.cache \
    && /opt/venv/bin/python -c "import jounce_tools.cli.health, jounce_service.server.server, jounce_client.examples.autopilot, \
jounce_client.examples.terramechanics"

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
