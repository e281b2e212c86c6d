"""Find a definition's name in its first words, for grammars that do not mark it.

The syntax tree supplies the beginning, the end and the node type.
"""

import re

MAX_CHARACTERS = 400

# Matched against the node type, a space, and the node's text.
_BY_LANGUAGE = {
    "elm": r"""
        (?:value|type|type_alias)_declaration\s (?:type\s+)?(?:alias\s+)? (?P<name>\w+)
    """,
    # Its grammar has only commands, units and blocks.
    "groovy": r"""
        (?:end_)?command\s
        (?:(?:public|private|protected|static|final|abstract|synchronized)\s+)*
        (?:(?:class|interface|trait|enum)\s+
          |(?!(?:return|new|else|throw|case|assert)\b)
           [A-Za-z_][\w.]*(?:<[^>()]*>)?(?:\[\])?\s+(?=\w+\s*\([^{}]*\)[^(){}]*\{))
        (?P<name>\w+)
    """,
    "julia": r"""
        (?:(?:module|struct|abstract|primitive|function|macro)_definition\s
           (?:(?:baremodule|module|mutable|struct|abstract|primitive|type|function|macro)\s+)+
          |assignment\s (?=[\w.!]+(?:\{[^{}]*\})?\((?:[^()]|\([^()]*\))*\)
                           \s*(?:::\s*[\w.{},]+\s*)?(?:where\s[^=]*)?=(?!=)))
        (?P<name>[\w.!]+)
    """,
    "ocaml": r"""
        (?:(?:type|module|class)_binding\s
          |(?:module_type|method|exception)_definition\s
          |(?:value_specification|external)\s
          |let_binding\s (?=[\w']+\s+[^\s:=] | [\w']+\s*(?::[^=]*)?=\s*fun(?:ction)?\b))
        (?:(?:type|module|virtual|private|method|exception|val|external)\s+)*
        (?:'\w+\s+|\([^()]*'[^()]*\)\s+)?
        (?P<name>[\w']+)
    """,
    "pascal": r"""
        (?:declType|declProc|defProc)\s
        (?:class\s+)?(?:(?:procedure|function|constructor|destructor|operator)\s+)?
        (?P<name>[\w.]+)
    """,
    "r": r"""
        (?:binary_operator\s
           (?=[^\s(]+\s*(?:<?<-|=)\s*(?:function\b|\\\(|(?:\w+::)?(?:R6Class|setRefClass)\())
          |call\s set(?:Class|Generic|Method|RefClass|Validity)\(\s*)
        [`"']?(?P<name>[^\s`"'(),<=]+)
    """,
    "zig": r"""
        (?:Decl\s (?:(?:inline|export|extern)\s+)*
           (?:fn\s+|(?:const|var)\s+(?=\w+\s*=\s*(?:packed\s+|extern\s+)?
                                    (?:struct|enum|union|opaque|error)\b))
          |TestDecl\s test\s+"?)
        (?P<name>(?<=")[^"]+|\w+)
    """,
}
_BY_LANGUAGE["ocaml_interface"] = _BY_LANGUAGE["ocaml"]
_HEADS = {language: re.compile(head, re.VERBOSE) for language, head in _BY_LANGUAGE.items()}
LANGUAGES = frozenset(_HEADS)


def name(node_type: str, begins: str, language: str) -> str:
    """Return the defined name, or ""; `begins` is the beginning of the node's text."""
    found = _HEADS[language].match(f"{node_type} {begins}")
    return found["name"] if found else ""
