"""Shell completion: a script for bash, zsh or fish, made from a tool's table of flags.

source <(mcir-opt --print-completion=bash)
mcir-opt --print-completion=zsh > "${fpath[1]}/_mcir-opt"
mcir-opt --print-completion=fish > ~/.config/fish/completions/mcir-opt.fish
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mcir.tools.arguments import OPTIONAL, SWITCH, VALUE, Flag

_BASH = """\
# bash completion for {tool}, made by `{tool} --print-completion=bash`
{function}() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} flag= lead=
    # bash splits words at `=`
    if [[ $cur == "=" ]]; then
        flag=$prev cur=
    elif [[ $prev == "=" && $COMP_CWORD -gt 1 ]]; then
        flag=${{COMP_WORDS[COMP_CWORD-2]}}
    elif [[ $cur == --*=* ]]; then
        flag=${{cur%%=*}} lead="${{cur%%=*}}=" cur=${{cur#*=}}
    else
        case $prev in
            {needing}) flag=$prev ;;
        esac
    fi
    local words= others='!{pattern}'
    case $flag in
{cases}
    esac
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -P "$lead" -W "$words" -- "$cur")
    elif [[ -z $flag && $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "{flags}" -- "$cur")
        if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *= ]]; then
            compopt -o nospace 2>/dev/null
        fi
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -X "$others" -- "$cur"; compgen -d -- "$cur")
    fi
}}
complete -F {function} {tool}
"""

_ZSH = """\
#compdef {tool}
# zsh completion for {tool}, made by `{tool} --print-completion=zsh`
{function}() {{
    _arguments -S \\
{specs}
        {inputs}
}}
if [[ ${{funcstack[1]}} == {function} ]]; then
    {function} "$@"
else
    compdef {function} {tool}
fi
"""


def completion_script(
    shell: str, tool: str, flags: Sequence[Flag], words: Mapping[str, Iterable[str]] | None = None,
    pattern: str = "*.mcir",
) -> str:  # fmt: skip
    """The script for one of SHELLS.

    words: values that a flag's own `choices` do not list. pattern: which files are inputs, "" for none.
    """
    known = {flag.name: " ".join([*flag.choices, *(words or {}).get(flag.name, ())]) for flag in flags}
    make = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return make(tool, flags, known, pattern)


def _bash(tool: str, flags: Sequence[Flag], known: Mapping[str, str], pattern: str) -> str:
    shown = [flag.name + "=" * (flag.kind == VALUE and flag.name.startswith("--")) for flag in flags]
    needing = [flag.name for flag in flags if flag.kind == VALUE]
    cases = [f'        {name}) words="{values}" ;;' for name, values in known.items() if values]
    cases += [f"        {flag.name}) others= ;;" for flag in flags if _is_file(flag)]
    return _BASH.format(
        tool=tool, function="_" + re.sub(r"\W", "_", tool), needing="|".join(needing) or "''",
        cases="\n".join(cases), flags=" ".join(shown), pattern=pattern,
    )  # fmt: skip


def _zsh(tool: str, flags: Sequence[Flag], known: Mapping[str, str], pattern: str) -> str:
    specs = [f"        {_spec(flag, known[flag.name])} \\" for flag in flags]
    inputs = f"'*:input:_files -g \"{pattern}\"'" if pattern else ""
    return _ZSH.format(tool=tool, function=f"_{tool}", specs="\n".join(specs), inputs=inputs)


def _spec(flag: Flag, values: str) -> str:
    """`'*--dump=-[help]::STYLE:(tree outline)'`: what _arguments takes for one flag."""
    joint = {SWITCH: "", OPTIONAL: "=-", VALUE: "=" if flag.name.startswith("--") else "+"}[flag.kind]
    text = f"*{flag.name}{joint}[{_escaped(flag.help)}]"
    if flag.kind != SWITCH:
        colons = "::" if flag.kind == OPTIONAL else ":"
        action = f"({values})" if values else "_files" if _is_file(flag) else ""
        text += f"{colons}{_escaped(flag.metavar or 'value')}:{action}"
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(tool: str, flags: Sequence[Flag], known: Mapping[str, str], pattern: str) -> str:
    lines = [f"# fish completion for {tool}, made by `{tool} --print-completion=fish`"]
    if not pattern:
        lines.append(f"complete -c {tool} -f")
    for flag in flags:
        name = f"-l {flag.name[2:]}" if flag.name.startswith("--") else f"-s {flag.name[1:]}"
        values = f" -a {_quoted(known[flag.name])}" if known[flag.name] else ""
        needs = {SWITCH: "", OPTIONAL: "", VALUE: " -r" if _is_file(flag) else " -x"}[flag.kind]
        lines.append(f"complete -c {tool} {name}{needs}{values} -d {_quoted(flag.help)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _is_file(flag: Flag) -> bool:
    return any(part in flag.metavar for part in ("FILE", ".npz", "SCRIPT"))


def _escaped(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", text)
