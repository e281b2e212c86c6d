"""How definitions begin, for grammars or node types that do not mark their names."""

_OCAML_WORDS = r"""
    (?:(?:type|module|virtual|private|method|exception|val|external)\s+)*
    (?:'\w+\s+|\([^()]*'[^()]*\)\s+)?
"""
_TCL_NAME = r"(?:::)?(?P<name>[\w.-]+(?:::[\w.-]+)*)"
# By language and node type: how the node's text begins. NAME is a word that is defined, VALUE a
# constant or variable. The first type that matches decides.
BY_TYPE: dict[str, dict[str, str]] = {
    "ada": {
        r"package_\w+": r"package\s+(?:body\s+)?(?P<name>[\w.]+)",
        r"subprogram_\w+|\w+_function_declaration": r"""
            (?:(?:not\s+)?overriding\s+)?(?:procedure|function)\s+(?P<name>[\w.]+)
        """,
        r"\w*(?:task|protected)\w*": r"(?:task|protected)\s+(?:(?:type|body)\s+)?NAME",
        r"(?!formal)\w*type_declaration": r"(?:sub)?type\s+NAME",
        r"exception_declaration": r"NAME\s*:",
        r"object_declaration": r"VALUE\s*:\s*constant\b",
    },
    "agda": {
        r"module|data|record": r"(?:module|data|record)\s+(?P<name>[^\s{(:]+)",
        r"function": r"(?P<name>[^\s(){}]+)\s*:\s",
    },
    "asm": {r"label": r"NAME\s*:"},
    "bibtex": {r"entry": r"@\w+\s*\{\s*(?P<name>[^\s,{}]+)"},
    "bicep": {
        r"\w+_declaration|user_defined_function": r"""
            (?:type|resource|module|func)\s+NAME | (?:param|var|output)\s+VALUE
        """,
    },
    "capnp": {
        r"struct|enum|interface": r"\w+\s+NAME",
        r"method": r"NAME\s*@",
        r"const": r"const\s+VALUE",
    },
    "chatito": {r"(?:intent|slot|alias)_def": r"[%@~]\[(?P<name>[^\]#?\n]+)"},
    "clarity": {
        r"(?:variable|constant)_definition": r"\(define-[\w-]+\s+(?P<value>[\w!?-]+)",
        r"\w+_definition": r"\(define-[\w-]+\s+\(?(?P<name>[\w!?-]+)",
    },
    "cmake": {
        r"(?:function|macro)_def": r"\w+\s*\(\s*NAME",
        r"normal_command": r"""
            (?i:add_(?:executable|library|custom_target))\s*\(\s*(?P<name>[\w.:-]+)
            | (?i:set|option)\s*\(\s*VALUE
        """,
    },
    "cobol": {
        r"program_definition": r"(?is:.*?program-id)\s*\.\s*(?P<name>[\w-]+)",
        r"(?:section|paragraph)_header": r"(?P<name>[\w-]+)",
    },
    "dart": {
        r"\w*constructor_signature": r"(?:(?:const|factory|external)\s+)*(?:\w+\.(?=\w))?NAME",
        r"type_alias": r"typedef\s+(?:(?=[^=(]*=)|[^=(]*\s)NAME",
        r"operator_signature": r"[^(]*?\boperator\s*(?P<name>[^\s\w(]+)",
    },
    "dockerfile": {
        r"from_instruction": r"(?i:from(?:\s+--\S+)*\s+\S+\s+as)\s+(?P<name>[\w.-]+)",
    },
    "dtd": {r"elementdecl|\wEDecl|NotationDecl": r"<!\w+\s+(?:%\s+)?(?P<name>[\w.:-]+)"},
    "elixir": {r"unary_operator": r"@(?:typep?|opaque|(?:macro)?callback)\s+NAME"},
    "elm": {
        r"(?:value|type|type_alias)_declaration": r"(?:type\s+)?(?:alias\s+)?NAME",
    },
    "erlang": {
        r"module_attribute|record_decl": r"-\s*(?:module|record)\s*\(\s*'?(?P<name>[\w.@]+)",
        r"type_alias|opaque|nominal|callback": r"-\s*\w+\s+NAME",
        r"pp_define": r"-\s*define\s*\(\s*VALUE",
        r"fun_decl": r"'?NAME'?\s*\(",
    },
    "fish": {
        r"function_definition": r"function\s+(?P<name>[^\s;]+)",
        r"command": r"set\s+-\w*[gUx]\w*\s+VALUE",
    },
    "fortran": {
        r"module|submodule|program": r"(?i:module|submodule\s*\([^)]*\)|program)\s+NAME",
        r"subroutine|function|module_procedure": r"""
            (?i:(?:[^\n!]*\s)?(?:subroutine|function|module\s+procedure))\s+NAME
        """,
        r"derived_type_definition": r"(?i:type\b(?:[^\n:]*::|\s))\s*NAME",
        r"interface": r"(?i:(?:abstract\s+)?interface)[^\S\n]+NAME",
        r"variable_declaration": r"(?i:[^\n:]*\bparameter\b[^\n:]*::)\s*VALUE",
    },
    "fsharp": {
        r"namespace|named_module|module_defn": r"""
            (?:\[<.*?>\]\s*)?(?:namespace|module)\s+
            (?:(?:rec|private|internal|public)\s+)*(?P<name>[\w.]+)
        """,
        r"\w+_type_defn|type_extension": r"(?:(?:private|internal|public)\s+)?NAME",
        r"function_or_value_defn": r"""
            (?:let|and)\s+(?:(?:rec|inline|private|internal|mutable)\s+)*
            (?:NAME(?:<[^>]*>)?(?=\s*\(|\s+[^\s=:]) | VALUE\s*[=:])
        """,
        r"member_defn": r"""
            (?:(?:static|abstract|override|default|member|inline|private|internal)\s+)+
            (?:\w+\.)?NAME
        """,
    },
    "fsharp_signature": {
        r"\w+": r"""
            (?:(?:namespace|module)\s+(?:rec\s+)?
              |(?:type|val)\s+(?:(?:inline|mutable|private|internal)\s+)*)
            (?P<name>[\w.]+)
        """,
    },
    "gleam": {
        r"function": r"(?:pub\s+)?fn\s+NAME",
        r"type_definition|type_alias": r"(?:pub\s+)?(?:opaque\s+)?type\s+NAME",
        r"constant": r"(?:pub\s+)?const\s+VALUE",
    },
    "gn": {
        r"primary_expression": r"\w+\(\"(?P<name>[^\"$]+)\"\)\s*\{",
        r"assignment_statement": r"VALUE\s*=",
    },
    "graphql": {r"fragment_definition": r"fragment\s+NAME"},
    "groovy": {  # its grammar has only commands, units and blocks
        r"(?:end_)?command": r"""
            (?:(?:public|private|protected|static|final|abstract|synchronized)\s+)*
            (?:(?:class|interface|trait|enum|task)\s+
              |(?=[A-Z]\w*\s*\(\s*(?:\)|[\w.<>\[\]]+\s+\w)[^{}]*\{)
              |(?:def|void)\s+(?=['"])
              |(?!(?:return|new|else|throw|case|assert)\b)
               [A-Za-z_][\w.]*(?:<[^>()]*>)?(?:\[\])?\s+
               (?!(?:project|platform|enforcedPlatform|files|fileTree)\b)
               (?=\w+\s*\((?!\s*(?:['"\[]|\w+\s*:|\w+\.[\w.]*\s*\)))[^{}]*\)[^(){}]*\{))
            ['"]?(?P<name>(?<=['"])[^'"\n]+|\w+)
        """,
    },
    "haskell": {
        r"header": r"module\s+(?P<name>[\w.]+)",
        r"data_type|newtype|type_synomym|(?:type|data)_family": r"""
            (?:type|data|newtype)\s+(?:family\s+)?(?:[^\n=]*=>\s*)?(?P<name>[\w']+)
        """,
        r"signature": r"(?P<name>[a-z_][\w']*)\s*::",
        r"bind": r"(?P<value>[a-z_][\w']*)",
    },
    "haxe": {
        r"(?!variable)\w+_declaration|keyword": r"""
            (?:@:?\w+(?:\([^()]*\))?\s+)*
            (?:(?:public|private|static|inline|override|dynamic|extern|abstract|macro|final)\s+)*
            (?:class|interface|enum|typedef|function|abstract)\s+NAME
        """,
        r"variable_declaration": r"""
            (?:public\s+|private\s+)?
            (?:static\s+inline\s+var|inline\s+static\s+var|static\s+final|final)\s+VALUE
        """,
    },
    "jsonnet": {r"bind|field": r"NAME\s*(?:\(|:*=?\s*function\b) | VALUE\s*=(?!=)"},
    "julia": {
        r"(?:module|struct|abstract|primitive|function|macro)_definition": r"""
            (?:(?:baremodule|module|mutable|struct|abstract|primitive|type|function|macro)\s+)+
            (?P<name>[\w.!]+)
        """,
        r"assignment": r"""
            (?P<name>[\w.!]+)(?=(?:\{[^{}]*\})?\((?:[^()]|\([^()]*\))*\)
                               \s*(?:::\s*[\w.{},]+\s*)?(?:where\s[^=]*)?=(?!=))
        """,
    },
    "kconfig": {r"(?:menu)?config|choice": r"(?:(?:menu)?config|choice)[^\S\n]+NAME"},
    "latex": {
        r"\w+_command_definition": r"\\\w+\*?\s*\{?\s*\\(?P<name>[A-Za-z@]+)",
        r"(?:environment|theorem|label)_definition": r"\\\w+\*?\s*\{(?P<name>[^{}\n]+)\}",
    },
    "linkerscript": {
        r"output_section": r"(?P<name>[\w.]+)",
        r"assignment": r"(?:PROVIDE(?:_HIDDEN)?\s*\(\s*)?VALUE\s*=",
    },
    "llvm": {
        r"fn_define": r"define\b[^@]*@\"?(?P<name>[\w.$-]+)",
        r"global_type": r"%\"?(?P<name>[\w.$:-]+)",
        r"global_global": r"@\"?(?P<value>[\w.$-]+)",
    },
    "lua": {r"assignment_statement|field": r"(?P<name>[\w.]+)\s*=\s*function\b"},
    "luau": {
        r"function_declaration": r"(?:local\s+)?function\s+(?P<name>[\w.:]+)",
        r"type_definition": r"(?:export\s+)?type\s+(?:function\s+)?NAME",
    },
    "magik": {
        r"method": r"(?:_\w+\s+)*?_method\s+(?P<name>\w+\.[\w?!]+)",
        r"procedure": r"_proc\s*@\s*(?P<name>[\w?!]+)",
        r"invoke": r"def_slotted_exemplar\s*\(\s*:NAME",
    },
    "make": {
        r"rule": r"(?!\.[A-Z])(?P<name>[\w./-]+)[^:=\n]*:",
        r"define_directive": r"define\s+NAME",
        r"variable_assignment": r"(?P<value>[\w.-]+)",
    },
    "meson": {
        r"operatorunit": r"VALUE\s*=",
        r"normal_command": r"""
            (?:executable|\w*library|shared_module|custom_target|run_target|jar)
            \s*\(\s*'(?P<name>[^'@()\n]+)
        """,
    },
    "nim": {
        r"(?:proc|func|method|iterator|macro|template|converter)_declaration": r"""
            \w+\s+`?(?P<name>[^\s`*(\[{=:]+)
        """,
        r"type_declaration": r"`?NAME",
        r"variable_declaration": r"`?VALUE",
    },
    "ninja": {
        r"rule|pool|build": r"(?:rule|pool|build)\s+(?P<name>[\w./+-]+)",
        r"let": r"VALUE",
    },
    "nix": {
        r"binding": r"""
            (?P<name>[\w.'-]+)\s*=\s*
            (?:[\w'-]+\s*:\s | (?:[\w'-]+\s*@\s*)?\{[^{}=;]*\}\s*(?:@\s*[\w'-]+\s*)?:)
            | (?P<value>[\w.'-]+)\s*=
        """,
    },
    "objc": {r"type_definition": r"typedef\s+\w+\s*\(\s*\w+\s*,\s*NAME\s*\)"},
    "ocaml": {
        r"(?:type|module|class)_binding|(?:module_type|method|exception)_definition"
        r"|value_specification|external": rf"{_OCAML_WORDS} (?P<name>[\w']+)",
        r"let_binding": rf"""
            (?=[\w']+\s+[^\s:=] | [\w']+\s*(?::[^=]*)?=\s*fun(?:ction)?\b)
            {_OCAML_WORDS} (?P<name>[\w']+)
        """,
    },
    "pascal": {
        r"declType|declProc|defProc": r"""
            (?:class\s+)?(?:(?:procedure|function|constructor|destructor|operator)\s+)?
            (?P<name>[\w.]+)
        """,
    },
    "perl": {
        r"package_statement": r"package\s+(?P<name>\w+(?:::\w+)*)",
        r"use_statement": r"use\s+constant\s+(?:\{\s*)?VALUE",
    },
    "prisma": {r"\w+_block": r"(?:model|enum|type|view|datasource|generator)\s+NAME"},
    "puppet": {
        r"\w+_definition|defined_resource_type|(?:function|type)_declaration": r"""
            (?:class|define|function|type|node)\s+['"]?(?:::)?(?P<name>[\w:.-]*\w)
        """,
    },
    "purescript": {
        r"type_alias|data|newtype|class_declaration": r"""
            (?:type|data|newtype|class)\s+(?:[^\n]*<=\s*)?(?P<name>[\w']+)
        """,
        r"function": r"(?P<name>[\w']+)",
        r"purescript": r"module\s+(?P<name>[\w.]+)",
    },
    "python": {r"type_alias_statement": r"type\s+VALUE"},
    "qmljs": {
        r"(?:generator_)?function_declaration": r"(?:async\s+)?function\s*\*?\s*NAME",
        r"ui_signal|ui_inline_component": r"(?:signal|component)\s+NAME",
        r"ui_binding": r"id\s*:\s*NAME",
        r"ui_property": r"(?:(?:default|readonly|required)\s+)*property\s+[\w.<>]+\s+VALUE",
    },
    "r": {
        r"binary_operator": r"""
            (?=[^\s(]+\s*(?:<?<-|=)\s*(?:function\b|\\\(|(?:\w+::)?(?:R6Class|setRefClass)\())
            [`"']?(?P<name>[^\s`"'(),<=]+)
        """,
        r"call": r"""
            set(?:Class|Generic|Method|RefClass|Validity)\(\s*[`"']?(?P<name>[^\s`"'(),<=]+)
        """,
    },
    "re2c": {r"named_definition": r"(?P<name>[\w-]+)\s*="},
    "rego": {r"rule": r"(?:default\s+)?(?P<name>[\w.]+)"},
    "scss": {
        r"(?:mixin|function|keyframes)_statement": r"@[\w-]+\s+(?P<name>[\w-]+)",
        r"rule_set": r"%(?P<name>[\w-]+)",
        r"declaration": r"\$(?P<value>[\w-]+)",
    },
    "smali": {
        r"class_definition": r"\.class\s+(?:[\w-]+\s+)*?L(?:[\w$-]+/)*(?P<name>[\w$-]+);",
        r"method_definition": r"\.method\s+(?:[\w-]+\s+)*?(?P<name>[\w$-]+|<\w+>)\(",
    },
    "smithy": {r"\w+_statement": r"(?!namespace|use|apply)\w+\s+NAME"},
    "sql": {  # what its grammar does not know is an error that contains the word
        r"create_\w+|keyword_create": r"""
            (?i:create\s+
               (?:(?:or|replace|alter|global|local|temp|temporary|unlogged|unique|materialized
                 |recursive|clustered|nonclustered|fulltext|spatial|external|foreign|constraint
                 |event|aggregate|definer\s*=\s*\S+)\s+)*
               (?:table|view|function|procedure|proc|trigger|type|index|sequence|domain|policy
                 |schema|package(?:\s+body)?|macro|synonym)\s+
               (?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(?!on\s))
            (?:\[\w+\]\.)*\[?(?P<name>["`\w$]+(?:\.["`\w$]+)*)
        """,
    },
    "starlark": {
        r"function_definition": r"def\s+NAME",
        r"call": r"[\w.]+\(\s*name\s*=\s*\"(?P<name>[^\"]+)\"",
        r"assignment": r"VALUE\s*=",
    },
    "tablegen": {r"(?:multi)?class|defm?": r"(?:(?:multi)?class|defm?)\s+NAME"},
    "tcl": {
        r"procedure|namespace": rf"(?:proc|namespace\s+eval)\s+{_TCL_NAME}",
        r"command": rf"(?:oo::class\s+create|method)\s+{_TCL_NAME}",
        r"set": r"set\s+(?:::)?(?P<value>\w+(?:::\w+)*)",
    },
    "twig": {r"(?:tag|macro)_statement": r"(?:block|macro)\s+NAME"},
    "typst": {r"let": r"let\s+(?:(?P<name>[\w-]+)\( | (?P<value>[\w-]+))"},
    "udev": {r"assignment": r"LABEL\s*=\s*\"(?P<name>[^\"]+)\""},
    "ungrammar": {r"node": r"NAME\s*="},
    "uxntal": {r"subroutine|macro": r"[@%](?P<name>[^\s(){}]+)"},
    "verilog": {
        r"(?:module|package|interface|program|class|checker)_declaration": r"""
            (?:\(\*.*?\*\)\s*)?(?:virtual\s+|macro)?
            (?:module|package|interface(?:\s+class)?|program|class|checker)\s+
            (?:(?:automatic|static)\s+)?NAME
        """,
        r"(?:function|task)_declaration": r"(?:function|task)\b[^;(]*?NAME\s*[;(]",
        r"type_declaration": r"(?:(?s:.*)[\s}\]])?NAME\s*(?:\[[^\]]*\]\s*)*;\s*$",
        r"(?:local_)?parameter_declaration": r"(?:localparam|parameter)\b[^=;]*?VALUE\s*=",
    },
    "vhdl": {
        r"\w+_(?:declaration|body|definition)": r"""
            (?i:(?:(?:pure|impure)\s+)?
               (?:entity|architecture|package(?:\s+body)?|function|procedure|component|type
                 |subtype|configuration)) \s+ "?NAME
            | (?i:constant|signal)\s+VALUE
        """,
        r"process_statement": r"NAME\s*:",
    },
    "vim": {
        r"function_definition": r"fu\w*!?\s+(?P<name>[\w:\#.]+)",
        r"command_statement": r"com\w*!?\s+(?:-\S+\s+)*NAME",
        r"let_statement": r"let\s+(?P<value>(?:[gswbt]:)?\w+)(?![:\w])",
    },
    "wast": {
        r"module|module_field_(?:func|type)": r"\(\s*\w+\s+\$(?P<name>[\w.$!?<>-]+)",
        r"module_field_(?:global|memory|table)": r"\(\s*\w+\s+\$(?P<value>[\w.$!?<>-]+)",
    },
    "zig": {
        r"Decl": r"""
            (?:(?:inline|export|extern)\s+)*
            (?:fn\s+|(?:const|var)\s+(?=\w+\s*=\s*(?:packed\s+|extern\s+)?
                                     (?:struct|enum|union|opaque|error)\b))
            NAME
        """,
        r"TestDecl": r"test\s+\"?(?P<name>(?<=\")[^\"]+|\w+)",
    },
    "wgsl": {
        r"(?:struct|function|type_alias)_declaration": r"""
            (?:@\w+(?:\([^)]*\))?\s*)*(?:struct|fn|alias|type)\s+NAME
        """,
        r"global_\w+|ERROR": r"""
            (?:@\w+(?:\([^)]*\))?\s*)*(?:var(?:<[^>]*>)?|let|const|override)\s+VALUE
        """,
    },
}
BY_TYPE["ocaml_interface"] = BY_TYPE["ocaml"]
BY_TYPE["wat"] = BY_TYPE["wast"]

