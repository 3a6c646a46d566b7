"""Targets, fit, and what is refused: the table's numbers, the largest tiles, the lowering's option, bad sizes."""

from __future__ import annotations

import pytest

from mcir.analysis.memory import TARGETS, account_module, account_region, find_target
from mcir.analysis.memory.fit import fit, fit_diagnostics, largest_tile
from mcir.analysis.memory.report import module_record, report_text
from mcir.diagnostics import MCIRError
from mcir.parser import parse_module
from mcir.passes.streaming_lowering import StreamingOptions, lower_attention_to_streaming
from mcir.printer import print_module
from mcir.tools.memory_report import comparison_report, memory_report, read_choices, read_dims
from tests.unit.memory_cases import attention, attention_text


def test_shared_memory_of_a_block() -> None:
    assert {name: target.shared_bytes for name, target in TARGETS.items()} == {
        "sm_75": 65536, "sm_80": 166912, "sm_86": 101376, "sm_89": 101376, "sm_120": 101376,
        "sm_90": 232448, "sm_100": 232448, "gfx942": 65536, "gfx950": 163840,
    }  # fmt: skip
    assert {target.registers_per_thread for target in TARGETS.values()} == {255}


@pytest.mark.parametrize("name", TARGETS)
def test_the_largest_tile_fits_and_one_row_more_does_not(name: str) -> None:
    target = find_target(name)
    size = largest_tile(lambda rows: rows * 128 + 16384, target)
    assert size * 128 + 16384 <= target.shared_bytes < (size + 1) * 128 + 16384
    for rows, fits in ((size, True), (size + 1, False)):
        module = attention("", 1 << 14, 1 << 14, 64, tile_m=rows)
        (nest,) = account_region(module, module.regions[0]).nests
        assert fit(nest, target).fits is fits


def test_an_overflow_lists_each_value() -> None:
    module = attention("", 4096, 4096, 64, tile_m=1024)
    error, warning = fit_diagnostics(account_module(module), find_target("sm_75"))
    assert (error.severity, error.rule, warning.severity, warning.rule) == (
        "error", "memory.shared", "warning", "memory.registers"
    )  # fmt: skip
    assert [note.message for note in error.notes] == [
        "%Q_tile takes 131,072 bytes", "%K_tile takes 8,192 bytes", "%V_tile takes 8,192 bytes"
    ]  # fmt: skip
    assert error.hint == "the largest that fit: tile-m=384 with tile-n=64"
    assert (384 + 64 + 64) * 128 == 65536


def test_registers_need_threads() -> None:
    """66,560 bytes are 16,640 registers, which 66 threads can name; the file of a block has 65,536."""
    target = find_target("sm_90")
    assert target.threads_for(66_560) == 66 == -(-16_640 // 255)
    assert target.register_bytes == 65_536 * 4


def test_a_lowering_that_cannot_fit_leaves_the_region_as_it_was() -> None:
    module = parse_module(attention_text(*["4096x64xfp16"] * 4, ("q d", "k d", "k e", "q e")))
    before = print_module(module)
    with pytest.raises(MCIRError, match="needs 147,456 bytes of shared memory") as caught:
        lower_attention_to_streaming(module.regions[0], StreamingOptions(tile_m=1024, lse=True, target="sm_75"))
    assert "tile-m=384" in str(caught.value)
    assert print_module(module) == before
    lower_attention_to_streaming(module.regions[0], StreamingOptions(tile_m=384, target="sm_75"))
    assert module.regions[0].subregions


def test_a_head_dim_without_size_is_not_judged() -> None:
    module = attention("", 1024, 1024, "(dim)")  # type: ignore[arg-type]
    account = account_region(module, module.regions[0])
    (nest,) = account.nests
    assert fit(nest, find_target("sm_75")).fits is None
    assert str(nest.live.peak["shared"]) == "512*dim"
    assert fit_diagnostics([account], find_target("sm_75")) == []
    assert "shared depends on the sizes (512*dim of 65,536)" in report_text([account], find_target("sm_75"))
    assert fit(account_region(module, module.regions[0], {"dim": 129}).nests[0], find_target("sm_75")).fits is False


def test_record_is_exact_and_complete() -> None:
    module = attention("2x", 1000, 1000, 64, lse=True)
    record = module_record(account_module(module), find_target("sm_80"))
    (region,) = record["regions"]
    assert region["streaming"] == {"read": 4_352_000, "written": 264_000, "total": 2 * 2_308_000}
    assert region["unknown"] == [] and region["op_by_op"] is None
    assert sum(move["bytes"] for move in region["tiles"][0]["moves"]) == region["streaming"]["total"]
    assert region["streaming_over_compulsory"] == 4_616_000 / region["compulsory"]["total"]
    assert record["target"]["shared_bytes"] == 166_912


def test_nothing_to_report() -> None:
    assert report_text([]) == "memory: no execution region (mcir-opt --attention-pattern forms them)\n"


def test_dims_of_the_command_line() -> None:
    assert read_dims(["seq=4096", "batch=2,past + 1=3"]) == {"seq": 4096, "batch": 2, "past + 1": 3}
    assert read_dims(["a=b=5"]) == {"a=b": 5}
    for bad in ("seq", "seq=", "=4", "seq=-1", "seq=4.0", "seq=4k"):
        with pytest.raises(MCIRError, match="--dim takes NAME=SIZE"):
            read_dims([bad])


def test_a_misspelt_dim_is_a_warning() -> None:
    module = attention("", "(seq)", "(seq)", 64)
    (warning,) = memory_report(module, "text", dims={"sek": 4}).diagnostics
    assert (warning.severity, warning.message) == ("warning", "no dimension is called 'sek'")
    assert warning.hint == "did you mean 'seq'?"


def test_sizes_that_contradict_each_other() -> None:
    module = attention("", "(rows)", "(cols)", 64)
    module.regions[0].attrs["extents"] = {"q": 7}
    with pytest.raises(MCIRError, match=r"memory\.sizes"):
        account_module(module, {"rows": 8})


@pytest.mark.parametrize("bad", ["", "tile-m", "tile-m=", "tile-m=a", "tile-k=4", "tile-m=0", "tile-m=9999999999"])
def test_bad_choices(bad: str) -> None:
    with pytest.raises(MCIRError, match="--compare"):
        read_choices(bad)


def test_compared_tiles_are_those_of_a_lowering_with_them() -> None:
    """Counting with other tiles gives what lowering with them gives."""
    module = attention("2x", 300, 500, 64, lse=True)
    text = comparison_report(module, "text", read_choices("tile-m=32,512 tile-n=16,1024")).text
    choices = [(32, 16), (32, 1024), (512, 16), (512, 1024)]
    for line, (tile_m, tile_n) in zip(text.splitlines()[2:], choices, strict=True):
        other = attention("2x", 300, 500, 64, tile_m=tile_m, tile_n=tile_n, lse=True)
        account = account_region(other, other.regions[0])
        assert account.streaming is not None
        cells = line.split()
        assert cells[:4] == [
            str(min(tile_m, 300)), str(min(tile_n, 500)), f"{account.steps:,}", f"{account.streaming.total:,}"
        ]  # fmt: skip
        assert cells[-2:] == [f"{account.live('shared'):,}", f"{account.live('register'):,}"]


@pytest.mark.parametrize(("card", "name"), [("h100", "sm_90"), ("A100", "sm_80"), ("RTX 40", "sm_89")])
def test_the_name_of_a_card_leads_to_its_target(card: str, name: str) -> None:
    with pytest.raises(MCIRError, match=f"is '{name}'"):
        find_target(card)
