"""Functions: model-local ones are inlined; operators that ONNX itself defines by a body can be.

onnx's own inliner does the inlining. Its switch for operators of ONNX stops at left-out operands and
forgets default attributes, so such a node first becomes a call of a local function with that body.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import onnx.defs
import onnx.inliner
from onnx import FunctionProto, ModelProto, NodeProto, TypeProto, helper

from mcir.diagnostics import MCIRError
from mcir.importers.onnx_checks import check_nodes
from mcir.importers.onnx_errors import first_line, node_label, refuse
from mcir.importers.onnx_file import model_opsets
from mcir.importers.onnx_order import OrderedGraph, ordered_graph
from mcir.importers.onnx_table import find_row
from mcir.importers.onnx_types import infer_types

MAX_ROUNDS = 16
"""Bodies of ONNX operators use others that have bodies, only a few levels deep."""

_DOMAIN = "mcir.expanded"


def inline_local_functions(model: ModelProto) -> ModelProto:
    """`model` with calls of its own functions replaced by their bodies. Raises MCIRError, also for recursion."""
    if not model.functions:
        return model
    try:
        return onnx.inliner.inline_local_functions(model, convert_version=True)
    except Exception as error:  # onnx raises its C++ faults under several types
        raise refuse(f"a function of the model cannot be inlined: {first_line(error)}", rule="onnx-function") from None


Wanted = Callable[[str], bool]
"""Whether operators of this name in ONNX's own domain are to be expanded."""


def expand_functions(model: ModelProto, wanted: Wanted) -> ModelProto:
    """A model in which operators that ONNX defines by a body, and that MCIR does not map, are that body.

    `model` has no local functions and stays as it is. Raises MCIRError.
    """
    for _ in range(MAX_ROUNDS):
        if not any(_has_body(proto, wanted, model_opsets(model).get("", 1)) for proto in _protos(model)):
            return model
        try:
            model = _expanded_once(model, wanted, lift=False)
        except MCIRError:
            # onnx's version converter cannot convert every body that ONNX states for an older operator set
            model = _expanded_once(model, wanted, lift=True)
    return model


def _protos(model: ModelProto) -> Iterator[NodeProto]:
    """Every node of the model, of bodies too."""
    stack = [model.graph]
    while stack:
        for proto in stack.pop().node:
            yield proto
            for attribute in proto.attribute:
                stack += [attribute.g] if attribute.HasField("g") else attribute.graphs


def _expanded_once(model: ModelProto, wanted: Wanted, lift: bool) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    _call_bodies(copy, wanted, lift)
    copy.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    expanded = inline_local_functions(copy)
    kept = [entry for entry in expanded.opset_import if entry.domain != _DOMAIN]
    del expanded.opset_import[:]
    expanded.opset_import.extend(kept)
    return expanded


def _call_bodies(model: ModelProto, wanted: Wanted, lift: bool) -> None:
    """Turns every node to be expanded into a call of a local function with its body.

    lift: bodies for an older operator set are taken as they are for the model's.
    """
    opset = model_opsets(model).get("", 1)
    root = ordered_graph(model.graph)
    check_nodes(root, model_opsets(model))
    infer_types(root, model)
    for proto, scope in list(_nodes(root, ())):
        if _has_body(proto, wanted, opset):
            function = _body(proto, scope, opset)
            _lift_opset(function, opset, lift)
            function.domain, function.name = _DOMAIN, f"{proto.op_type}_{len(model.functions)}"
            model.functions.append(function)
            proto.domain, proto.op_type = function.domain, function.name


def _nodes(
    graph: OrderedGraph, outer: tuple[dict[str, TypeProto], ...]
) -> Iterator[tuple[NodeProto, Mapping[str, TypeProto]]]:
    """Every node with the types that it sees."""
    scope = (graph.types, *outer)
    for node in graph.nodes:
        yield node.proto, ChainMap(*scope)
        for body in node.bodies.values():
            yield from _nodes(body, scope)


def _schema(proto: NodeProto, opset: int) -> Any:
    """The schema of an operator of ONNX's own domain, or None. Its stubs do not tell of function bodies."""
    try:
        return onnx.defs.get_schema(proto.op_type, opset, "") if proto.domain in ("", "ai.onnx") else None
    except onnx.defs.SchemaError:
        return None


def _body_versions(schema: Any, opset: int) -> list[int]:
    """The operator sets for which ONNX states a body, up to `opset`."""
    versions = (*schema.function_opset_versions, *schema.context_dependent_function_opset_versions)
    return [version for version in versions if version <= opset]


def _has_body(proto: NodeProto, wanted: Wanted, opset: int) -> bool:
    schema = _schema(proto, opset) if wanted(proto.op_type) else None
    return schema is not None and find_row("", proto.op_type, opset) is None and bool(_body_versions(schema, opset))


def _body(proto: NodeProto, scope: Mapping[str, TypeProto], opset: int) -> FunctionProto:
    """The body that ONNX gives the node; attributes it leaves at their default are entered in it first."""
    schema = _schema(proto, opset)
    given = {attribute.name for attribute in proto.attribute}
    for name, declared in schema.attributes.items():
        if name not in given and declared.default_value.name:
            proto.attribute.append(declared.default_value)
    types = [scope[name].SerializeToString() if name in scope else b"" for name in proto.input]
    version = max(_body_versions(schema, opset))
    try:
        if version in schema.function_opset_versions:
            data = schema.get_function_with_opset_version(version)
        else:
            data = schema.get_context_dependent_function_with_opset_version(version, proto.SerializeToString(), types)
        function: FunctionProto = FunctionProto.FromString(data)
    except Exception as error:  # onnx raises its C++ faults under several types
        raise refuse(f"{node_label(proto)} cannot be expanded: {first_line(error)}", rule="onnx-function") from None
    del function.attribute[:], function.attribute_proto[:]
    function.attribute.extend(attribute.name for attribute in proto.attribute)
    return function


def _lift_opset(function: FunctionProto, opset: int, always: bool) -> None:
    """States the model's operator set where all operators of the body are the same in it: no conversion then."""
    for entry in function.opset_import:
        same = all(_same_version(node, entry.version, opset) for node in function.node)
        if entry.domain == "" and (always or same):
            entry.version = opset


def _same_version(node: NodeProto, left: int, right: int) -> bool:
    schemas = [_schema(node, version) for version in (left, right)]
    return all(schemas) and schemas[0].since_version == schemas[1].since_version
