"""From text to model. `grammar/mcir.lark` is the one definition of the syntax.

    grammar.py    finds the grammar and gives it to Lark
    values.py     actions of the rules for types, attributes and names
    actions.py    actions of the rules for modules, graphs, regions and nodes
    comments.py   which item a comment belongs to
    errors.py     syntax errors in words
    hints.py      what would mend a syntax error
    spots.py      where the parts of a node or head stand, for diagnostics
    automaton.py  Lark's LALR tables of the whole grammar, as a loop that can be fed any text
    recovery.py   where the reading goes on behind a syntax error
    lark_reader.py  reads a text by Lark alone
    generate.py   derives tables.py from the grammar
    fast.py       reads most texts by those tables, ten times faster, without loading Lark
"""
