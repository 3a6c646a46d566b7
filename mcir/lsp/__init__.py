"""The language server (extra `lsp`). No file but `server.py` and those that answer requests needs pygls.

    automaton.py    the grammar's own LALR tables, as a loop that any text can be fed to
    tolerant.py     reads a text to tokens with it, also a broken one: faults, then goes on
    index.py        which token is which name: definitions, uses, the outline
    references.py   attributes whose strings and symbols are names
    positions.py    offsets and the protocol's positions
    document.py     one open text: its modules, each with its index
    checks.py       diagnostics and remarks of a document
    hover.py        what stands under the cursor
    completion.py   what may stand at the cursor; attributes.py: what their values may be
    rename.py       new names, quoted where needed; collisions are refused
    fixes.py        quick fixes from the hints of diagnostics
    formatting.py   the canonical form
    outline.py      document symbols, semantic tokens, folding
    protocol.py     from plain answers to the protocol's types
    server.py       the protocol
"""
