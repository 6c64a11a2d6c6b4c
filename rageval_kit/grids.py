"""The systems of an experiment: some that have names, or the combinations of several settings."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from itertools import product
from math import prod
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.comparison import as_baseline
from rageval_kit.experiment_table import OF_BEST, OF_COST, OF_METRIC
from rageval_kit.files import is_writable
from rageval_kit.identity import model_name
from rageval_kit.messages import is_list, shown, wrong_type
from rageval_kit.wording import say, say_count

_TAKEN = frozenset((*OF_METRIC, *OF_BEST, *OF_COST, "system", "error"))


@dataclass(frozen=True, repr=False)
class Grid:
    """The axes of `grid`: ``{axis: {name of a value: value}}``."""

    axes: dict[str, dict[Any, Any]]

    def __len__(self) -> int:
        return prod(map(len, self.axes.values()))

    def __repr__(self) -> str:
        axes = " x ".join(f"{axis} ({len(values)})" for axis, values in self.axes.items())
        return say("grid of {systems}: {axes}", systems=say_count(len(self), "system"), axes=axes)


def grid(**axes: Any) -> Grid:
    """Return the combinations of several settings, for `experiment`.

    Args:
        axes: of each setting its values, the baseline's first: a list, or a dict
            ``{"short name": value}`` where a value, such as a model, has no name of its own.

    >>> grid(model=["chars", "use"], size=[30, 60, 120], hybrid=[False, True])
    grid of 12 systems: model (2) x size (3) x hybrid (2)

    Raises:
        ValueError: an axis has no value, or two of one name.
        TypeError: an axis is no list or dict.
    """
    if not axes:
        raise ValueError('grid() has no axis. Give at least one: grid(model=["chars", "use"]).')
    return Grid({axis: _named(axis, values) for axis, values in axes.items()})


def _named(axis: str, values: Any) -> dict[Any, Any]:
    """Return the values of an axis by their names."""
    if not is_list(values) and not isinstance(values, Mapping):
        raise wrong_type(f"grid: {axis}", 'a list of values or a dict {"name": value}', values)
    if axis in _TAKEN:
        raise ValueError(f"grid: {axis} is a column of every experiment. Call the axis otherwise.")
    pairs = list(values.items()) if isinstance(values, Mapping) else [(_name(v), v) for v in values]
    names = [name for name, _ in pairs]
    if not names:
        raise ValueError(f"grid: {axis} has no value. Give at least one.")
    for name in names:
        if not isinstance(name, (str, Real)) or not is_writable(str(name)):
            raise TypeError(f"grid: {axis}: a name must be a text, found {shown(name)}. Rename it.")
    twice = [name for at, name in enumerate(names) if str(name) in map(str, names[:at])]
    if twice:
        raise ValueError(
            f"grid: {axis} has two values called {shown(twice[0])}. Give a dict with a name for "
            'each: {"small": ..., "large": ...}.'
        )
    return dict(pairs)


def _name(value: Any) -> Any:
    """Return a value itself where it is a plain one, else what a reader knows it by."""
    if value is None:
        return "None"
    if isinstance(value, (str, Real)):
        return value.item() if isinstance(value, np.generic) else value
    if hasattr(value, "embed_query"):
        return model_name(value)
    return str(getattr(value, "__name__", type(value).__name__))


# ---------------------------------------------------------------- systems


class System(NamedTuple):
    """A system of an experiment.

    Attributes:
        settings: by axis, the name of the value.
        given: the system itself, or for ``make`` the values by axis.
        make: of a grid.
    """

    settings: dict[str, Any]
    given: Any
    make: Callable[..., Any] | None = None

    @property
    def told(self) -> Any:
        """What the system is known by."""
        return (self.make, self.given) if self.make else self.given

    @property
    def is_results(self) -> bool:
        """Whether nothing has to run."""
        return self.make is None and isinstance(self.given, (Mapping, pd.DataFrame, list))

    def build(self) -> Any:
        """Return results, a store, a retriever or a function."""
        return self.make(**self.given) if self.make else self.given


Systems: TypeAlias = Mapping[str, Any] | tuple[Grid, Callable[..., Any]]

_WANTED = '{"name": results, store, retriever or function} or (grid(...), make)'


def as_systems(
    systems: Any, baseline: Any, one_at_a_time: bool, query_ids: Iterable[str]
) -> dict[str, System]:
    """Return the systems by name: of a grid all, or those that differ from one in one axis.

    Raises:
        TypeError: systems is neither a dict nor a grid and a function that takes its axes.
        ValueError: there is none, it is results, whose names are ``query_ids``, or one axis at a
            time is asked for without a grid.
    """
    if not isinstance(one_at_a_time, bool):
        raise wrong_type("one_at_a_time", "True or False", one_at_a_time)
    if is_grid(systems):
        return _of_grid(systems[0], systems[1], baseline, one_at_a_time)
    if not isinstance(systems, Mapping):
        raise wrong_type("systems", _WANTED, systems)
    if one_at_a_time:
        raise ValueError("one_at_a_time varies the axes of a grid. Give (grid(...), make).")
    if not systems:
        raise ValueError(f"systems must be {_WANTED}; found none.")
    if systems.keys() <= set(query_ids):
        raise ValueError(
            "systems has the query_ids of all_qa in place of names: it is the results of one "
            'system. Give it a name: {"dense": results}.'
        )

    for name, value in systems.items():
        if not isinstance(name, str) or not name.strip() or not is_writable(name):
            raise TypeError(f"systems: every name must be a text, found {shown(name)}. Rename it.")
        if value is None or isinstance(value, (str, bytes, Real, type)):
            wanted = "results, a store, a retriever or a function of all_qa"
            raise wrong_type(f"systems, {name}", wanted, value)
    return {name: System({}, value) for name, value in systems.items()}


def is_grid(systems: Any) -> bool:
    """Say whether it is ``(grid(...), make)``."""
    pair = isinstance(systems, (tuple, list)) and len(systems) == 2
    return pair and isinstance(systems[0], Grid)


def _of_grid(axes: Grid, make: Any, baseline: Any, one_at_a_time: bool) -> dict[str, System]:
    if not callable(make):
        raise wrong_type("systems", "(grid(...), make), where make(**settings) is a function", make)
    _refuse_other_arguments(make, axes)

    systems = {}
    for names in product(*axes.axes.values()):
        settings = dict(zip(axes.axes, names, strict=True))
        values = {axis: axes.axes[axis][name] for axis, name in settings.items()}
        name = ", ".join(f"{axis}={value}" for axis, value in settings.items())
        systems[name] = System(settings, values, make)
    if not one_at_a_time:
        return systems

    first = systems[as_baseline(baseline, list(systems), "system")].settings
    return {
        name: system
        for name, system in systems.items()
        if sum(system.settings[axis] != first[axis] for axis in first) <= 1
    }


def _refuse_other_arguments(make: Callable[..., Any], axes: Grid) -> None:
    """Refuse a function that cannot be called with a value of each axis, by name."""
    try:
        its = signature(make)
    except (TypeError, ValueError):  # of some builtins it is not known
        return
    try:
        its.bind(**axes.axes)
    except TypeError as error:
        raise TypeError(
            f"make must take a value of each axis by its name, make({', '.join(axes.axes)}), found "
            f"make{its}: {error}. Fix the names."
        ) from None
