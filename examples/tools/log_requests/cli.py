"""Reads an access log and hands each request on as a record, while the next tool of the pipe is at work already."""

import argparse
import re

import acor

LINE = re.compile(r'\S+ \S+ \S+ \[(?P<at>[^]]+)] "(?P<method>\S+) (?P<path>\S+)[^"]*" (?P<status>\d{3}) (?P<bytes>\d+|-)')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", default="/dev/null")
    parser.add_argument("--selftest", action="store_true")
    given = parser.parse_args()
    requests = malformed = 0
    with open(given.log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = LINE.match(line)
            if not found:
                malformed += 1
                continue
            requests += 1
            acor.emit_record({**found.groupdict(), "status": int(found["status"])})
    acor.emit_result(data={"requests": requests, "malformed": malformed})


main()
