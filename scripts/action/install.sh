# Installs ACOR for a job. ACOR_ACTION_VERSION is a version of the npm package, or `installed`.
set -euo pipefail
if [ "$ACOR_ACTION_VERSION" != installed ]; then
  npm install --global --no-audit --no-fund "acor@$ACOR_ACTION_VERSION"
fi
acor version
