"""FMI 3: each hostile call runs in its own process, which must end well with the instance unchanged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jounce_fmu.importer.host import Factory

BARE = ("l=ct.CDLL(LIBRARY); l.fmi3InstantiateModelExchange.restype=ct.c_void_p; "
        "l.fmi3InstantiateScheduledExecution.restype=ct.c_void_p; log=[]; "
        "cb=LOGGER(lambda e, s, c, m: log.append(m.decode())); z=ct.c_size_t(0); ")
RUN = "f=new(); f.ready(); assert f.step(0.0, 0.01) == OK; b=f.get('position velocity load', 5); "
SAME = "; assert f.get('position velocity load', 5) == b; assert f.step(0.01, 0.01) == OK, f.log"
TYPES = ("Float32", "Float64", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean",
         "String")
CASES = {
    "null token": "assert not Raw3(LIBRARY, None).instance",
    "wrong token": "f=Raw3(LIBRARY, '{0}'); assert not f.instance; assert 'token' in f.log[-1]",
    "token with a tail": "assert not Raw3(LIBRARY, TOKEN + ' ').instance",
    "half a token": "assert not Raw3(LIBRARY, TOKEN[:-3]).instance",
    "refused token without a logger": "assert not Raw3(LIBRARY, 'x', logger=False).instance",
    "refused token is logged with logging off": "assert Raw3(LIBRARY, 'x', logging=False).log",
    "null name": "assert not new(name=None).instance",
    "empty and blank name": "assert not new(name=b'').instance; assert not new(name=b' \\t\\n').instance",
    "long name": "f=new(name=b'n' * 1000000); f.ready(); f.free()",
    "odd resource path": "for r in (None, b'', b'/a b#c%41%/', bytes([0xc3, 0xa4, 0xff]), b'r' * 100000):\n"
    "  f=new(resources=r); f.ready(); f.free()",
    "intermediate variables": "f=new(intermediate=(1000, 7)); assert f.instance; "
        "assert '2 required intermediate variables are ignored' in f.log[-1]; f.ready(); "
        "assert f.step(0.0, 0.001) == OK",
    "model exchange with a wrong token": BARE + "assert not l.fmi3InstantiateModelExchange(b'a', b'x', None, False, "
    "True, None, cb); assert 'token' in log[0]",
    "model exchange with nulls": BARE + "assert not l.fmi3InstantiateModelExchange(None, None, None, False, True, "
    "None, None)",
    "scheduled execution": BARE + "assert not l.fmi3InstantiateScheduledExecution(b'a', TOKEN.encode(), None, False, "
    "True, None, cb, None, None, None); assert 'scheduled' in log[0]",
    "model exchange calls of a co-simulation": "n=ct.c_size_t; v=(ct.c_double * 2)(); b=ct.byref(ct.c_bool())\n"
    "for f in (new(), new(events=True)):\n"
    "  for g in (lambda: OK, f.enter, lambda: f.call('ExitInitializationMode')):\n"
    "    assert g() == OK; assert f.call('EnterContinuousTimeMode') == ERROR; "
    "assert f.call('SetTime', ct.c_double(0)) == ERROR\n"
    "    assert f.call('CompletedIntegratorStep', ct.c_bool(), b, b) == ERROR\n"
    "    for k in ('GetContinuousStates', 'SetContinuousStates', 'GetContinuousStateDerivatives', "
    "'GetEventIndicators', 'GetNominalsOfContinuousStates'): assert f.call(k, v, n(2)) == ERROR, k\n"
    "    assert f.call('GetNumberOfContinuousStates', ct.byref(n())) == ERROR\n"
    "assert f.call('EnterStepMode') == OK; assert f.step(0.0, 0.01) == OK",
    "model exchange out of order": "n=ct.c_size_t; v=(ct.c_double * 2)(); f=new(exchange=True)\n"
    "for k in ('EnterEventMode', 'EnterContinuousTimeMode', 'EnterStepMode', 'Terminate'): assert f.call(k) == ERROR\n"
    "assert f.call('GetContinuousStates', v, n(2)) == ERROR; f.ready(); assert f.call('EnterStepMode') == ERROR; "
    "assert 'for model exchange' in f.log[-1]; assert f.call('EnterEventMode') == ERROR; "
    "assert f.call('SetContinuousStates', v, n(2)) == ERROR; assert f.step(0.0, 0.01) == ERROR; "
    "assert f.call('EnterContinuousTimeMode') == OK; assert f.update()[0] == ERROR; assert f.step(0.0, 0.01) == ERROR; "
    "assert f.call('Terminate') == OK; assert f.call('SetTime', ct.c_double(1)) == ERROR; "
    "assert f.call('Reset') == OK; f.ready()",
    "model exchange with nulls, wrong sizes and numbers": "n=ct.c_size_t; v=(ct.c_double * 3)(); f=new(exchange=True); "
    "f.ready(); assert f.call('EnterContinuousTimeMode') == OK\n"
    "for k in ('GetContinuousStates', 'SetContinuousStates', 'GetContinuousStateDerivatives', "
    "'GetNominalsOfContinuousStates'):\n"
    "  assert f.call(k, None, n(2)) == ERROR\n"
    "  for m in (0, 1, 3, 2**64 - 1): assert f.call(k, v, n(m)) == ERROR, (k, m)\n"
    "for x in (NAN, INF, -INF):\n"
    "  v[0] = x; assert f.call('SetContinuousStates', v, n(2)) == ERROR; "
    "assert f.call('SetTime', ct.c_double(x)) == ERROR\n"
    "for k in ('ContinuousStates', 'EventIndicators'): assert f.call('GetNumberOf' + k, None) == ERROR\n"
    "assert f.call('CompletedIntegratorStep', ct.c_bool(), None, None) == ERROR; "
    "assert f.call('GetEventIndicators', v, n(1)) == ERROR; assert f.call('GetContinuousStates', v, n(2)) == OK; "
    "assert list(v)[:2] == [0.1, 0.0]",
    "a state of step mode in model exchange": "c=new(); c.ready(); f=new(exchange=True); f.ready(); "
    "assert f.load(c.save()) == ERROR; assert c.load(f.save()) == ERROR; "
    "assert f.call('EnterContinuousTimeMode') == OK",
    "null logger": "f=new(logger=False); f.ready(); assert f.step(0.0, NAN) == ERROR; f.free()",
    "null instance": "f=new(); f.instance=ct.c_void_p(); assert f.enter() == ERROR; assert f.step(0.0, 1.0) == ERROR\n"
    "for k in ('Reset', 'Terminate', 'EnterEventMode', 'EnterStepMode', 'EnterConfigurationMode', "
    "'EvaluateDiscreteStates', 'ExitInitializationMode'): assert f.call(k) == ERROR\n"
    "assert f.call('GetFMUState', None) == ERROR; assert f.set('force', 1.0) == ERROR; assert f.update()[0] == ERROR",
    "null value lists": RUN + f"\nfor t in {TYPES}:\n  for k in ('Get', 'Set'):\n"
    "    n=ct.c_size_t; assert f.call(k + t, None, n(3), None, n(3)) == ERROR\n"
    "    assert f.call(k + t, None, n(0), None, n(0)) == OK\n"
    "    r=(ct.c_uint * 1)(1000); assert f.call(k + t, r, n(1), None, n(1)) == ERROR\n"
    "    v=ct.create_string_buffer(64); assert f.call(k + t, None, n(1), v, n(1)) == ERROR\npass" + SAME,
    "null binary lists": RUN + "n=ct.c_size_t; assert f.call('GetBinary', None, n(2), None, None, n(2)) == ERROR; "
    "assert f.call('SetBinary', None, n(0), None, None, n(0)) == OK" + SAME,
    "lengths no memory can hold": RUN + "r=(ct.c_uint * 1)(1000); v=(ct.c_double * 1)(); n=ct.c_size_t\n"
    "for a, c in ((2**64 - 1, 2**64 - 1), (1, 2**64 - 1), (2**64 - 1, 1), (2**63, 2**63), (2**61, 2**61)):\n"
    "  for k in ('Get', 'Set'): assert f.call(k + 'Float64', r, n(a), v, n(c)) == ERROR, (a, c)\npass" + SAME,
    "more values than the references ask for": RUN + "r=(ct.c_uint * 1)(1000); v=(ct.c_double * 1)(); n=ct.c_size_t\n"
    "assert f.call('SetFloat64', r, n(1), v, n(2**59)) == ERROR; "
    "assert f.call('GetFloat64', r, n(1), v, n(2**59)) == ERROR" + SAME,
    "a million references": RUN + "k=10**6; v=(ct.c_double * (3 * k))(*([1.0, 2.0, 3.0] * k))\n"
    "assert f.values('Set', 'Float64', ['push'] * k, v) == OK; w=(ct.c_double * (3 * k))()\n"
    "assert f.values('Get', 'Float64', ['load'] * k, w) == OK; assert list(w[-3:]) == [1.0, 2.0, 3.0]\n"
    "assert f.step(0.01, 0.01) == OK",
    "a million references, the last one wrong": RUN + "k=10**6; v=(ct.c_double * (k + 1))(*([1.0] * (k + 1)))\n"
    "assert f.values('Set', 'Float64', ['force'] * k + [5], v) == ERROR; "
    "assert f.values('Get', 'Float64', ['force'] * k + [5], v) == ERROR" + SAME,
    "unknown references": RUN + "\nfor r in (1, 999, 1004, 9999, 10007, 100008, 2**31, 2**32 - 1):\n"
    "  v=(ct.c_double * 1)(); assert f.values('Get', 'Float64', [r], v) == ERROR; "
    "assert f.values('Set', 'Float64', [r], v) == ERROR\npass" + SAME,
    "wrong number of values": RUN + "\nfor n in (0, 1, 2, 4, 100):\n"
    "  assert f.set('push', *[7.0] * n) == ERROR; assert f.read('load', n)[0] == ERROR\npass" + SAME,
    "values that are no numbers": RUN + "\nfor x in (NAN, INF, -INF, 1e300, -1e300):\n"
    "  assert f.set('force', x) == ERROR; assert f.set('push', 1.0, 1.0, x) == ERROR; "
    "assert f.set('gain', x) == ERROR\npass" + SAME,
    "absurd steps": RUN + "\nfor h in (-0.01, -1e-8, NAN, INF, -INF, 1e-8, 1e300, 1e12, 1e9, 0.0105):\n"
    "  assert f.step(0.01, h) == ERROR, h\nfor t in (0.0, -1.0, NAN, INF, -INF, 1e300, 0.02):\n"
    "  assert f.step(t, 0.01) == ERROR, t\npass" + SAME,
    "null step results": RUN + "\nfor k in range(4):\n  a=[ct.byref(ct.c_bool()) for _ in range(3)] + "
    "[ct.byref(ct.c_double())]; a[k]=None\n"
    "  assert f.call('DoStep', ct.c_double(0.01), ct.c_double(0.01), ct.c_bool(True), *a) == ERROR\npass" + SAME,
    "null results of discrete states": "f=new(events=True); f.ready()\nfor k in range(6):\n"
    "  a=[ct.byref(ct.c_bool()) for _ in range(5)] + [ct.byref(ct.c_double())]; a[k]=None\n"
    "  assert f.call('UpdateDiscreteStates', *a) == ERROR\nassert f.update()[0] == OK",
    "null state pointers": RUN + "z=ct.c_size_t(0); assert f.call('GetFMUState', None) == ERROR; "
    "assert f.call('SetFMUState', None) == ERROR; assert f.call('FreeFMUState', None) == OK; s=ct.c_void_p(); "
    "assert f.call('FreeFMUState', ct.byref(s)) == OK; assert f.call('SerializeFMUState', None, None, z) == ERROR; "
    "assert f.call('DeserializeFMUState', None, ct.c_size_t(9), ct.byref(s)) == ERROR and not s; "
    "assert f.call('DeserializeFMUState', b'x', ct.c_size_t(1), None) == ERROR; "
    "assert f.call('SerializedFMUStateSize', None, None) == ERROR" + SAME,
    "a short buffer for a state": RUN + "s=ct.c_void_p(); assert f.call('GetFMUState', ct.byref(s)) == OK; "
    "v=ct.create_string_buffer(b'k' * 10, 10); assert f.call('SerializeFMUState', s, v, ct.c_size_t(9)) == ERROR; "
    "assert v.raw == b'k' * 10; assert f.call('FreeFMUState', ct.byref(s)) == OK and not s" + SAME,
    "truncated states": RUN + "s=f.save()\nfor n in (0, 1, 8, 127, 128, 136, len(s) - 8, len(s) - 1):\n"
    "  assert f.load(s[:n]) == ERROR, n\nassert f.load(s + bytes(8)) == ERROR" + SAME,
    "altered states": RUN + "s=f.save()\nfor k in range(0, len(s)):\n  a=bytearray(s); a[k] ^= 0x41\n"
    "  assert f.load(bytes(a)) == ERROR, k\npass" + SAME,
    "a state of another build": RUN + "s=bytearray(f.save()); at=s.index(f.build()); s[at + 9] ^= 1; "
    " assert f.load(bytes(s)) == ERROR; assert 'another build' in f.log[-1]" + SAME,
    "random states": RUN + "import random; g=random.Random(1)\nfor n in (64, 128, 500, 5000):\n"
    "  assert f.load(g.randbytes(n)) == ERROR\npass" + SAME,
    "a state of event mode where there is none": "e=new(events=True); e.ready(); f=new(); f.ready(); "
    "assert f.load(e.save()) == ERROR; assert 'state' in f.log[-1]; assert f.step(0.0, 0.01) == OK",
    "calls before initialization": "f=new()\nfor k in ('ExitInitializationMode', 'Terminate', 'EnterEventMode', "
    "'EnterStepMode', 'ExitConfigurationMode'): assert f.call(k) == ERROR, k\n"
    "assert f.step(0.0, 0.01) == ERROR; assert f.update()[0] == ERROR; assert f.read('position', 1)[0] == ERROR; "
    "f.ready()",
    "calls in initialization": "f=new(); f.enter()\nfor k in ('Terminate', 'EnterEventMode', 'EnterStepMode', "
    "'EnterConfigurationMode', 'ExitConfigurationMode'): assert f.call(k) == ERROR, k\n"
    "assert f.enter() == ERROR; assert f.step(0.0, 0.01) == ERROR; assert f.call('ExitInitializationMode') == OK",
    "initialization in step mode": RUN + "assert f.enter() == ERROR; "
    "assert f.call('ExitInitializationMode') == ERROR; assert f.call('EnterConfigurationMode') == ERROR" + SAME,
    "calls after the end": RUN + "assert f.call('Terminate') == OK; assert f.call('Terminate') == ERROR; "
    "assert f.step(0.01, 0.01) == ERROR; assert f.set('force', 1.0) == ERROR; assert f.enter() == ERROR; "
    "assert f.get('position velocity load', 5) == b; assert f.call('Reset') == OK; f.ready()",
    "a senseless experiment": "f=new()\nfor a in ((NAN, None), (INF, None), (0.0, NAN), (1.0, 0.5), (0.0, -INF)):\n"
    "  assert f.enter(*a) == ERROR, a\nf.ready()",
    "null and unknown log categories": RUN + "n=ct.c_size_t; t=ct.c_bool(True); "
    "assert f.call('SetDebugLogging', t, n(2), None) == ERROR; a=(ct.c_char_p * 2)(b'logAll', None); "
    "assert f.call('SetDebugLogging', t, n(2), a) == ERROR; a[1]=b'%s%n#' * 1000; "
    "assert f.call('SetDebugLogging', t, n(2), a) == ERROR" + SAME,
    "free in every state": "new().free(); f=new(); f.enter(); f.free(); f=new(events=True); f.ready(); f.free(); "
    "f=new(); f.call('EnterConfigurationMode'); f.free(); f=new(); f.ready(); f.call('Terminate'); f.free()",
    "free null": "f=new(); f.instance=ct.c_void_p(); f.free()",
    "everything twice": "f=new(events=True)\nfor k in range(3):\n  f.ready(); f.update(); f.call('EnterStepMode'); "
    "f.step(0.0, 0.01); f.call('EnterEventMode'); f.call('Terminate'); f.call('Terminate'); "
    "assert f.call('Reset') == OK; assert f.call('Reset') == OK",
    "reset in configuration mode": "f=new(); f.call('EnterConfigurationMode'); assert f.call('Reset') == OK; f.ready()",
    "parameters that break the start": "f=new(); assert f.set('mass', 0.0) == OK; assert f.enter() == OK; "
    "assert f.call('ExitInitializationMode') == ERROR; assert 'mass = 0' in f.log[-1]; "
    "assert f.set('mass', 1.0) == OK; assert f.call('ExitInitializationMode') == OK",
}


def run(factory: Factory, snippet: str, token: str = "") -> None:
    script = Path(__file__).parent / "raw3.py"
    command = [sys.executable, str(script), str(factory.library), factory.interface.guid + token, snippet]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("case", CASES)
def test_the_process_survives(case: str, factory: Factory) -> None:
    run(factory, CASES[case])


def test_an_fmi_2_blob_goes_on_in_fmi_3_and_a_foreign_mode_is_refused(factory: Factory, tmp_path: Path) -> None:
    with factory.instance("two") as two:
        two.setup({"x0": 0.3}, {"force": 2.0})
        two.step(70)
        (tmp_path / "blob").write_bytes(two.get_state()[24:])  # behind the host's own clock
        two.step(30)
        expected = two.get_outputs().tolist()
    run(factory, f"from pathlib import Path; f=new(); assert f.load(Path({str(tmp_path / 'blob')!r}).read_bytes()) == "
        f"OK, f.log; assert f.step(0.07, 0.03) == OK; v=f.get('position velocity acceleration load', 6); "
        f"e={expected!r}; assert v == e[:3] + e[4:], v")
    run(factory, f"from pathlib import Path; f=new(); f.call('EnterConfigurationMode'); "
        f"Path({str(tmp_path / 'three')!r}).write_bytes(f.save())")
    with factory.instance("two") as two:
        two.setup()
        before = two.get_state()
        with pytest.raises(Exception, match="kind of instance does not have"):
            two.set_state(before[:24] + (tmp_path / "three").read_bytes())
        assert two.get_state() == before


def test_2000_instances_and_100000_steps_leave_no_growth(factory: Factory) -> None:
    run(factory, "import resource, gc\n"
        "def rss(): return int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()\n"
        "def cycle():\n  f=new(events=True); f.ready(); f.call('EnterStepMode'); f.step(0.0, 0.01); f.load(f.save())\n"
        "  f.free()\n"
        "for _ in range(200): cycle()\n"
        "gc.collect(); before = rss()\n"
        "for _ in range(2000): cycle()\n"
        "gc.collect(); grown = rss() - before; assert grown < 2000 * 1024, grown\n"
        "f=new(); f.ready(); f.step(0.0, 1.0); before = rss()\n"
        "for k in range(100000): f.step(1.0 + k * 0.001, 0.001)\n"
        "assert rss() - before < 300000, rss() - before")
