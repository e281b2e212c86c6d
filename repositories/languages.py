"""Detect a file's language by its name or first line; names are tree-sitter's."""

import re
from pathlib import PurePosixPath

BY_SUFFIX = {
    suffix: language
    for language, suffixes in {
        "actionscript": ".as",
        "ada": ".adb .ads .ada",
        "agda": ".agda",
        "apex": ".cls .trigger .apex",
        "arduino": ".ino .pde",
        "asm": ".s .asm .nasm",
        "astro": ".astro",
        "bash": ".sh .bash .zsh .ksh",
        "beancount": ".beancount .bean",
        "bibtex": ".bib",
        "bicep": ".bicep .bicepparam",
        "bitbake": ".bb .bbappend .bbclass",
        "bsl": ".bsl .os",
        "c": ".c",
        "cairo": ".cairo",
        "capnp": ".capnp",
        "chatito": ".chatito",
        "clarity": ".clar",
        "clojure": ".clj .cljs .cljc .edn",
        "cmake": ".cmake",
        "cobol": ".cob .cbl .cobol .cpy",
        "commonlisp": ".lisp .lsp .asd",
        "cpon": ".cpon",
        "cpp": ".cc .cpp .cxx .c++ .h .hh .hpp .hxx .inl .ipp",
        "csharp": ".cs",
        "css": ".css",
        "csv": ".csv .tsv",
        "cuda": ".cu .cuh",
        "d": ".d .di",
        "dart": ".dart",
        "dtd": ".dtd",
        "elisp": ".el",
        "elixir": ".ex .exs",
        "elm": ".elm",
        "embeddedtemplate": ".erb .ejs",
        "erlang": ".erl .hrl",
        "fennel": ".fnl",
        "firrtl": ".fir",
        "fish": ".fish",
        "fortran": ".f .f77 .f90 .f95 .f03 .f08 .for .ftn",
        "fsharp": ".fs .fsx .fsscript",
        "fsharp_signature": ".fsi",
        "func": ".fc .func",
        "gdscript": ".gd",
        "gleam": ".gleam",
        "glsl": ".glsl .vert .frag .geom .comp .tesc .tese",
        "gn": ".gn .gni",
        "go": ".go",
        "graphql": ".graphql .gql",
        "groovy": ".groovy .gradle",
        "hack": ".hack .hck .hhi",
        "hare": ".ha",
        "haskell": ".hs",
        "haxe": ".hx",
        "hcl": ".tf .hcl",
        "heex": ".heex .leex",
        "hlsl": ".hlsl .hlsli .fx",
        "html": ".html .htm .xhtml",
        "ini": ".ini .cfg .conf",
        "ispc": ".ispc .isph",
        "janet": ".janet",
        "java": ".java",
        "javascript": ".js .jsx .mjs .cjs",
        "json": ".json .json5 .jsonc .jsonl .ndjson .webmanifest",
        "jsonnet": ".jsonnet .libsonnet",
        "julia": ".jl",
        "kdl": ".kdl",
        "kotlin": ".kt .kts",
        "latex": ".tex .sty .ltx .dtx",
        "linkerscript": ".ld .lds",
        "llvm": ".ll",
        "lua": ".lua",
        "luau": ".luau",
        "magik": ".magik",
        "make": ".mk .mak",
        "markdown": ".md .markdown .mdx",
        "mermaid": ".mmd .mermaid",
        "netlinx": ".axs .axi",
        "nim": ".nim .nims .nimble",
        "ninja": ".ninja",
        "nix": ".nix",
        "nqc": ".nqc",
        "objc": ".m .mm",
        "ocaml": ".ml",
        "ocaml_interface": ".mli",
        "odin": ".odin",
        "org": ".org",
        "pascal": ".pas .dpr",
        "perl": ".pl .pm .t",
        "pgn": ".pgn",
        "php": ".php .phtml",
        "po": ".po .pot",
        "pony": ".pony",
        "powershell": ".ps1 .psm1",
        "prisma": ".prisma",
        "properties": ".properties",
        "proto": ".proto",
        "psv": ".psv",
        "puppet": ".pp",
        "purescript": ".purs",
        "python": ".py .pyi .pyw .pyx",
        "qmljs": ".qml",
        "r": ".r",
        "racket": ".rkt .rktl .scrbl",
        "rego": ".rego",
        "ron": ".ron",
        "rst": ".rst",
        "ruby": ".rb .rake .gemspec",
        "rust": ".rs",
        "scala": ".scala .sc .sbt",
        "scheme": ".scm .ss .sld .sls .sps",
        "scss": ".scss .sass .less",
        "smali": ".smali",
        "smithy": ".smithy",
        "solidity": ".sol",
        "sparql": ".rq .sparql",
        "sql": ".sql",
        "squirrel": ".nut",
        "starlark": ".bzl .bazel .star",
        "svelte": ".svelte",
        "swift": ".swift",
        "tablegen": ".td",
        "tcl": ".tcl .tk .itcl",
        "text": ".txt .text",
        "thrift": ".thrift",
        "toml": ".toml",
        "tsx": ".tsx",
        "twig": ".twig",
        "typescript": ".ts .mts .cts",
        "typst": ".typ",
        "ungrammar": ".ungram .ungrammar",
        "uxntal": ".tal",
        "v": ".vv .vsh",
        "verilog": ".v .vh .sv .svh",
        "vhdl": ".vhd .vhdl",
        "vim": ".vim",
        "vue": ".vue",
        "wast": ".wast",
        "wat": ".wat",
        "wgsl": ".wgsl",
        "xml": ".xml .xsd .xsl .svg .plist .csproj",
        "yaml": ".yaml .yml",
        "yuck": ".yuck",
        "zig": ".zig",
    }.items()
    for suffix in suffixes.split()
}
# The first language whose pattern occurs at the beginning of a text; otherwise as above.
_BY_CONTENT = {
    suffix: [(re.compile(pattern, re.MULTILINE), language) for pattern, language in rules]
    for suffix, rules in {
        ".bb": [(r"\A(?:\s|[;#][^\n]*\n)*\(", "clojure")],
        ".cl": [(r"\A\s*[(;]", "commonlisp"), (r"^", "c")],
        ".cls": [(r"\A\s*[%\\]", "latex"), (r"\AVERSION ", "text")],
        ".d": [
            (r"^[\w./-]+\.o\s*:", "make"),
            (r"^(?:#pragma D\s|(?:[\w$*-]*:){3})", "text"),  # DTrace
        ],
        ".fs": [(r"^\s*(?:#version|void\s+main\s*\()", "glsl")],
        ".h": [(r"^\s*(?:@(?:interface|protocol|class)|#import)\b", "objc")],
        ".m": [
            (r"^\s*(?:@(?:interface|implementation|protocol|import|class)|#\w+)\b", "objc"),
            (r"^\s*(?:%|(?:function|classdef)\b)", "matlab"),
        ],
        ".pl": [
            (r"\A(?:\s|%[^\n]*\n)*(?::-|[a-z]\w*\([^()\n]*\)\s*(?::-|\.))", "text"),  # Prolog
        ],
        ".pp": [(r"^\s*(?:(?i:unit|program|library|uses)\s+[\w.]+\s*[;,]|\{\$)", "pascal")],
        ".re": [(r"re2c", "re2c")],
        ".rules": [(r"^[A-Z]+(?:\{[^}]*\})?\s*[!=+:]?=\s*\"", "udev")],
        ".scm": [(r"[)\]\"_]\s+@[a-z][\w.]*", "query")],
        ".ts": [(r"\A\s*<(?:\?xml|!DOCTYPE TS)", "xml")],
        ".v": [
            (r"^(?:(?:pub\s+)?(?:fn|struct|enum|interface)\s|import\s+[\w.]+\s*$)", "v"),
            (r"^(?:Require|From|Theorem|Lemma|Definition|Inductive)\s", "text"),  # Coq
        ],
    }.items()
}
BY_NAME = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "cmakelists.txt": "cmake",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
    "jenkinsfile": "groovy",
    "readme": "text",
    "go.mod": "gomod",
}
# Written exactly like this; the words themselves are too common to name files in queries.
_BY_EXACT_NAME = {
    name: language
    for language, names in {
        "gitattributes": ".gitattributes",
        "gitignore": ".gitignore .dockerignore .contextdignore",
        "gosum": "go.sum",
        "hyprlang": "hyprland.conf",
        "kconfig": "Kconfig",
        "meson": "meson.build meson_options.txt meson.options",
        "pymanifest": "MANIFEST.in",
        "qmldir": "qmldir",
        "readline": ".inputrc inputrc",
        "requirements": "requirements.txt requirements-dev.txt constraints.txt",
        "starlark": "BUILD WORKSPACE Tiltfile",
        "vim": ".vimrc vimrc _vimrc",
        "xcompose": ".XCompose",
    }.items()
    for name in names.split()
}
_BY_STEM = {"containerfile": "dockerfile", "dockerfile": "dockerfile", "kconfig": "kconfig"}
BY_PROGRAM = {
    "python": "python",
    "bash": "bash",
    "dash": "bash",
    "ksh": "bash",
    "sh": "bash",
    "zsh": "bash",
    "node": "javascript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "lua": "lua",
    "rscript": "r",
    "elixir": "elixir",
    "escript": "erlang",
    "fish": "fish",
    "groovy": "groovy",
    "guile": "scheme",
    "janet": "janet",
    "julia": "julia",
    "make": "make",
    "pwsh": "powershell",
    "racket": "racket",
    "sbcl": "commonlisp",
    "tclsh": "tcl",
    "wish": "tcl",
}
_MEMBERS = """
.as .bean .cls .comp .conf .csv .d .fc .fish .frag .func .html .json .org .os .prisma
.properties .s .sql .star .text .trigger .v .vert .xml
"""
MEMBERS = frozenset(_MEMBERS.split())
"""Suffixes that are usual names of attributes, so `order.org` may also be an identifier."""

