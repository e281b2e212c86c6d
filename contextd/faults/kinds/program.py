"""What goes wrong in a program itself."""

from contextd.faults.kinds.kind import Kind

PROGRAM: tuple[Kind, ...] = (
    Kind(
        "null reference",
        types=(
            "NullPointerException NullReferenceException KotlinNullPointerException TS2531 TS2532"
            " TS18047 TS18048"
        ),
        phrases=(
            r"'nonetype' object|propert(?:y|ies) .{0,80}of (?:undefined|null)\b"
            r"|as it is (?:undefined|null)|nil pointer dereference"
            r"|undefined method .{1,80} for nil\b|\) on null\b|null object reference"
            r"|object reference not set|on a `none` value|null pointer"
            r"|(?:undefined|null) is not an object|is possibly '(?:null|undefined)'"
        ),
    ),
    Kind(
        "stack overflow",
        types="StackOverflowError StackOverflowException RecursionError SystemStackError",
        phrases=(
            r"maximum call stack|stack level too deep|maximum recursion depth|stack overflow"
            r"|goroutine stack exceeds"
        ),
    ),
    Kind(
        "module not found",
        types=(
            "ImportError ModuleNotFoundError ClassNotFoundException NoClassDefFoundError"
            " LoadError MODULE_NOT_FOUND ERR_MODULE_NOT_FOUND ERR_PACKAGE_PATH_NOT_EXPORTED"
            " TS2307 TS7016 E0432 E0433 CS0246 CS0234 TypeLoadException"
        ),
        phrases=(
            r"no module named|unable to find package|cannot find (?:module|package)"
            r"|module not found|can't resolve '"
            r"|could not load file or assembly|package \S+ does not exist"
            r"|no required module provides|cannot load such file|could not find or load main class"
        ),
    ),
    Kind(
        "linking failed",
        types="LNK2019 LNK2001 LNK1120 UnsatisfiedLinkError ld",
        phrases=(
            r"undefined reference|unresolved external|undefined symbol|cannot find -l"
            r"|library not found for"
        ),
    ),
    Kind(
        "encoding",
        types=(
            "UnicodeDecodeError UnicodeEncodeError MalformedInputException"
            " UndefinedConversionError InvalidByteSequenceError UnmappableCharacterException"
            " DecoderFallbackException"
        ),
        phrases=r"codec can't|invalid (?:utf-?8|byte sequence)|incompatible character encodings",
    ),
    Kind(
        "malformed data",
        types=(
            "JSONDecodeError JsonParseException JsonSyntaxException JsonMappingException"
            " JsonException MalformedJsonException YAMLException ScannerError ParserError"
            " JsonReaderException"
        ),
        phrases=(
            r"\b(?:in|of|as|parsing) json|looking for beginning of value|is not valid json"
            r"|json at position"
        ),
    ),
    Kind(
        "syntax",
        types="SyntaxError IndentationError TabError ParseError CS1002 CS1003 TS1005 TS1109 E1001",
        phrases=(
            r"syntax error|unexpected (?:token|identifier|end of file|eof|indent)|parse error"
            r"|';' expected|unterminated string"
        ),
    ),
    Kind(
        "arithmetic",
        types=(
            "ZeroDivisionError ArithmeticException DivideByZeroException DivisionByZeroError 22012"
        ),
        phrases=r"divi(?:sion|de|ded) by zero|/ by zero",
    ),
    Kind(
        "number overflow",
        types="OverflowError OverflowException 22003",
        phrases=r"integer overflow|with overflow|out of range for type|too large to convert",
    ),
    Kind(
        "index or key",
        types=(
            "IndexError KeyError ArrayIndexOutOfBoundsException IndexOutOfBoundsException"
            " NoSuchElementException StringIndexOutOfBoundsException IndexOutOfRangeException"
            " KeyNotFoundException ArgumentOutOfRangeException out_of_range"
        ),
        phrases=(
            r"(?:index|subscript|bounds|offset) out of (?:range|bounds)|out of bounds"
            r"|undefined (?:array key|index|offset)|key not found|index \d+ out of"
        ),
    ),
    Kind(
        "no such member",
        types=(
            "AttributeError NoSuchMethodError NoSuchMethodException NoMethodError"
            " NoSuchFieldError NoSuchFieldException MissingMethodException MissingMemberException"
            " TS2339 TS2551 E0599 CS1061"
        ),
        phrases=(
            r"has no attribute|is not a function|undefined method|has no member"
            r"|call to undefined (?:method|function)|does not contain a definition for"
            r"|no method named"
        ),
    ),
    Kind(
        "name not defined",
        types=(
            "NameError ReferenceError UnboundLocalError CS0103 TS2304 E0425 F821 C2065"
            " UndefVarError"
        ),
        phrases=(
            r"is not defined\b|undeclared|cannot find symbol|cannot find (?:name|value)"
            r"|undefined variable|undefined local variable|unbound variable|undefined: \w"
            r"|was not declared in this scope"
        ),
    ),
    Kind(
        "type mismatch",
        types=(
            "TypeError ClassCastException InvalidCastException ClassCastError TS2322 TS2345 E0308"
            " CS0029 CS1503 bad_cast"
        ),
        phrases=(
            r"incompatible types|mismatched types|cannot be cast|type mismatch|cannot convert"
            r"|is not assignable to|interface conversion"
        ),
    ),
    Kind(
        "invalid value",
        types=(
            "ValueError IllegalArgumentException ArgumentException ArgumentError"
            " NumberFormatException FormatException InvalidArgumentException invalid_argument"
            " EINVAL ArgumentNullException"
        ),
        phrases=r"invalid (?:value|literal|argument)\b|not a valid",
    ),
    Kind(
        "assertion",
        types=(
            "AssertionError AssertionFailedError ComparisonFailure AssertFailedException"
            " AssertionFailedException ERR_ASSERTION Assertion MultipleFailuresError"
            " ExpectationNotMetError AssertionViolation"
        ),
        phrases=r"assertion .*fail|assertion failed|expected:? ?<.*> but was",
    ),
    Kind(
        "memory access",
        types=(
            "SIGSEGV SIGBUS SEGV AccessViolationException heap-use-after-free"
            " heap-buffer-overflow stack-buffer-overflow global-buffer-overflow"
            " stack-use-after-return double-free"
        ),
        phrases=(
            r"segmentation fault|access violation|use[- ]after[- ]free|buffer[- ]overflow"
            r"|double free|exit code:? 139\b|invalid (?:read|write) of size"
        ),
    ),
    Kind(
        "concurrent change",
        types="ConcurrentModificationException InvalidCollectionModification 40001",
        phrases=(
            r"changed size during iteration|concurrent map|data race|collection was modified"
            r"|could not serialize access"
        ),
    ),
    Kind(
        "borrow",
        types="E0382 E0499 E0502 E0505 E0506 E0507 E0597 E0716",
        phrases=r"borrow of moved value|cannot borrow",
    ),
    Kind(
        "not supported",
        types=(
            "NotImplementedError NotImplementedException UnsupportedOperationException"
            " NotSupportedException ENOSYS ENOTSUP EOPNOTSUPP"
        ),
        phrases=r"not (?:yet )?implemented|not supported\b|unsupported operation",
    ),
    Kind(
        "illegal state",
        types=(
            "IllegalStateException InvalidOperationException InvalidStateError"
            " IllegalMonitorStateException"
        ),
        phrases=r"illegal state",
    ),
)
