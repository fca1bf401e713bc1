"""Customer records: version 1 in, version 2 out."""

import datetime
import re

REQUIRED = ("id", "name", "email", "address", "created", "newsletter")
ADDRESS = re.compile(r"(?P<street>.+), (?P<postcode>\S+) (?P<city>.+), (?P<country>[A-Z]{2})")


class BadRecord(Exception):
    """A record that is not what version 1 promises; the text says why."""


def to_v2(record):
    """The same customer as a version 2 record."""
    if not isinstance(record, dict):
        raise BadRecord("it is not an object")
    if record.get("version") != "1.0":
        raise BadRecord("its version is %r, not '1.0'" % (record.get("version"),))
    for field in REQUIRED:
        if not isinstance(record.get(field), str):
            raise BadRecord("it has no text in %r" % field)
    given, _, family = record["name"].partition(" ")
    return {
        "id": record["id"],
        "version": "2.0",
        "name": {"given": given, "family": family},
        "contact": {"email": record["email"], "phone": record.get("phone")},
        "address": _address(record["address"]),
        "created_on": _iso_date(record["created"]),
        "newsletter": record["newsletter"] == "yes",
    }


def _address(text):
    match = ADDRESS.fullmatch(text)
    if not match:
        raise BadRecord("its address %r does not read 'street, postcode city, country'" % text)
    return match.groupdict()


def _iso_date(text):
    try:
        return datetime.datetime.strptime(text, "%d.%m.%Y").date().isoformat()
    except ValueError:
        raise BadRecord("its date %r does not read day.month.year" % text) from None