UNKNOWN = "text"
KNOWN = sorted(
    {
        *BY_SUFFIX.values(),
        *BY_NAME.values(),
        *BY_PROGRAM.values(),
        *_BY_EXACT_NAME.values(),
        *(language for rules in _BY_CONTENT.values() for _, language in rules),
    }
)
_HEAD_CHARACTERS = 4000

_PROGRAM = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?([A-Za-z]+)[\d.]*(?:\s|$)")


def language_of(path: str, text: str) -> str:
    pure = PurePosixPath(path)
    suffix, name = pure.suffix.lower(), pure.name.lower()
    return (
        _BY_EXACT_NAME.get(pure.name)
        or BY_NAME.get(name)
        or (_by_first_line(text) if suffix in MEMBERS else None)
        or _by_content(suffix, text[:_HEAD_CHARACTERS])
        or BY_SUFFIX.get(suffix)
        or _BY_STEM.get(name.partition(".")[0])
        or _by_first_line(text)
        or UNKNOWN
    )


def _by_content(suffix: str, text: str) -> str | None:
    rules = _BY_CONTENT.get(suffix, ())
    return next((language for pattern, language in rules if pattern.search(text)), None)


def _by_first_line(text: str) -> str | None:
    matched = _PROGRAM.match(text.partition("\n")[0])
    return BY_PROGRAM.get(matched[1].lower()) if matched else None
