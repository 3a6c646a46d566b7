"""Rules that hold a node against its op definition: place, counts, attributes, types."""

from __future__ import annotations

from collections.abc import Iterator

from mcir.diagnostics import did_you_mean
from mcir.ops import all_ops
from mcir.ops.definition import REQUIRED, OpDef, Slot, TypeContext, TypeRuleError, wrong_count
from mcir.ops.rules import compatible, named_operand, type_text
from mcir.verifier.rules import Finding, Signature, rule

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from mcir.syntax.spots import Spot


@rule("op.known", "An op in a region has a definition; a graph may hold opaque ones.", scope="node", stage="type")
def op_known(signature: Signature) -> Iterator[Finding]:
    if signature.definition is None and signature.holder != "graph":
        hint = did_you_mean(signature.op, (op.name for op in all_ops()))
        yield Finding(f"op '{signature.op}' has no definition: opaque ops stand in graphs only", hint=hint)


@rule("op.level", "Tile ops stand in tile regions; of the semantic ops only those with the trait 'tile' do.",
      scope="node", stage="type")  # fmt: skip
def op_level(signature: Signature) -> Iterator[Finding]:
    op = signature.definition
    if op is None:
        return
    if op.level == "tile" and signature.holder == "graph":
        yield Finding(f"tile op '{op.name}' stands in a graph", hint="tile ops stand in tile regions")
    if op.level != "tile" and signature.holder != "graph" and "tile" not in op.traits:
        yield Finding(f"semantic op '{op.name}' stands in a region", hint="its meaning on a tile is not defined")


@rule("node.inputs", "A node has as many operands as its op takes.", scope="node", stage="type")
def operand_count(signature: Signature) -> Iterator[Finding]:
    op = signature.definition
    if op is not None and (wanted := wrong_count(op.operands, len(signature.operands))):
        count = len(signature.operands)
        spot = _one_too_many(op.operands, count)
        yield Finding(f"'{op.name}' takes {wanted} operands, not {count}", hint=_slots(op.operands), spot=spot)


@rule("node.outputs", "A node has as many results as its op gives.", scope="node", stage="type")
def result_count(signature: Signature) -> Iterator[Finding]:
    op = signature.definition
    if op is not None and (wanted := wrong_count(op.results, len(signature.results))):
        yield Finding(f"'{op.name}' gives {wanted} results, not {len(signature.results)}", hint=_slots(op.results))


@rule("op.attributes", "A node has the attributes its op declares, each of its kind.", scope="node", stage="type")
def op_attributes(signature: Signature) -> Iterator[Finding]:
    op = signature.definition
    if op is None:
        return
    declared = {attr.name: attr for attr in op.attrs}
    for name, value in signature.attrs.items():
        if name not in declared:
            hint = did_you_mean(name, declared) or f"it has {', '.join(declared) or 'none'}"
            yield Finding(f"'{op.name}' has no attribute '{name}'", hint=hint, spot=("key", name))
        elif problem := declared[name].problem(value):
            choices = (choice for choice in declared[name].choices if isinstance(choice, str))
            hint = did_you_mean(value, choices) if isinstance(value, str) else ""
            yield Finding(f"'{op.name}': {problem}", hint=hint, spot=("value", name))
    for attr in op.attrs:
        if attr.default is REQUIRED and attr.name not in signature.attrs:
            yield Finding(f"'{op.name}' needs the attribute '{attr.name}'", hint=attr.doc, spot=("op", ""))


@rule("type.result", "The result types are those that the op's type rule gives.", scope="node", stage="type")
def result_types(signature: Signature) -> Iterator[Finding]:
    op = signature.definition
    if op is None:
        return
    try:
        inferred = op.infer(_context(signature))
    except TypeRuleError as error:
        yield _broken(op, error)
        return
    for at, (declared, right) in enumerate(zip(signature.results, inferred, strict=False)):
        if not compatible(right, declared):
            which = f"result {at + 1} of '{op.name}'" if len(inferred) > 1 else f"the result of '{op.name}'"
            yield Finding(f"{which} is {type_text(right)}, not {type_text(declared)}", spot=("type", at))


@rule("op.valid", "A node keeps what else its op demands.", scope="node", stage="type")
def op_valid(signature: Signature) -> Iterator[Finding]:
    op = signature.definition
    if op is None or op.verify is None:
        return
    try:
        op.verify(_context(signature))
    except TypeRuleError as error:
        yield _broken(op, error)


def _broken(op: OpDef, error: TypeRuleError) -> Finding:
    message = error.message if op.name in error.message else f"'{op.name}': {error.message}"
    operand = named_operand(op, error.message)
    spot: Spot | None = ("operand", operand) if operand is not None else None
    return Finding(message, hint=error.hint, rule=error.rule, spot=spot)


def _context(signature: Signature) -> TypeContext:
    op = signature.definition
    assert op is not None
    attrs = op.attributes(signature.attrs)
    return TypeContext(op, signature.operands, attrs, signature.results, signature.constants)


def _one_too_many(slots: tuple[Slot, ...], count: int) -> Spot | None:
    return ("operand", len(slots)) if count > len(slots) else None


def _slots(slots: tuple[Slot, ...]) -> str:
    names = [f"{slot.name}{'...' if slot.variadic else '?' if slot.optional else ''}" for slot in slots]
    return f"they are: {', '.join(names)}" if names else ""
