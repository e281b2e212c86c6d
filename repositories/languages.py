"""Detect a file's language by its name or first line; names are tree-sitter's."""

import re
from pathlib import PurePosixPath

BY_SUFFIX = {
    suffix: language
    for language, suffixes in {
        "ada": ".adb .ads",
        "bash": ".sh .bash .zsh .ksh",
        "c": ".c",
        "clojure": ".clj .cljs .cljc .edn",
        "cmake": ".cmake",
        "cpp": ".cc .cpp .cxx .c++ .h .hh .hpp .hxx .inl .ipp",
        "csharp": ".cs",
        "css": ".css",
        "csv": ".csv .tsv",
        "dart": ".dart",
        "elisp": ".el",
        "elixir": ".ex .exs",
        "elm": ".elm",
        "erlang": ".erl .hrl",
        "fortran": ".f .f90 .f95 .for",
        "go": ".go",
        "graphql": ".graphql .gql",
        "groovy": ".groovy .gradle",
        "haskell": ".hs",
        "hcl": ".tf .hcl",
        "html": ".html .htm .xhtml",
        "ini": ".ini .cfg .conf .properties",
        "java": ".java",
        "javascript": ".js .jsx .mjs .cjs",
        "json": ".json .json5 .jsonc .jsonl .ndjson .webmanifest",
        "julia": ".jl",
        "kotlin": ".kt .kts",
        "latex": ".tex .sty",
        "lua": ".lua",
        "make": ".mk .mak",
        "markdown": ".md .markdown .mdx",
        "nix": ".nix",
        "objc": ".m .mm",
        "ocaml": ".ml",
        "ocaml_interface": ".mli",
        "pascal": ".pas .pp",
        "perl": ".pl .pm .t",
        "php": ".php .phtml",
        "powershell": ".ps1 .psm1",
        "proto": ".proto",
        "python": ".py .pyi .pyw .pyx",
        "r": ".r",
        "rst": ".rst",
        "ruby": ".rb .rake .gemspec",
        "rust": ".rs",
        "scala": ".scala .sc .sbt",
        "scss": ".scss .sass .less",
        "solidity": ".sol",
        "sql": ".sql",
        "svelte": ".svelte",
        "swift": ".swift",
        "text": ".txt .text",
        "toml": ".toml",
        "tsx": ".tsx",
        "typescript": ".ts .mts .cts",
        "vue": ".vue",
        "xml": ".xml .xsd .xsl .svg .plist .csproj",
        "yaml": ".yaml .yml",
        "zig": ".zig",
    }.items()
    for suffix in suffixes.split()
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
BY_PROGRAM = {
    "python": "python",
    "bash": "bash",
    "sh": "bash",
    "zsh": "bash",
    "node": "javascript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "lua": "lua",
    "rscript": "r",
}
UNKNOWN = "text"
KNOWN = sorted({*BY_SUFFIX.values(), *BY_NAME.values(), *BY_PROGRAM.values()})

_PROGRAM = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?([A-Za-z]+)[\d.]*(?:\s|$)")


def language_of(path: str, text: str) -> str:
    pure = PurePosixPath(path)
    name = pure.name.lower()
    found = BY_NAME.get(name) or BY_SUFFIX.get(pure.suffix.lower())
    if found is None and name.partition(".")[0] in ("dockerfile", "containerfile"):
        return "dockerfile"
    return found or _by_first_line(text) or UNKNOWN


def _by_first_line(text: str) -> str | None:
    matched = _PROGRAM.match(text.partition("\n")[0])
    return BY_PROGRAM.get(matched[1].lower()) if matched else None
