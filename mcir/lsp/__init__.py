"""The language server (extra `lsp`). Only the last four of these files need pygls.

    tolerant.py     reads a text to tokens, also a broken one: faults, then goes on
    index.py        which token is which name: definitions, uses, the outline
    references.py   attributes whose strings and symbols are names
    positions.py    offsets and the protocol's positions
    document.py     one open text: its modules, each with its index
    checks.py       diagnostics and remarks of a document
    hover.py        what stands under the cursor
    completion.py   what may stand at the cursor; attributes.py: what their values may be
    rename.py       new names, quoted where needed; collisions are refused
    fixes.py        quick fixes for what diagnostics say
    formatting.py   the canonical form
    outline.py      document symbols, semantic tokens, folding, selections
    hints.py        inlay hints: bytes, verdicts on attention
    signature.py    the signature of the op that is written
    commands.py     the lowered form, the memory account, the picture; the lenses that offer them
    protocol.py     from plain answers to the protocol's types
    wire.py         bad messages, changes of texts
    server.py       the open texts and when they are checked
    answers_*.py    requests: about a place, that write, about a whole text
"""
