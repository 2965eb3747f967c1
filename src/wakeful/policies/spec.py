"""The parameters of policies of all kinds: frozen, convertible to JSON and back, and passed to the compiler."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple, Self

from wakeful.inputs import did_you_mean, must_be


class Nothing(NamedTuple):
    """The parameters of a policy without any."""

    unused: float = 0.0


class Recipe:
    """Parameters of a policy: a frozen dataclass whose fields are plain values or recipes."""

    def parameters(self, n_arms: int) -> Any:
        """Return what the kernels see of the parameters: by default the dataclass fields as they are."""
        names = field_names(type(self))
        return _parameters_type(names)(*(getattr(self, name) for name in names)) if names else Nothing()

    def fields(self, state: Any, n_arms: int) -> tuple[Any, ...]:
        """Return parameters and state in a row, as the entry points take them."""
        return (*self.parameters(n_arms), *state)

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as a name and parameters, ready for JSON."""
        values = {name: getattr(self, name) for name in field_names(type(self))}
        plain = {k: v.to_dict() if isinstance(v, Recipe) else v for k, v in values.items()}
        return {"policy": _label(type(self)), "parameters": plain}

    @classmethod
    def imported(cls) -> dict[str, Any]:
        """Return the classes of this kind of policy that have been imported, by name."""
        return {_label(kind): kind for kind in subclasses(_root(cls))}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the policy that `to_dict` wrote; a class of your own must have been imported."""
        if not isinstance(record, Mapping) or set(record) != {"policy", "parameters"}:
            raise ValueError(must_be("policy", "a record of policy and parameters", record))
        known = cls.imported()
        name, values = record["policy"], record["parameters"]
        if not isinstance(name, str) or name not in known:
            rule = "the name of a policy that is imported"
            raise ValueError(must_be("policy", rule, name) + did_you_mean(name, known))
        if not isinstance(values, Mapping):
            raise TypeError(must_be("parameters", "a record of names and values", values))
        names = field_names(known[name])
        for unknown in set(values) - set(names):
            raise ValueError(
                must_be("parameters", f"among {', '.join(names) or 'none'}", unknown) + did_you_mean(unknown, names)
            )
        try:
            policy: Self = known[name](**{k: _restored(v) for k, v in values.items()})
        except TypeError as problem:
            if " must be " in str(problem):
                raise
            raise TypeError(must_be("parameters", f"all that {name} needs", dict(values))) from None
        return policy


def set_frozen(instance: object, **values: Any) -> None:
    """Set fields of a frozen dataclass, a policy or a world, in `__post_init__`; NumPy numbers become plain ones."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def full_name(recipe: Recipe) -> str:
    """Return the class name, with those of the recipes in it in brackets."""
    inner = [full_name(v) for v in (getattr(recipe, n) for n in field_names(type(recipe))) if isinstance(v, Recipe)]
    return type(recipe).__qualname__ + (f"[{','.join(inner)}]" if inner else "")


def kinds(recipe: Recipe) -> Iterator[type]:
    """Yield the classes of a policy and of the recipes in it."""
    for name in field_names(type(recipe)):
        if isinstance(getattr(recipe, name), Recipe):
            yield from kinds(getattr(recipe, name))
    yield type(recipe)


def subclasses(cls: Any) -> Iterator[type]:
    """Yield every subclass of `cls` that has been imported, nearest last."""
    for child in cls.__subclasses__():
        yield from subclasses(child)
        yield child


def field_names(cls: type) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass, in order."""
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()


def _root(cls: type) -> type:
    """Return the kind of recipe that `cls` is: the ancestor right below `Recipe`, or `Recipe` itself."""
    return next((base for base in cls.__mro__ if Recipe in base.__bases__), Recipe)


def _restored(value: Any) -> Any:
    """Return a parameter as it was: recipes from records, tuples from lists."""
    if isinstance(value, Mapping):
        return Recipe.from_dict(value)
    return tuple(value) if isinstance(value, list) else value


def _label(cls: type) -> str:
    """Return the name a class has in files: ours by itself, a user's with its module."""
    ours = cls.__module__.partition(".")[0] == "wakeful"
    return cls.__name__ if ours else f"{cls.__module__}.{cls.__qualname__}"


@cache
def _parameters_type(names: tuple[str, ...]) -> Any:
    return NamedTuple("Parameters", [(name, Any) for name in names])
