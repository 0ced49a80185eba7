# Definitions that the scripts of this folder share. They source this file (`.`) from the repository's root.
set -eu

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
# Debian's Python, even if another one comes first in PATH.
python=/usr/bin/python3
host=$(rustc -vV | sed -n 's/^host: //p')
machine=${host%%-*} # x86_64, aarch64
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# The packages. Each has one program with the name of the package, except andon-heic, whose program no user starts.
products="andon andon-lab andon-heic"
# The folder of a finished release, in which its tests look for it.
packages=$target/packages
# Builds are reproducible: they do not depend on time, place or user.
export LC_ALL=C TZ=UTC PYTHONDONTWRITEBYTECODE=1
umask 022
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    # The time of the last commit, or in an unpacked archive that of the changelog.
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH

fail() {
    echo "release: $*" >&2
    exit 1
}

# at_epoch FOLDER: sets the times of all files to SOURCE_DATE_EPOCH.
at_epoch() {
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# archive FOLDER NAME >FILE: a tar of FOLDER/NAME, sorted and owned by root.
archive() {
    tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$1" -cf - "$2"
}