_SYMBOL = r"""[^\s()\[\]{}"'`,;@:\#][^\s()\[\]{}"'`,;]*"""
_BINDS = r"""
    (?:def|define|def-|var-|var|local|global|defonce|defvar(?:-local)?|defcustom|defconst(?:ant)?
      |defparameter|defpoll|deflisten)\s+
    (?:\^(?:\{[^}]*\}|[^\s{]\S*)\s+)*
"""
_LISP = rf"""
    \(\s*(?:
       (?:(?:fn|lambda|λ|macro)\s+ (?={_SYMBOL}\s*\[)
         |{_BINDS} (?={_SYMBOL}\s+\(\s*(?:fn|lambda|λ|case-lambda|class\*?)[\s(\[])
         |(?!{_BINDS} {_SYMBOL})
          (?:[\w.-]+/)? (?!default|defined|defer|define-(?:key|values|module|library)\b)
          (?:(?:cl-)?def[^\s()]*|ns|struct|module[*+]?|varfn)\s+
          (?:\^(?:\{{[^}}]*\}}|[^\s{{]\S*)\s+)* (?:\(setf\s+)? [('"\#:]*)
       (?P<name>{_SYMBOL})
      |{_BINDS} (?P<value>{_SYMBOL}))
"""
_LISPS = "clojure commonlisp elisp fennel janet racket scheme yuck"
BY_TYPE |= {language: {r"\w+": _LISP} for language in _LISPS.split()}
