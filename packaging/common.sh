# What the scripts of this folder share; they run it with `.` from the repository's root.
set -eu

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
# Debian's own, whatever else is first in PATH.
python=/usr/bin/python3
host=$(rustc -vV | sed -n 's/^host: //p')
machine=${host%%-*} # x86_64, aarch64
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# The packages, each with one program: of that name, but for andon-heic, whose program no user starts.
products="andon andon-lab andon-heic"
# Where a release goes, and where its tests look for it.
packages=$target/packages
# The same bytes whenever, wherever and by whomever it is built.
export LC_ALL=C TZ=UTC PYTHONDONTWRITEBYTECODE=1
umask 022
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    # That of the last commit; of the changelog in an unpacked archive.
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH

fail() {
    echo "release: $*" >&2
    exit 1
}

# at_epoch FOLDER: nothing in it bears the time of this build.
at_epoch() {
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# archive FOLDER NAME >FILE: a tar of FOLDER/NAME, sorted and owned by root.
archive() {
    tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$1" -cf - "$2"
}
