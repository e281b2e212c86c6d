"""How dates and times are written where no format is given, as in the admin."""

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i e"
TIME_FORMAT = "H:i"
