"""From text to model. `grammar/mcir.lark` is the one definition of the syntax.

    grammar.py    finds the grammar and gives it to Lark
    values.py     actions of the rules for types, attributes and names
    actions.py    actions of the rules for modules, graphs, regions and nodes
    comments.py   which item a comment belongs to
    errors.py     Lark's syntax errors in words
    generate.py   derives tables.py from the grammar
    fast.py       reads most texts by those tables, ten times faster, without loading Lark
"""
