"""What goes wrong with databases, servers and registries."""

from contextd.faults.kinds.kind import Kind

SERVICES: tuple[Kind, ...] = (
    Kind(
        "deadlock",
        types="DeadlockLoserDataAccessException DeadlockDetected 40P01 ER_LOCK_DEADLOCK",
        phrases=r"deadlock|all goroutines are asleep",
    ),
    Kind(
        "lock not obtained",
        types="LockTimeout LockNotAvailable 55P03 ER_LOCK_WAIT_TIMEOUT CannotAcquireLockException",
        phrases=(
            r"database is locked|could not obtain lock|lock wait timeout|could not get lock"
            r"|unable to lock"
        ),
    ),
    Kind(
        "unique violation",
        types=(
            "UniqueViolation DuplicateKeyException UniqueConstraintViolationException 23505"
            " ER_DUP_ENTRY ORA-00001 E11000 DuplicateKeyError RecordNotUnique P2002"
            " NonUniqueObjectException"
        ),
        phrases=r"unique constraint|duplicate key|duplicate entry|violation of unique",
    ),
    Kind(
        "constraint violation",
        types=(
            "IntegrityError ConstraintViolationException DataIntegrityViolationException"
            " ForeignKeyViolation NotNullViolation CheckViolation 23000 23502 23503 23514"
        ),
        phrases=r"(?:foreign key|not[- ]null|check) constraint|column .{1,80} cannot be null",
    ),
    Kind(
        "table or column missing",
        types=(
            "UndefinedTable UndefinedColumn 42P01 42703 ORA-00942 ORA-00904 ER_NO_SUCH_TABLE"
            " ER_BAD_FIELD_ERROR"
        ),
        phrases=(
            r"(?:relation|table|column) .{1,100} (?:does not|doesn't) exist"
            r"|no such (?:table|column)|unknown column|invalid (?:object|column) name"
            r"|table or view does not exist"
        ),
    ),
    Kind(
        "sql syntax",
        types="SQLSyntaxErrorException 42601 ER_PARSE_ERROR BadSqlGrammarException",
        phrases=r"syntax error at or near|incorrect syntax near|sql syntax",
    ),
    Kind(
        "not authenticated",
        types=(
            "AuthenticationError AuthenticationException AuthenticationFailed InvalidCredentials"
            " Unauthorized BadCredentialsException 28P01 28000"
        ),
        phrases=(
            r"(?:authentication|login) failed|\bunauthorized\b|http 401|401 client"
            r"|access denied for user|invalid credentials|could not read username|bad credentials"
        ),
    ),
    Kind(
        "forbidden",
        types="Forbidden ForbiddenException PermissionDenied",
        phrases=r"http 403|403 client|\bforbidden\b",
    ),
    Kind(
        "rate limited",
        types="RateLimitError TooManyRequests RateLimitExceeded ThrottlingException",
        phrases=r"too many requests|rate limit|http 429|throttl",
    ),
    Kind(
        "image not pulled",
        types="ImagePullBackOff ErrImagePull InvalidImageName",
        phrases=r"pull access denied|manifest (?:unknown|for .* not found)|failed to pull image",
    ),
    Kind(
        "not found",
        types="NotFound ObjectDoesNotExist DoesNotExist RecordNotFound EntityNotFoundException",
        phrases=r"http 404|404 client|404 not found",
    ),
    Kind(
        "server error",
        types="InternalServerError BadGateway ServiceUnavailable",
        phrases=r"http 50[0-3]\b|bad gateway|service unavailable|internal server error",
    ),
    Kind(
        "dependency conflict",
        types="ERESOLVE ResolutionImpossible VersionConflict NU1102 NU1605 NU1107 YN0002 YN0060",
        phrases=(
            r"could not resolve dependenc|unable to resolve dependency|dependency conflict"
            r"|no matching version|could not find a version|conflicting dependencies"
            r"|failed to select a version|no solution found"
        ),
    ),
    Kind(
        "merge conflict",
        types="CONFLICT",
        phrases=r"merge conflict",
    ),
)
