"""Faults in ONNX files: of bytes, and of every part of the message by what protobuf says of itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

from tests.endurance.seeds import onnx_models

INTEGERS = (0, 1, -1, 2, 3, 7, 16, 255, 2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e38, 1e-45)
STRINGS = (
    "",
    "x",
    "é",
    "a/b",
    "onnx::Foo_1",
    "\0",
    "名",
    "ai.onnx",
    "com.microsoft",
    "Softmax",
    "MatMul",
    "Attention",
    "If",
    "Loop",
    "a" * 300,
    "%",
    '"',
)
FILES = (
    "",
    "data.bin",
    "../data.bin",
    "/dev/zero",
    "/etc/passwd",
    ".",
    "in.onnx",
    "missing/x",
    "a\0b",
    "data.bin" * 60,
)


def bytes_mutated(random: Random) -> bytes:
    """A model's file with damaged bytes."""
    data = bytearray(random.choice(onnx_models()))
    for _ in range(random.choice((1, 1, 2, 5, 30))):
        at = random.randrange(len(data) + 1)
        choice = random.randrange(6)
        letters = [place for place in range(at, min(at + 200, len(data))) if chr(data[place]).isalpha()]
        if choice == 5 and letters:
            data[random.choice(letters)] = random.choice((0xFF, 0x41, 0x2F))  # a name, or not even text
        elif choice == 0:
            data[at : at + 1] = bytes([random.randrange(256)])
        elif choice == 1:
            del data[at : at + random.choice((1, 2, 9, 1000))]
        elif choice == 2:
            data[at:at] = bytes(random.randrange(256) for _ in range(random.choice((1, 8))))
        elif choice == 3:
            data[at:at] = data[at : at + random.choice((4, 60, 600))]
        else:
            del data[random.randrange(len(data) // 2, len(data) + 1) :]
    return bytes(data)


def message_mutated(random: Random) -> tuple[str, bytes]:
    """(what was done, the file): a small model, after some faults."""
    model = random.choice(_small_models())()
    done = []
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        fault = random.choice(FAULTS)
        with suppress(ValueError):  # protobuf itself refuses some values
            fault(random, model)
        done.append(fault.__name__)
    return "+".join(done), model.SerializeToString()


@cache
def _small_models() -> list[Callable[[], Any]]:
    """Makers of models: those of the tests, and small ones of many operators, with functions and bodies."""
    import onnx

    makers: list[Callable[[], Any]] = [lambda data=data: onnx.load_from_string(data) for data in onnx_models()]
    return makers + 2 * [lambda data=data: onnx.load_from_string(data) for data in _built()]


def _built() -> Iterator[bytes]:
    """Models of one or a few nodes; loops, conditions, functions, sparse and external tensors."""
    import numpy as np
    from onnx import TensorProto, helper

    from tests.unit.onnx_samples import FLOAT, INT64, graph, model, one_node, tensor, value

    x, y = value("x", (2, 3, 4)), value("y", (2, 4, 5))
    for op, given, attrs in (
        ("MatMul", [x, y], {}), ("Softmax", [x], {"axis": -1}), ("Add", [x, value("z", (4,))], {}),
        ("Transpose", [x], {"perm": [0, 2, 1]}), ("Reshape", [x, tensor("s", [0, -1], np.int64)], {}),
        ("Concat", [x, x], {"axis": 1}),
        ("Gemm", [value("a", (2, 3)), value("b", (3, 4))], {"alpha": 0.5, "transA": 0}),
        ("Slice", [x, tensor("b", [0], np.int64), tensor("e", [2], np.int64), tensor("ax", [1], np.int64)], {}),
        ("Gather", [x, tensor("i", [0, 1], np.int64)], {"axis": 2}),
        ("Split", [x, tensor("p", [1, 2], np.int64)], {"axis": 1}),
        ("Where", [value("c", (3, 4), TensorProto.BOOL), x, x], {}), ("Cast", [x], {"to": TensorProto.FLOAT16}),
        ("ReduceMean", [x], {"axes": [-1], "keepdims": 1}), ("Clip", [x, tensor("lo", 0.0), None], {}),
        ("Unsqueeze", [x, tensor("ax", [0], np.int64)], {}), ("Expand", [x, tensor("s", [5, 1, 1, 1], np.int64)], {}),
        ("Pad", [x, tensor("p", [0, 0, 1, 0, 0, 1], np.int64)], {}),
        ("LayerNormalization", [x, value("w", (4,))], {"axis": -1}),
        ("Trilu", [x], {"upper": 0}),
        ("Range", [tensor("a", 0, np.int64), tensor("b", 4, np.int64), tensor("c", 1, np.int64)], {}),
        ("ConstantOfShape", [tensor("s", [2, 3], np.int64)], {"value": tensor("v", [1.0])}),
        ("Einsum", [x, y], {"equation": "bij,bjk->bik"}),
        ("CumSum", [x, tensor("ax", 1, np.int64)], {}),
        ("OneHot", [value("i", (3,), INT64), tensor("d", 4, np.int64), tensor("v", [0.0, 1.0])], {}),
    ):  # fmt: skip
        yield one_node(op, given, **attrs).SerializeToString()
    q, k, v = (value(name, (1, 2, 6, 4)) for name in "qkv")
    yield one_node("Attention", [q, k, v], opset=23, is_causal=1).SerializeToString()
    yield one_node(
        "MultiHeadAttention", [value(n, (1, 6, 8)) for n in "qkv"], domain="com.microsoft", num_heads=2
    ).SerializeToString()
    condition = value("c", (), TensorProto.BOOL)
    branch = graph([helper.make_node("Neg", ["x"], ["r"])], [], [value("r", (2, 3, 4))], name="branch")
    both = helper.make_node("If", ["c"], ["o"], name="if", then_branch=branch, else_branch=branch)
    yield model(graph([both], [condition, x], [value("o", (2, 3, 4))])).SerializeToString()
    step = graph(
        [helper.make_node("Add", ["s", "x"], ["t"]), helper.make_node("Identity", ["go"], ["on"])],
        [value("i", (), INT64), value("go", (), TensorProto.BOOL), value("s", (2, 3, 4))],
        [value("on", (), TensorProto.BOOL), value("t", (2, 3, 4))], name="step",
    )  # fmt: skip
    loop = helper.make_node("Loop", ["n", "c", "x"], ["o"], name="loop", body=step)
    yield model(graph([loop], [value("n", (), INT64), condition, x], [value("o", (2, 3, 4))])).SerializeToString()
    inner = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    call = helper.make_node("Twice", ["x"], ["o"], name="call", domain="mine")
    yield model(graph([call], [x], [value("o", (2, 3, 4))]), functions=[inner], mine=1).SerializeToString()
    weights = graph([helper.make_node("MatMul", ["x", "w"], ["o"])], [x], ["o"], [tensor("w", np.ones((4, 2)))])
    outside = weights.initializer[0]
    outside.ClearField("raw_data")
    outside.data_location = TensorProto.EXTERNAL
    for key, text in (("location", "data.bin"), ("offset", "0"), ("length", "32")):
        outside.external_data.add(key=key, value=text)
    yield model(weights).SerializeToString()
    sparse = helper.make_sparse_tensor(tensor("values", [1.0, 2.0]), tensor("at", [1, 5], np.int64), [2, 4])
    held = graph([helper.make_node("Identity", ["values"], ["o"])], [], [value("o", (2, 4), FLOAT)])
    held.sparse_initializer.append(sparse)
    yield model(held).SerializeToString()


# -- faults of the message --------------------------------------------------------------------------------


def _messages(model: Any) -> list[Any]:
    """Every message in the model, the model first."""
    found, stack = [], [model]
    while stack:
        message = stack.pop()
        found.append(message)
        for field, value in message.ListFields():
            if field.message_type is not None:
                stack += value if field.is_repeated else [value]
    return found


def _of(model: Any, name: str) -> list[Any]:
    return [message for message in _messages(model) if message.DESCRIPTOR.name == name]


def _pick(random: Random, model: Any, name: str) -> Any | None:
    found = _of(model, name)
    return random.choice(found) if found else None


def any_field(random: Random, model: Any) -> None:
    """A field of some message is cleared, set, doubled, emptied or given another value."""
    message = random.choice(_messages(model))
    field = random.choice(list(message.DESCRIPTOR.fields))
    if random.random() < 0.3:
        message.ClearField(field.name)
    elif field.is_repeated:
        _change_list(random, getattr(message, field.name), field)
    elif field.message_type is not None:
        getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, _scalar(random, field))


def _change_list(random: Random, items: Any, field: Any) -> None:
    choice = random.randrange(4)
    if choice == 0 and len(items):
        del items[random.randrange(len(items))]
    elif choice == 1 and len(items):
        item = random.choice(items)
        items.append(item)
    elif choice == 2 and len(items) > 1:
        last = items.pop()
        items.insert(0, last)
    elif field.message_type is not None:
        items.add()
    else:
        items.append(_scalar(random, field))


def _scalar(random: Random, field: Any) -> Any:
    if field.cpp_type == field.CPPTYPE_STRING:
        text = random.choice(STRINGS)
        return text if field.type == field.TYPE_STRING else text.encode()
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return random.choice(FLOATS)
    if field.cpp_type == field.CPPTYPE_ENUM:
        return random.choice([value.number for value in field.enum_type.values] + [99])
    if field.cpp_type == field.CPPTYPE_BOOL:
        return random.random() < 0.5
    number = random.choice((*INTEGERS, *range(17)))
    if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32):
        number = max(-(2**31), min(2**31 - 1, number))
    return abs(number) if field.cpp_type in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64) else number


