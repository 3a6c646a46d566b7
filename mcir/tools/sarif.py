"""Diagnostics as one SARIF 2.1.0 log (OASIS), for code hosts and viewers: what `--diagnostics=sarif` writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mcir
from mcir.tools.records import Record

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "remark": "note"}


def sarif_log(tool: str, records: Iterable[Record]) -> dict[str, Any]:
    """The log of one run of `tool`, from the records of its diagnostics and remarks.

    Lines and columns count characters from 1; a region ends behind its last character. A result without a place has no
    `locations`; its hint stands in the message, as SARIF's fixes are edits.
    """
    results = [_result(record) for record in records]
    rules = sorted({result["ruleId"] for result in results if "ruleId" in result})
    driver = {"name": tool, "version": mcir.__version__, "rules": [_rule(name) for name in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    from mcir.verifier.rules import find_rule

    found = find_rule(name)
    return {"id": name, "shortDescription": {"text": found.title}} if found is not None else {"id": name}


def _result(record: Record) -> dict[str, Any]:
    hint = f"\nhint: {record['hint']}" if record["hint"] else ""
    result: dict[str, Any] = {
        "level": _LEVELS[record["severity"]],
        "message": {"text": f"{record['message']}{hint}"},
        "locations": [_location(record)] if record["file"] is not None else [],
    }
    if record["rule"]:
        result["ruleId"] = record["rule"]
    if record["notes"]:
        result["relatedLocations"] = [
            {"message": {"text": note["message"]}, **(_location(note) if note["file"] is not None else {})}
            for note in record["notes"]
        ]
    return result


def _location(place: Record) -> dict[str, Any]:
    from urllib.parse import quote

    end = place["end"]
    region = {
        "startLine": place["line"], "startColumn": place["column"],
        "endLine": end["line"], "endColumn": end["column"],
    }  # fmt: skip
    return {"physicalLocation": {"artifactLocation": {"uri": quote(place["file"])}, "region": region}}
