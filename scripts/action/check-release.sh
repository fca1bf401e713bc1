# Checks a release folder before it is published: the tag is the version, every file has its checksum, and the program works.
#   check-release.sh FOLDER TAG
set -euo pipefail
cd "$1"
program=./acor-linux-x64
version=$("$program" version | sed -n 's/.*"version":"\([^"]*\)".*/\1/p')
if [ "v$version" != "$2" ]; then
  echo "::error::the tag $2 is not the version $version" >&2
  exit 1
fi
sha256sum --check --quiet SHA256SUMS
"$program" self-test