def attributes(random: Random, model: Any) -> None:
    """An attribute goes, has another type or value."""
    attribute = _pick(random, model, "AttributeProto")
    if attribute is None:
        return
    choice = random.randrange(4)
    if choice == 0:
        attribute.type = random.randrange(15)
    elif choice == 1:
        attribute.i = random.choice(INTEGERS)
    elif choice == 2:
        attribute.ints[:] = [random.choice((*INTEGERS, 0, 1, 2)) for _ in range(random.randrange(5))]
    else:
        attribute.ref_attr_name = random.choice(STRINGS)


def operands(random: Random, model: Any) -> None:
    """An operand becomes another name of the model, itself, or nothing: cycles, uses before definitions."""
    node = _pick(random, model, "NodeProto")
    if node is None:
        return
    names = [name for other in _of(model, "NodeProto") for name in (*other.input, *other.output)] + ["", "nowhere"]
    side = random.choice((node.input, node.input, node.output))
    choice = random.randrange(4)
    if choice == 0 and len(side):
        side[random.randrange(len(side))] = random.choice(names)
    elif choice == 1:
        side.append(random.choice(names))
    elif choice == 2 and len(side):
        del side[random.randrange(len(side))]
    elif len(node.output) and len(node.input):
        node.input[0] = node.output[0]


