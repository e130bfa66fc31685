"""Which output of the transfer case drives which axles, and through which differentials."""

from __future__ import annotations

import numpy as np
import pytest

from jounce.axles import Axle, AxleError
from jounce.powertrain.layouts import GIVEN, NUMBERS, STATES, given_of, numbers_of, states_of
from jounce.powertrain.train import TWO, Split, Train, train_of


def axles(driven_from: str) -> list[Axle]:
    """An axle for each letter: a, f, r for auto, front and rear, - for one that is not driven."""
    words = {"a": "auto", "f": "front", "r": "rear", "-": "auto"}
    return [Axle(f"number_{k}", driven=c != "-", driven_from=words[c]) for k, c in enumerate(driven_from, 1)]


def written(of: int | Split) -> str:
    """A tree as text: near output before the far one."""
    return str(of + 1) if isinstance(of, int) else f"({written(of.near)} {written(of.far)})"


@pytest.mark.parametrize(("which", "tree", "names"), [
    ("aaa", "(1 (2 3))", "123"), ("aaaa", "((2 1) (3 4))", "1234"), ("aaaaa", "((2 1) (3 (4 5)))", "12345"),
    ("ffr", "((2 1) 3)", "123"), ("frrr", "(1 (2 (3 4)))", "1234"), ("fffr", "((3 (2 1)) 4)", "1234"),
    ("araa", "(1 (2 (3 4)))", "1234"),
    ("a-aa", "(1 (2 3))", "134"), ("--aaaa", "((2 1) (3 4))", "3456"), ("faar", "((2 1) (3 4))", "1234"),
])  # fmt: skip
def test_each_group_is_driven_through_from_the_transfer_case_on(which: str, tree: str, names: str) -> None:
    train = train_of(axles(which))
    assert written(train.centre) == tree
    assert train.axles == tuple(f"axle_{k}" for k in names)
    assert len(train.splits) == len(train.axles) - 1


@pytest.mark.parametrize("which", ["a", "f", "r", "aa", "fr", "a-a", "-a", "--aa"])
def test_one_or_two_driven_axles_are_those_of_front_and_rear(which: str) -> None:
    assert train_of(axles(which)) is TWO
    assert (states_of(TWO), given_of(TWO).sizes, numbers_of(TWO).sizes) == (STATES, GIVEN.sizes, NUMBERS.sizes)


@pytest.mark.parametrize(("which", "message"), [
    ("--", "no axle is driven"),
    ("ff", "all driven axles are driven from the front output"), ("rrr", "all driven axles .* from the rear output"),
    ("frf", 'axle number_3: driven_from = "front" behind axle number_2, which is driven from the rear output'),
    ("aaaf", "all driven axles are driven from the front output"), ("raa", "all .* from the rear output"),
])  # fmt: skip
def test_what_cannot_be_driven_is_refused_by_name(which: str, message: str) -> None:
    with pytest.raises(AxleError, match=message):
        train_of(axles(which))


@pytest.mark.parametrize(("n", "front"), [(2, 1), (3, 1), (4, 2), (4, 1), (4, 3), (6, 3), (8, 4)])
def test_shares_and_speeds_are_transposes_of_each_other_and_shares_add_up_to_one(n: int, front: int) -> None:
    """The speed of a differential's input is the mean of its outputs' by the shares of the torque: no power is lost."""
    train = Train(tuple(f"axle_{k}" for k in range(1, n + 1)), front)
    r = np.random.default_rng(n)
    part = {split: r.uniform(0.1, 0.9) for split in train.splits}
    shares, speeds = train.shares(part.__getitem__), r.normal(size=n)
    assert sum(shares) == pytest.approx(1.0, rel=1e-14)
    mean = train.speed(train.centre, speeds, part.__getitem__)
    assert mean == pytest.approx(float(np.dot(shares, speeds)), rel=1e-12)
    of_windups = [s.name for s in states_of(train) if s.name.startswith("differential.")]
    assert len(of_windups) == len(set(of_windups)) == train.held == 2 * n - 1
