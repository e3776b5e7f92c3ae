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
    "__cluster_dims__", "__launch_bounds__", "static_assert",
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
    if not words or words[0] in ("namespace", "extern"):
        return set()
    if words[0] == "using":
        before = tokens[: tokens.index("=")] if "=" in tokens else tokens
        return {[t for t in before if t.isidentifier()][-1]}
    if _is_type(tokens):
        head, depth = [], 0
        for token in tokens[next(i for i, t in enumerate(tokens) if t in _TYPE) + 1 :]:
            depth += (token == "(") - (token == ")")
            if token in (":", "=") and depth == 0:
                break
            if depth == 0 and token.isidentifier() and token not in _TYPE | _NO_NAME | {"final"}:
                head.append(token)
        return set(head[-1:])
    found, depth, value = set(), 0, False
    for here, after in zip(tokens, [*tokens[1:], ";"]):
        depth += (here in "([<") - (here in ")]>")
        if depth == 0 and here in ("=", ","):
            value = here == "="
        if depth == 0 and not value and here.isidentifier() and here not in _NO_NAME:
            if after in ("(", "=", ";", "[", ","):
                found.add(here)
        if here == "(" and found and not value:
            break  # parameters
    return found


def _is_type(tokens: list[str]) -> bool:
    """Whether a declaration is of a class, an enum or a concept, and not of what is one."""
    kind = next((i for i, token in enumerate(tokens) if token in _TYPE), None)
    return kind is not None and "(" not in tokens[:kind]


@functools.cache
def declared(file: pathlib.Path) -> tuple[frozenset[str], frozenset[str]]:
    """Names at namespace scope and enumerators; and members of classes."""
    text = re.sub(r"^\s*#(?:\\\n|.)*", "", sources.code(file), flags=re.MULTILINE)
    names: set[str] = set()
    members: set[str] = set()
    into = {"namespace": names, "class": members}
    scopes, statement, parentheses = ["namespace"], [], 0
    for token in _TOKEN.findall(text):
        parentheses += (token == "(") - (token == ")")
        if token == "{" and parentheses > 0:
            scopes.append("argument")
        elif token == "}" and scopes[-1] == "argument":
            scopes.pop()
        elif token == "{":
            inner = "body"
            if scopes[-1] in into:
                plain = _without_angles(statement)
                into[scopes[-1]].update(_names(statement))
                if "namespace" in plain or plain[:1] == ["extern"]:
                    inner = "namespace"
                elif "enum" in plain:
                    inner = "enum"
                elif _is_type(plain):
                    inner = "class"
            scopes.append(inner)
            statement = []
        elif token == "}":
            if scopes[-1] == "enum":
                names |= _enumerators(statement)
            scopes.pop()
            statement = []
        elif token == ";" and parentheses == 0 and scopes[-1] in into:
            into[scopes[-1]].update(_names(statement))
            statement = []
        else:
            statement.append(token)
    return frozenset(names), frozenset(members)


def _enumerators(tokens: list[str]) -> set[str]:
    return {
        name for before, name in zip([",", *tokens], tokens) if before == "," and name.isidentifier()
    }


@functools.cache
def _mentioned(file: pathlib.Path) -> tuple[frozenset[str], frozenset[str]]:
    """Every identifier in a file's code, includes left out; and those behind `.`, `->` or `::`."""
    text = re.sub(r"^\s*#\s*include.*", "", sources.code(file), flags=re.MULTILINE)
    behind = re.findall(r"(?:\.|->|::)\s*([A-Za-z_]\w*)", text)
    return frozenset(re.findall(r"[A-Za-z_]\w*", text)), frozenset(behind)


def uses(file: pathlib.Path, header: pathlib.Path) -> bool:
    """Whether `file` mentions a name that `header` declares. A type that a function returned needs no
    mention of its own, so that a member of it counts."""
    names, members = declared(header)
    mentioned, behind = _mentioned(file)
    return bool(names & mentioned or members & behind)
