"""The functions of a CUDA C++ file, found by tree-sitter: to tell ``solve``, its helpers and its kernels apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from harness.rewrite import mask

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_INSIDE = ("namespace_definition", "linkage_specification", "template_declaration", "declaration_list", "ERROR")


@dataclass(frozen=True)
class Function:
    """A free function with a body. ``start`` and ``end`` span all of it, its template and ``extern "C"`` included;
    ``head`` is what stands before its name, ``parameters`` the text between its parentheses, without comments."""

    name: str
    qualified: str
    start: int
    end: int
    head: str
    parameters: str
    template: bool

    @property
    def kernel(self) -> bool:
        """Whether it is ``__global__``."""
        return "__global__" in self.head

    @property
    def on_device(self) -> bool:
        """Whether it is ``__global__`` or ``__device__``."""
        return "__global__" in self.head or "__device__" in self.head


def find_functions(code: str) -> tuple[list[Function], bool]:
    """The functions of ``code`` (one character per byte), and whether some of it is not C++ as tree-sitter knows it."""
    tree = _parser().parse(code.encode("latin-1"))
    return list(_functions(tree.root_node, code, "")), tree.root_node.has_error


@cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def _functions(node: Node, code: str, scope: str) -> Iterator[Function]:
    """Free functions with a body, through namespaces, templates, ``extern "C"`` and the branches of ``#if``."""
    for child in node.named_children:
        if child.type == "function_definition":
            function = _function(child, code, scope)
            if function is not None:
                yield function
        elif child.type in _INSIDE or child.type.startswith("preproc_"):
            name = child.child_by_field_name("name") if child.type == "namespace_definition" else None
            inner = f"{scope}{_text(name, code)}::" if name is not None else scope
            yield from _functions(child, code, inner)


def _function(node: Node, code: str, scope: str) -> Function | None:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    name = declarator.child_by_field_name("declarator") if declarator is not None else None
    parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
    if name is None or parameters is None:
        return None
    outer = node
    while outer.parent is not None and outer.parent.type in ("template_declaration", "linkage_specification"):
        outer = outer.parent
    return Function(
        name=_text(name, code), qualified=scope + _text(name, code), start=outer.start_byte, end=outer.end_byte,
        head=code[outer.start_byte : name.start_byte], parameters=mask(_text(parameters, code))[1:-1],
        template=outer.type == "template_declaration",
    )  # fmt: skip


def _text(node: Node, code: str) -> str:
    return code[node.start_byte : node.end_byte]
