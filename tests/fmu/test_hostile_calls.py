"""Each hostile call runs in its own process, which must end well."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jounce_fmu.importer.host import Factory

NULL_LISTS = "f=new(); f.ready(); n=ct.c_size_t; "
RUN = ("f=new(); f.ready(); assert f.step(0.0, 0.01) == OK; b=f.get('position', 'velocity'); n=ct.c_size_t\n"
       "def lists(verb, refs, values, count=None):\n  m=len(refs) if count is None else count\n"
       "  return f.call(verb + 'Real', (ct.c_uint * len(refs))(*refs), n(m), (ct.c_double * len(values))(*values))\n")
SAME = "; assert f.get('position', 'velocity') == b; assert f.step(0.01, 0.01) == OK, f.log"
CASES = {
    "null callbacks": "f=new(callbacks=False); f.ready(); assert f.step(0.0, NAN) == ERROR; f.free()",
    "null logger": "f=new(logger=False); f.ready(); assert f.step(0.0, NAN) == ERROR; f.free()",
    "odd resource URI": "for r in (None, b'', b'file:///a b#c%41%', bytes([0xc3, 0xa4, 0xff])): "
    "f=new(resources=r); f.ready(); f.free()",
    "null GUID": "l=ct.CDLL(LIBRARY); l.fmi2Instantiate.restype=ct.c_void_p; "
    "assert not l.fmi2Instantiate(b'a', 1, None, None, None, 0, 0)",
    "wrong GUID": "f=Raw(LIBRARY, 'other'); assert not f.component; assert 'GUID' in f.log[-1]",
    "null name": "l=ct.CDLL(LIBRARY); l.fmi2Instantiate.restype=ct.c_void_p; "
    "assert not l.fmi2Instantiate(None, 1, GUID.encode(), None, None, 0, 0)",
    "long name": "l=ct.CDLL(LIBRARY); l.fmi2Instantiate.restype=ct.c_void_p; "
    "c=l.fmi2Instantiate(b'n'*100000, 1, GUID.encode(), None, None, 0, 0); assert c; "
    "l.fmi2FreeInstance(ct.c_void_p(c))",
    "no such kind": "for k in (2, -1, 2**31 - 1): f=new(kind=k); assert not f.component, k",
    "model exchange calls of a co-simulation": "f=new(); n=ct.c_size_t; v=(ct.c_double * 2)(); "
    "i=ct.create_string_buffer(64)\n"
    "for g in (f.setup, lambda: f.call('EnterInitializationMode'), lambda: f.call('ExitInitializationMode')):\n"
    "  assert g() == OK\n"
    "  for k in ('EnterEventMode', 'EnterContinuousTimeMode'): assert f.call(k) == ERROR\n"
    "  assert f.call('NewDiscreteStates', i) == ERROR; assert f.call('SetTime', ct.c_double(0)) == ERROR\n"
    "  for k in ('GetDerivatives', 'GetContinuousStates', 'SetContinuousStates', 'GetNominalsOfContinuousStates', "
    "'GetEventIndicators'): assert f.call(k, v, n(2)) == ERROR, k\nassert f.step(0.0, 0.01) == OK",
    "model exchange with nulls": "f=new(kind=0); n=ct.c_size_t; f.ready(); "
    "assert f.call('NewDiscreteStates', None) == ERROR\n"
    "for k in ('GetDerivatives', 'GetContinuousStates', 'GetNominalsOfContinuousStates'): "
    "assert f.call(k, None, n(2)) == ERROR\n"
    "assert f.call('EnterContinuousTimeMode') == OK; assert f.call('SetContinuousStates', None, n(2)) == ERROR; "
    "assert f.call('CompletedIntegratorStep', 0, None, None) == ERROR; "
    "assert f.call('GetEventIndicators', None, n(0)) == OK; f.free()",
    "model exchange with wrong sizes and numbers": "f=new(kind=0); n=ct.c_size_t; f.ready(); "
    "f.call('EnterContinuousTimeMode'); v=(ct.c_double * 3)()\n"
    "for m in (0, 1, 3, 2**64 - 1):\n"
    "  for k in ('GetDerivatives', 'GetContinuousStates', 'SetContinuousStates', 'GetNominalsOfContinuousStates'): "
    "assert f.call(k, v, n(m)) == ERROR, (k, m)\n"
    "for x in (NAN, INF, -INF):\n"
    "  v[1] = x; assert f.call('SetContinuousStates', v, n(2)) == ERROR; "
    "assert f.call('SetTime', ct.c_double(x)) == ERROR\n"
    "assert f.call('GetEventIndicators', v, n(1)) == ERROR; assert f.call('GetContinuousStates', v, n(2)) == OK; "
    "assert list(v)[:2] == [0.1, 0.0]; assert f.step(0.0, 0.01) == ERROR",
    "model exchange out of order": "f=new(kind=0); n=ct.c_size_t; v=(ct.c_double * 2)(); "
    "i=ct.create_string_buffer(64)\n"
    "for k in ('EnterEventMode', 'EnterContinuousTimeMode', 'Terminate'): assert f.call(k) == ERROR\n"
    "assert f.call('GetDerivatives', v, n(2)) == ERROR; f.ready(); assert f.call('EnterEventMode') == ERROR; "
    "assert f.call('SetContinuousStates', v, n(2)) == ERROR; assert f.call('EnterContinuousTimeMode') == OK; "
    "assert f.call('NewDiscreteStates', i) == ERROR; assert f.call('EnterContinuousTimeMode') == ERROR; "
    "assert f.call('Terminate') == OK; assert f.call('GetDerivatives', v, n(2)) == OK; "
    "assert f.call('EnterEventMode') == ERROR; assert f.call('Reset') == OK; f.ready()",
    "null component": "f=new(); f.component=ct.c_void_p(); assert f.setup() == ERROR; "
    "assert f.step(0.0, 1.0) == ERROR; assert f.call('Reset') == ERROR; assert f.call('Terminate') == ERROR; "
    "assert f.call('GetFMUstate', None) == ERROR; assert f.set(force=1.0) == ERROR; f.free()",
    "null value lists": NULL_LISTS + "\nfor t in ('Real', 'Integer', 'Boolean', 'String'):\n"
    "  for k in ('Get', 'Set'):\n"
    "    assert f.call(k + t, None, n(3), None) == ERROR; assert f.call(k + t, None, n(0), None) == OK",
    "null log categories": NULL_LISTS + "assert f.call('SetDebugLogging', 1, n(2), None) == ERROR",
    "null state pointers": NULL_LISTS + "assert f.call('GetFMUstate', None) == ERROR; "
    "assert f.call('SetFMUstate', None) == ERROR; assert f.call('FreeFMUstate', None) == OK; "
    "s=ct.c_void_p(); assert f.call('FreeFMUstate', ct.byref(s)) == OK; "
    "assert f.call('SerializeFMUstate', None, None, n(0)) == ERROR; "
    "assert f.call('DeSerializeFMUstate', None, n(9), None) == ERROR; "
    "assert f.call('SerializedFMUstateSize', None, None) == ERROR",
    "null status pointers": NULL_LISTS + "\nfor k in ('', 'Real', 'Boolean'): "
    "assert f.call('Get' + k + 'Status', 0, None) == ERROR",
    "lengths no memory can hold": RUN + "for m in (2**64 - 1, 2**63, 2**61):\n"
    "  for k in ('Get', 'Set'): assert lists(k, [1000], [1.0], m) == ERROR, m\npass" + SAME,
    "a million references": RUN + "m=10**6; assert lists('Set', [1000] * m, [2.0] * m) == OK\n"
    "v=(ct.c_double * m)(); assert f.call('GetReal', (ct.c_uint * m)(*[10000] * m), n(m), v) == OK; "
    "assert list(v[-2:]) == [b[0]] * 2" + SAME,
    "a million references, the last one wrong": RUN + "m=10**6\n"
    "for k in ('Get', 'Set'): assert lists(k, [1000] * m + [5], [7.0] * (m + 1)) == ERROR\npass" + SAME,
    "unknown references": RUN + "for r in (0, 1, 999, 1004, 9999, 10007, 100008, 200002, 2**31, 2**32 - 1):\n"
    "  for k in ('Get', 'Set'): assert lists(k, [r], [1.0]) == ERROR, r\npass" + SAME,
    "references of another type": RUN + "i=(ct.c_int * 1)()\nfor r in (1000, 10000, 100001):\n"
    "  for k in ('GetInteger', 'SetInteger', 'GetBoolean', 'SetBoolean', 'GetString', 'SetString'):\n"
    "    assert f.call(k, (ct.c_uint * 1)(r), n(1), i) == ERROR, (k, r)\n"
    "assert lists('Get', [10003], [0.0]) == ERROR" + SAME,
    "values that are no numbers": RUN + "for x in (NAN, INF, -INF, 1e300, -1e300):\n"
    "  for r in (1000, 1003, 100005): assert lists('Set', [1000, r], [7.0, x]) == ERROR, (x, r)\npass" + SAME,
    "truths and items that are none": "f=new()\nfor x in (2, -1, 2**31 - 1): assert "
    "f.integer('Boolean', 'cubic', x) == ERROR\nfor x in (0, 3, -2**31): "
    "assert f.integer('Integer', 'direction', x) == ERROR\nf.ready(); "
    "assert f.integer('Boolean', 'cubic') == 0 and f.integer('Integer', 'direction') == 1",
    "absurd steps": RUN + "for h in (-0.01, -1e-8, NAN, INF, -INF, 1e-8, 1e300, 1e12, 1e9, 0.0105):\n"
    "  assert f.step(0.01, h) == ERROR, h\nfor t in (0.0, -1.0, NAN, INF, -INF, 1e300, 0.02):\n"
    "  assert f.step(t, 0.01) == ERROR, t\npass" + SAME,
    "truncated states": RUN + "s=f.save()\nfor m in (0, 1, 8, 127, 128, 136, len(s) - 8, len(s) - 1):\n"
    "  assert f.load(s[:m]) == ERROR, m\nassert f.load(s + bytes(8)) == ERROR" + SAME,
    "altered states": RUN + "s=f.save()\nfor k in range(0, len(s)):\n  a=bytearray(s); a[k] ^= 0x41\n"
    "  assert f.load(bytes(a)) == ERROR, k\npass" + SAME,
    "a state of another build": RUN + "s=bytearray(f.save()); at=s.index(f.build()); s[at + 9] ^= 1; "
    "assert f.load(bytes(s)) == ERROR; assert 'another build' in f.log[-1]" + SAME,
    "random states": RUN + "import random; g=random.Random(1)\nfor m in (64, 128, 500, 5000):\n"
    "  assert f.load(g.randbytes(m)) == ERROR\npass" + SAME,
    "a short buffer for a state": RUN + "s=ct.c_void_p(); assert f.call('GetFMUstate', ct.byref(s)) == OK; "
    "v=ct.create_string_buffer(b'k' * 10, 10); assert f.call('SerializeFMUstate', s, v, n(9)) == ERROR; "
    "assert v.raw == b'k' * 10; assert f.call('FreeFMUstate', ct.byref(s)) == OK and not s" + SAME,
    "a state of model exchange": RUN + "e=new(kind=0); e.ready(); assert f.load(e.save()) == ERROR; "
    "assert e.load(f.save()) == ERROR; assert e.call('EnterContinuousTimeMode') == OK" + SAME,
    "calls before initialization": "f=new()\nfor k in ('ExitInitializationMode', 'Terminate', 'CancelStep'): "
    "assert f.call(k) == ERROR, k\nassert f.step(0.0, 0.01) == ERROR; v=ct.c_double(); "
    "assert f.call('GetReal', ct.byref(ct.c_uint(10000)), ct.c_size_t(1), ct.byref(v)) == ERROR; f.ready()",
    "calls in initialization": "f=new(); f.setup(); f.call('EnterInitializationMode')\n"
    "for k in ('EnterInitializationMode', 'Terminate', 'CancelStep'): assert f.call(k) == ERROR, k\n"
    "assert f.setup() == ERROR; assert f.step(0.0, 0.01) == ERROR; assert f.call('ExitInitializationMode') == OK",
    "initialization in step mode": RUN + "for k in ('EnterInitializationMode', 'ExitInitializationMode', "
    "'CancelStep'): assert f.call(k) == ERROR\nassert f.setup() == ERROR" + SAME,
    "calls after the end": RUN + "assert f.call('Terminate') == OK; assert f.call('Terminate') == ERROR; "
    "assert f.step(0.01, 0.01) == ERROR; assert f.set(force=1.0) == ERROR; assert f.setup() == ERROR; "
    "assert f.get('position', 'velocity') == b; assert f.call('Reset') == OK; f.ready()",
    "a senseless experiment": "f=new()\nfor a in ((NAN, None), (INF, None), (0.0, NAN), (1.0, 0.5), (0.0, -INF)):\n"
    "  assert f.setup(*a) == ERROR, a\nf.ready()",
    "past the stop time": "f=new(); f.ready(0.0, 0.02); assert f.step(0.0, 0.03) == ERROR; "
    "assert f.step(0.0, 0.02) == OK; assert f.step(0.02, 0.001) == ERROR; assert 'stop time' in f.log[-1]",
    "unknown log categories": RUN + "a=(ct.c_char_p * 2)(b'logAll', None); "
    "assert f.call('SetDebugLogging', 1, n(2), a) == ERROR; a[1]=b'%s%n#' * 1000; "
    "assert f.call('SetDebugLogging', 1, n(2), a) == ERROR" + SAME,
    "derivatives where there are none": RUN + "v=(ct.c_double * 1)(1.0); r=(ct.c_uint * 1)(10000)\n"
    "for a in ((r, n(1), r, n(1), v, v), (None,) + (n(2**63), None) * 2 + (None,)):\n"
    "  assert f.call('GetDirectionalDerivative', *a) == ERROR\n"
    "for k in ('SetRealInputDerivatives', 'GetRealOutputDerivatives'): "
    "assert f.call(k, r, n(1), r, v) == ERROR\npass" + SAME,
    "parameters that break the start": "f=new(); assert f.set(mass=0.0) == OK; f.setup(); "
    "assert f.call('EnterInitializationMode') == OK; assert f.call('ExitInitializationMode') == ERROR; "
    "assert 'mass = 0' in f.log[-1]; assert f.set(mass=1.0) == OK; assert f.call('ExitInitializationMode') == OK",
    "a step that fails": "f=new(); assert f.set(damping=-1e5) == OK; f.ready(); assert f.step(0.0, 5.0) == ERROR; "
    "assert 'tick 0' in f.log[-1]; assert f.step(0.0, 0.01) == ERROR; assert f.get('position') == [0.1]; "
    "assert f.call('Reset') == OK; f.ready(); assert f.step(0.0, 0.01) == OK",
    "free without end": "f=new(); f.free(); f=new(); f.setup(); f.call('EnterInitializationMode'); f.free()",
    "free null": "f=new(); f.component=ct.c_void_p(); f.free()",
    "everything twice": "f=new()\nfor k in range(2):\n  f.ready(); f.step(0.0, 0.01); f.call('Terminate'); "
    "f.call('Terminate'); f.call('Reset'); f.call('Reset')\nf.free()",
}


@pytest.mark.parametrize("case", CASES)
def test_the_process_survives(case: str, factory: Factory) -> None:
    script = Path(__file__).parent / "raw.py"
    command = [sys.executable, str(script), str(factory.library), factory.interface.guid, CASES[case]]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_another_locale_changes_no_number(factory: Factory, tmp_path: Path) -> None:
    make = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")]
    if shutil.which(make[0]) is None or subprocess.run(make, capture_output=True, check=False).returncode:
        pytest.skip("no locale definitions on this machine")
    snippet = (
        "import locale; locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8'); "
        "assert locale.localeconv()['decimal_point'] == ','; "
        "f=new(); assert f.set(mass=1234.5) == OK; f.ready(); assert f.get('mass') == [1234.5]; "
        "assert f.set(force=-1234567890123.5) == ERROR; assert 'force = -1234567890123.5:' in f.log[-1], f.log"
    )
    script = Path(__file__).parent / "raw.py"
    command = [sys.executable, str(script), str(factory.library), factory.interface.guid, snippet]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env={"LOCPATH": str(tmp_path)})
    assert result.returncode == 0, result.stderr


def test_2000_instances_and_a_million_steps_leave_no_growth(factory: Factory) -> None:
    snippet = (
        "import resource\n"
        "def rss(): return int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()\n"
        "def cycle():\n"
        "  f=new(); f.ready(); f.step(0.0, 0.01); s=ct.c_void_p(); f.call('GetFMUstate', ct.byref(s))\n"
        "  f.call('FreeFMUstate', ct.byref(s)); f.free()\n"
        "for _ in range(200): cycle()\n"
        "import gc; gc.collect(); before = rss()\n"
        "for _ in range(2000): cycle()\n"
        "gc.collect(); grown = rss() - before; assert grown < 2000 * 1024, grown\n"
        "f=new(); f.ready(); f.step(0.0, 1.0); before = rss()\n"
        "for k in range(10**6): f.step(1.0 + k * 0.001, 0.001)\n"
        "assert rss() - before < 300000, rss() - before"
    )
    script = Path(__file__).parent / "raw.py"
    command = [sys.executable, str(script), str(factory.library), factory.interface.guid, snippet]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
