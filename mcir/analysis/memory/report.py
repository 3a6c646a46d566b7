"""The account as data for JSON, and as text for people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from mcir.analysis.memory.account import NestAccount, RegionAccount
from mcir.analysis.memory.fit import Fit, fit
from mcir.analysis.memory.live import ON_CHIP
from mcir.analysis.memory.symbolic import Formula, Number, names_of, symbol
from mcir.analysis.memory.targets import Target
from mcir.text import name_text

Record = dict[str, Any]
Show = Callable[[Number], str]

_WIDEST_CELL = 32
_UNREADABLE = re.compile(r"unk__[0-9]+|.{13,}")  # ONNX's shape inference numbers the sizes that it cannot name
_SIZE = re.compile(r'"(?:[^"\\]|\\.)*"|\?\w+|\w+')


def module_record(accounts: list[RegionAccount], target: Target | None = None) -> Record:
    """The whole report as JSON data: exact integers, formulas as strings, null for what is not known."""
    records = [region_record(account, target) for account in accounts]
    target_record = None if target is None else {"name": target.name, "shared_bytes": target.shared_bytes,
                                                 "register_bytes": target.register_bytes}  # fmt: skip
    return {"target": target_record, "regions": records}


def region_record(account: RegionAccount, target: Target | None = None) -> Record:
    """One region as JSON data."""
    streaming, naive = account.streaming, account.op_by_op
    return {
        "region": account.region.name,
        "graph": account.graph or None,
        "unknown": sorted(account.unknown()),
        "streaming": streaming and _traffic(streaming.read, streaming.written),
        "compulsory": _traffic(account.compulsory.read, account.compulsory.written),
        "op_by_op": naive and {
            **_traffic(naive.read, naive.written), "layout": plain(naive.layout), "nodes": naive.nodes
        },
        "streaming_over_compulsory": streaming and ratio(streaming.total, account.compulsory.total),
        "op_by_op_over_streaming": ratio(naive.total, streaming.total) if naive and streaming else None,
        "steps": plain(account.steps) if streaming else None,
        "all_steps": plain(account.all_steps) if streaming else None,
        "flops": plain(account.flops) if streaming else None,
        "flops_per_byte": streaming and ratio(account.flops, streaming.total),
        "live": {residency: plain(account.live(residency)) for residency in ON_CHIP} if streaming else None,
        "tiles": [_nest_record(nest, target) for nest in account.nests],
    }  # fmt: skip


def plain(number: Number) -> int | str:
    """An integer, or a formula as text."""
    return str(number) if isinstance(number, Formula) else number


def ratio(number: Number, by: Number) -> float | None:
    """A quotient as a float; None where a size is unknown or nothing is there to divide by."""
    return float(Fraction(number, by)) if isinstance(number, int) and isinstance(by, int) and by else None


def _traffic(read: Number, written: Number) -> Record:
    return {"read": plain(read), "written": plain(written), "total": plain(read + written)}


def _nest_record(nest: NestAccount, target: Target | None) -> Record:
    record = {
        "tile": nest.nest.tile.name, "tile_m": nest.tile_m, "tile_n": nest.tile_n,
        "moves": [
            {
                "node": move.node.name, "tensor": move.tensor, "direction": "read" if move.is_read else "write",
                "phase": str(move.phase), "bytes_per_trip": plain(move.trip(nest.tile_m, nest.tile_n)),
                "trips": plain(nest.totals.trips.get(move.node.name, 0)),
                "bytes": plain(nest.totals.moved.get(move.node.name, 0)),
            }
            for move in nest.moves
        ],
        "values": [
            {"value": name, "residency": str(value.residency), "bytes": plain(nest.live.bytes[name])}
            for name, value in nest.live.values.items()
        ],
        "live": {residency: plain(nest.live.peak[residency]) for residency in ON_CHIP},
    }  # fmt: skip
    if target is not None:
        here = fit(nest, target)
        record["fit"] = {"target": target.name, "shared": here.fits, "registers": here.registers_fit}
    return record


def report_text(accounts: list[RegionAccount], target: Target | None = None) -> str:
    """The report for people: a paragraph for each region, and the sum where there are several."""
    if not accounts:
        return "memory: no execution region (mcir-opt --attention-pattern forms them)\n"
    blocks = [_region_text(account, target) for account in accounts]
    if len(accounts) > 1:
        blocks.append(_sum_text(accounts))
    return "\n".join(blocks)


def _region_text(account: RegionAccount, target: Target | None) -> str:
    short = _short_names(account)
    lines = _region_lines(account, target, lambda number: _renamed(grouped(number), short))
    if short:
        lines.append(f"  sizes: {', '.join(f'{label} = {name}' for name, label in short.items())}")
    if unknown := sorted(account.unknown()):
        lines.append(f"  sizes without a value: {', '.join(unknown)} (--dim {unknown[0]}=SIZE)")
    return "\n".join(lines) + "\n"


def _short_names(account: RegionAccount) -> dict[str, str]:
    """Names that no person gave, or too long for a formula -> the label of the axis that has this size."""
    names = account.unknown()
    short: dict[str, str] = {}
    for label, size in account.sizes.labels.items():
        (name, *others) = names_of(size) or {""}
        if not others and size == symbol(name) and _UNREADABLE.fullmatch(name) and label not in names:
            short.setdefault(str(size), label)
    return short


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A formula with other names of sizes."""
    return _SIZE.sub(lambda match: names.get(match[0], match[0]), text) if names else text