def operators(random: Random, model: Any) -> None:
    """A node has another operator or domain, or stands elsewhere."""
    node = _pick(random, model, "NodeProto")
    if node is None:
        return
    choice = random.randrange(4)
    if choice == 0:
        node.op_type = random.choice(_operators())
    elif choice == 1:
        node.domain = random.choice(STRINGS)
    else:
        graph = random.choice(_of(model, "GraphProto") or [model.graph])
        node = type(node).FromString(node.SerializeToString())  # it may hold the graph: protobuf would copy for ever
        if choice == 2:
            graph.node.add().CopyFrom(node)
        else:
            graph.node.insert(0, node)


@cache
def _operators() -> list[str]:
    import onnx.defs

    return sorted({schema.name for schema in onnx.defs.get_all_schemas()})


def shapes(random: Random, model: Any) -> None:
    """A dimension is huge, negative, named, or unknown; a rank changes."""
    choice = random.randrange(3)
    dim = _pick(random, model, "Dimension")
    if choice == 0 and dim is not None:
        dim.dim_value = random.choice(INTEGERS)
    elif choice == 1 and dim is not None:
        dim.dim_param = random.choice((*STRINGS, "batch", "seq + 1"))
    else:
        shape = _pick(random, model, "TensorShapeProto")
        if shape is not None:
            _change_list(random, shape.dim, shape.DESCRIPTOR.fields_by_name["dim"])


