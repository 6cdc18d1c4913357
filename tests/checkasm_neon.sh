#!/bin/sh
# Builds the kernels and checkasm for 64-bit ARM and runs them in an emulator, as proof on machines
# that are no ARM. Skipped (77) without cross compiler or emulator.
set -eu
srcdir=${srcdir:-.}
cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null || { echo "skipped: no $cc"; exit 77; }
command -v qemu-aarch64 >/dev/null || { echo "skipped: no qemu-aarch64"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo '#define TG_BUILD_NEON 1' >"$dir/config.h"
$cc -std=gnu11 -O2 -Wall -Wextra -Werror -static -I"$dir" -I"$srcdir/include" -I"$srcdir/src/dsp" \
	"$srcdir/tests/checkasm.c" "$srcdir/src/dsp/cpu.c" "$srcdir/src/dsp/scale_c.c" \
	"$srcdir/src/dsp/scale_init.c" "$srcdir/src/dsp/scale_neon.c" -o "$dir/checkasm"
qemu-aarch64 "$dir/checkasm" --tier neon "$@"
