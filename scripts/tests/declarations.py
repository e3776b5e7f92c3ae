# SPDX-License-Identifier: Apache-2.0
"""Which names a C++ file declares for others, read from its text without a compiler."""

import functools
import pathlib
import re

import sources

_TOKEN = re.compile(r"[A-Za-z_]\w*|::|[^\s\w]")
_TYPE = {"class", "struct", "union", "enum", "concept"}
_NO_NAME = {
    "alignas", "auto", "bool", "char", "const", "constexpr", "decltype", "double", "explicit",
    "extern", "float", "friend", "if", "inline", "int", "long", "noexcept", "operator", "public",
    "requires", "return", "short", "signed", "sizeof", "static", "template", "typename", "unsigned",
    "using", "virtual", "void", "volatile", "__device__", "__global__", "__host__",
    "__launch_bounds__", "static_assert",
}


def _without_angles(tokens: list[str]) -> list[str]:
    """Without `template <...>`, whose parameters are names of its own."""
    if tokens[:2] != ["template", "<"]:
        return tokens
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token == "<") - (token == ">")
        if depth == 0 and i > 0:
            return _without_angles(tokens[i + 1 :])
    return tokens


def _names(statement: list[str]) -> set[str]:
    """What one declaration, read up to its `;` or `{`, declares."""
    tokens = _without_angles(statement)
    words = [t for t in tokens if t[0].isalpha() or t[0] == "_"]
    if not words:
        return set()
    if words[0] == "using":
        before = tokens[: tokens.index("=")] if "=" in tokens else tokens
        return {[t for t in before if t.isidentifier()][-1]}
    kinds = [i for i, t in enumerate(tokens) if t in _TYPE]
    if kinds and "(" not in tokens[: kinds[0]]:
        head, depth = [], 0
        for token in tokens[kinds[0] + 1 :]:
            depth += (token == "(") - (token == ")")
            if token in (":", "=") and depth == 0:
                break
            if depth == 0 and token.isidentifier() and token not in _TYPE | _NO_NAME | {"final"}:
                head.append(token)
        return set(head[-1:])
    found, depth = set(), 0
    for here, after in zip(tokens, [*tokens[1:], ";"]):
        depth += (here in "([<") - (here in ")]>")
        if depth == 0 and here.isidentifier() and here not in _NO_NAME:
            if after in ("(", "=", ";", "[", ","):
                found.add(here)
        if here == "=" or (here == "(" and found):
            break
    return found


@functools.cache
def declared(file: pathlib.Path) -> frozenset[str]:
    """Names at namespace scope and enumerators, those of bodies and members left out."""
    text = re.sub(r"^\s*#(?:\\\n|.)*", "", sources.code(file), flags=re.MULTILINE)
    names: set[str] = set()
    scopes, statement, parentheses = ["namespace"], [], 0
    for token in _TOKEN.findall(text):
        parentheses += (token == "(") - (token == ")")
        if token == "{":
            if scopes[-1] == "namespace" and parentheses == 0:
                if "namespace" in statement or statement[:1] == ["extern"]:
                    scopes.append("namespace")
                else:
                    names |= _names(statement)
                    plain = set(_without_angles(statement))
                    scopes.append("enum" if "enum" in plain else "other")
            else:
                scopes.append("other")
            statement = []
        elif token == "}":
            if scopes[-1] == "enum":
                names |= _enumerators(statement)
            scopes.pop()
            statement = []
        elif token == ";" and parentheses == 0 and scopes[-1] == "namespace":
            names |= _names(statement)
            statement = []
        else:
            statement.append(token)
    return frozenset(names)


def _enumerators(tokens: list[str]) -> set[str]:
    return {
        name for before, name in zip([",", *tokens], tokens) if before == "," and name.isidentifier()
    }


@functools.cache
def mentioned(file: pathlib.Path) -> frozenset[str]:
    """Every identifier in a file's code, includes left out."""
    text = re.sub(r"^\s*#\s*include.*", "", sources.code(file), flags=re.MULTILINE)
    return frozenset(re.findall(r"[A-Za-z_]\w*", text))
