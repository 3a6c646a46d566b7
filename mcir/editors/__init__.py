"""Colours for editors and pages that read text by regular expressions alone.

    highlight.py        the rules: which piece of text is of which class
    pygments_lexer.py   as a Pygments lexer (extra `pygments`)
    textmate.py         as a TextMate grammar; `python -m mcir.editors.textmate` writes it into grammar/vscode/
"""