def tensors(random: Random, model: Any) -> None:
    """A tensor's type, sizes or data do not fit one another; or its data is in some other file."""
    tensor = _pick(random, model, "TensorProto")
    if tensor is None:
        return
    choice = random.randrange(5)
    if choice == 0:
        tensor.data_type = random.randrange(30)
    elif choice == 1:
        tensor.dims[:] = [random.choice((*INTEGERS, 1, 2, 3)) for _ in range(random.randrange(4))]
    elif choice == 2:
        tensor.raw_data = tensor.raw_data[: random.randrange(len(tensor.raw_data) + 1)] or b"\1\2\3"
    elif choice == 3:
        tensor.ClearField("raw_data")
        tensor.float_data.extend([1.0] * random.randrange(5))
    else:
        tensor.data_location = 1
        del tensor.external_data[:]
        tensor.external_data.add(key="location", value=random.choice(FILES))
        for key in ("offset", "length", "checksum"):
            if random.random() < 0.5:
                tensor.external_data.add(key=key, value=random.choice(("0", "-1", "1", "x", "9" * 30, "", "64", "1e3")))


def versions(random: Random, model: Any) -> None:
    if random.random() < 0.5 and len(model.opset_import):
        random.choice(model.opset_import).version = random.choice((*range(27), -1, 2**40))
    else:
        model.ir_version = random.choice((*range(15), -1, 2**40))


def interface(random: Random, model: Any) -> None:
    """The graph's inputs, outputs and weights: one goes, comes twice, changes its name."""
    graph = _pick(random, model, "GraphProto")
    if graph is None:
        return
    field = random.choice(("input", "output", "initializer", "value_info", "node"))
    items = getattr(graph, field)
    if len(items) and random.random() < 0.4 and field != "node":
        random.choice(items).name = random.choice((*STRINGS, random.choice(items).name))
    else:
        _change_list(random, items, graph.DESCRIPTOR.fields_by_name[field])


def functions(random: Random, model: Any) -> None:
    """A function calls itself, or has other names."""
    if not model.functions:
        model.functions.add(name=random.choice(_operators()), domain=random.choice(("", "mine")))
    function = random.choice(model.functions)
    node = function.node.add()
    node.op_type, node.domain = random.choice(((function.name, function.domain), ("Add", ""), ("", "")))
    node.input.extend(list(function.input)[:1] or ["x"])
    node.output.extend([random.choice((*function.output, "z"))])
    function.attribute.append(random.choice(STRINGS))


def bodies(random: Random, model: Any) -> None:
    """A node gets a body: a graph in an attribute, perhaps of its own kind."""
    node, graph = _pick(random, model, "NodeProto"), _pick(random, model, "GraphProto")
    if node is None or graph is None or graph.ByteSize() > 100_000:
        return
    copy = type(graph)()
    copy.CopyFrom(graph)
    attribute = node.attribute.add(name=random.choice(("body", "then_branch", "else_branch", "g", "")), type=5)
    attribute.g.CopyFrom(copy)
    if random.random() < 0.5:
        node.op_type = random.choice(("If", "Loop", "Scan", "SequenceMap"))


FAULTS = (
    any_field,
    any_field,
    any_field,
    attributes,
    attributes,
    operands,
    operands,
    operators,
    shapes,
    tensors,
    tensors,
    versions,
    interface,
    functions,
    bodies,
)