def _region_lines(account: RegionAccount, target: Target | None, show: Show) -> list[str]:
    graph = f", from graph @{name_text(account.graph)}" if account.graph else ""
    lines = [f"memory of @{name_text(account.region.name)}{graph}"]
    lines += _traffic_lines(account, show)
    if account.streaming is None:
        lines.append("  not lowered: mcir-opt --streaming-lowering makes the stream")
    else:
        lines.append(f"  steps: {show(account.steps)} of {show(account.all_steps)}")
        intensity = ratio(account.flops, account.streaming.total)
        per_byte = f", {intensity:.1f} a byte" if intensity is not None else ""
        lines.append(f"  flops: {show(account.flops)}{per_byte}")
    for nest in account.nests:
        lines += _nest_lines(nest, target, show)
    return lines


def _traffic_lines(account: RegionAccount, show: Show) -> list[str]:
    """Bytes read, written and together, each way of doing the work in a row."""
    rows = [("streaming", account.streaming), ("compulsory", account.compulsory), ("op by op", account.op_by_op)]
    least = account.compulsory.total
    table = [["global bytes", "read", "written", "total", "x compulsory"]]
    for name, traffic in rows:
        if traffic is not None:
            times = ratio(traffic.total, least)
            cells = [show(traffic.read), show(traffic.written), show(traffic.total)]
            table.append([name, *cells, f"{times:.2f}" if times is not None else ""])
    return [f"  {line}" for line in _table_or_list(table)]


def _nest_lines(nest: NestAccount, target: Target | None, show: Show) -> list[str]:
    lines = [f"  tiles of @{name_text(nest.nest.tile.name)}: {nest.tile_m} rows, {nest.tile_n} keys"]
    table = [["node", "tensor", "phase", "bytes a trip", "trips", "bytes"]]
    for move in nest.moves:
        name = move.node.name
        amounts = [move.trip(nest.tile_m, nest.tile_n), nest.totals.trips.get(name, 0), nest.totals.moved.get(name, 0)]
        table.append([f"@{name_text(name)}", f"%{name_text(move.tensor)}", str(move.phase), *map(show, amounts)])
    lines += [f"    {line}" for line in _table_or_list(table, left=3)]
    for residency in ON_CHIP:
        held = ", ".join(
            f"%{name_text(name)} {show(nest.live.bytes[name])}" for name in nest.live.at_peak[residency]
        )
        lines.append(f"    live in {residency} memory: {show(nest.live.peak[residency])} ({held})"
                     .replace("register memory", "registers"))  # fmt: skip
    return lines + ([f"    {_fit_text(fit(nest, target), show)}"] if target is not None else [])


def _fit_text(here: Fit, show: Show) -> str:
    target = here.target
    verdict = {True: "fits", False: "does not fit", None: "depends on the sizes"}
    parts = [f"shared {verdict[here.fits]} ({show(here.shared)} of {target.shared_bytes:,})"]
    threads = f", {target.threads_for(here.registers):,} threads or more" if isinstance(here.registers, int) else ""
    registers = f"{show(here.registers)} of {target.register_bytes:,}{threads}"
    parts.append(f"registers {verdict[here.registers_fit]} ({registers})")
    return f"on {target.name}, {target.title}: {'; '.join(parts)}"


def _sum_text(accounts: list[RegionAccount]) -> str:
    """All regions together, as far as each way of doing the work is known for all."""
    lines = [f"all {len(accounts)} regions, global bytes"]
    for name, totals in (
        ("streaming", [account.streaming for account in accounts]),
        ("compulsory", [account.compulsory for account in accounts]),
        ("op by op", [account.op_by_op for account in accounts]),
    ):
        known = [each.total for each in totals if each is not None]
        if len(known) == len(accounts):
            lines.append(f"  {name}: {grouped(sum(known, start=0))}")
    return "\n".join(lines) + "\n"


def grouped(number: Number) -> str:
    """`1,048,576`, or a formula as it is."""
    return f"{number:,}" if isinstance(number, int) else str(number)


def _table_or_list(table: list[list[str]], left: int = 1) -> list[str]:
    """A table, or where formulas would make it too wide, each row as a paragraph under its name."""
    if max(len(cell) for row in table for cell in row) <= _WIDEST_CELL:
        return aligned(table, left)
    head, *rows = table
    lines = [head[0]]
    for row in rows:
        lines.append(f"  {' '.join(row[:left])}")
        lines += [f"    {title}: {cell}" for title, cell in zip(head[left:], row[left:], strict=True) if cell]
    return lines


def aligned(table: list[list[str]], left: int = 1) -> list[str]:
    """The rows of a table as lines: the first `left` columns to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(_cells(row, widths, left)).rstrip() for row in table]


def _cells(row: list[str], widths: list[int], left: int) -> Iterable[str]:
    for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.ljust(width) if at < left else cell.rjust(width)
