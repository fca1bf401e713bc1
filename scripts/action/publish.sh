# Publishes a release folder: the packages to npm, those of the platforms first, and the files to the release of the tag.
#   publish.sh FOLDER TAG
set -euo pipefail
cd "$1"
version=${2#v}
for package in acor-*-"$version".tgz "acor-$version.tgz"; do
  npm publish --access public --provenance "$package"
done
find . -maxdepth 1 -type f ! -name '*.tgz' -print0 | xargs -0 gh release create "$2" --title "$2" --notes-file NOTES.md
